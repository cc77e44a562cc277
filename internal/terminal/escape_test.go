package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// invisible is every category whose code points a terminal may act on instead of showing.
var invisible = []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs}

func TestEscapeLeavesNoInvisibleCodePoint(t *testing.T) {
	t.Parallel()
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsOneOf(invisible, r) || !utf8.ValidRune(r) {
			continue
		}
		n++
		s := "a" + string(r) + "b"
		for _, got := range []string{Escape(s), EscapeLines(s)} {
			if got == "a\nb" && r == '\n' {
				continue
			}
			if strings.ContainsRune(got, r) {
				t.Fatalf("U+%04X reaches the terminal: %q", r, got)
			}
		}
		quoted, _ := json.Marshal(s)
		if !utf8.ValidString(s) {
			continue
		}
		got := EscapeJSON(quoted)
		if bytes.ContainsRune(got, r) {
			t.Fatalf("U+%04X reaches the terminal in JSON: %q", r, got)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != s {
			t.Fatalf("U+%04X: %q no longer stands for %q (%v)", r, got, s, err)
		}
	}
	if n < 137_000 {
		t.Fatalf("looked at %d code points only", n)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":              "plain",
		"caf\u00e9 数据":       "caf\u00e9 数据",
		`back\slash`:         `back\slash`,
		"a\x1b[2J":           `a\u{1b}[2J`,
		"a\u200bb":           `a\u{200b}b`,
		"a\u202eb":           `a\u{202e}b`,
		"\U000e0041":         `\u{e0041}`,
		"x\ufe0f":            `x\u{fe0f}`,
		"a\u00a0b":           `a\u{a0}b`,
		"one\ntwo\tx\r":      `one\ntwo\tx\r`,
		"\xff":               `\xff`,
		"\x9b31m":            `\x9b31m`,
		"\u009b31m":          `\u{9b}31m`,
		"\u3164":             `\u{3164}`,
		"\u115f":             `\u{115f}`,
		"e\u0301 stays as é": "e\u0301 stays as é",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := EscapeLines("a\n\tb\r\n"); got != "a\n b\\r\n" {
		t.Errorf("EscapeLines: %q", got)
	}
}

func TestEscapeJSONKeepsTokens(t *testing.T) {
	t.Parallel()
	in := "{\"a\\u001b\":\"\u009b\\\"\u202e\",\r\n \"n\": 1.10}"
	want := "{\"a\\u001b\":\"\\u009b\\\"\\u202e\", \n \"n\": 1.10}"
	if got := string(EscapeJSON([]byte(in))); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := string(EscapeJSON([]byte("\"\xff\""))); got != `"\ufffd"` {
		t.Errorf("invalid UTF-8: %q", got)
	}
}
