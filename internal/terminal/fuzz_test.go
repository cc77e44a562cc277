package terminal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzEscape: nothing hidden is left, what shows itself stays as it is, and JSON stands for the same value.
func FuzzEscape(f *testing.F) {
	for _, text := range []string{
		"", "plain", "café 数据 🌦", `back\slash`, "a\x1b[2J", "a\x1b]8;;http://x\x07y", "\x9b31m", "\u009b31m", "a\u200bb", "a\u202eb",
		"\U000e0041", "x\ufe0f", "e\u0301", "one\ntwo", "one\r\ntwo", "tab\tstop", "\u2028", "\u2029", "\xff", "\xed\xa0\x80", "\ue000",
		"\u00a0", "\u3000", "\u034f", "\u115f", "\uffa0", "\ufffd", "\x7f", "\x00", `{"a":"b\u001b"}`, `[1,"\\",true]`, "{\"\u202e\":\r1}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, several := Escape(text), EscapeLines(text)
		if strings.ContainsFunc(one, Hidden) || strings.ContainsFunc(strings.ReplaceAll(several, "\n", ""), Hidden) {
			t.Fatalf("%q becomes %q and %q", text, one, several)
		}
		if Escape(one) != one || !strings.ContainsFunc(text, Hidden) && !strings.Contains(text, "\ufffd") &&
			strings.ToValidUTF8(text, "") == text && one != text {
			t.Fatalf("%q becomes %q", text, one)
		}
		escapesJSON(t, []byte(text))
	})
}

func escapesJSON(t *testing.T, text []byte) {
	var before, after any
	if json.Unmarshal(text, &before) != nil {
		return
	}
	out := EscapeJSON(text)
	if bytes.ContainsFunc(bytes.Map(withoutSpace, out), Hidden) {
		t.Fatalf("%q becomes %q", text, out)
	}
	if err := json.Unmarshal(out, &after); err != nil || !reflect.DeepEqual(before, after) {
		t.Fatalf("%q becomes %q, which is %v (%v)", text, out, after, err)
	}
}

// withoutSpace takes the white space of JSON away, which may stand between tokens.
func withoutSpace(r rune) rune {
	if r == '\n' || r == '\t' {
		return -1
	}
	return r
}
