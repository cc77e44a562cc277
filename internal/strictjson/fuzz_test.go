package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// FuzzCanonical: what is strict is JSON to any parser, walks as slices of itself, and has one canonical form.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `""`, `0`, `-0`, `1.0`, `1E400`, `9007199254740993`, `null`, `true`, ` { "b" : 1 , "a" : [ 2 ] } `,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"\u00e9":1,"z":2,"\ud83d\ude00":3,"\uffff":4}`, `"\ud800"`, `"\/\b\f\n\r\t"`,
		"\"\u2028\x7f\"", "\"\xff\"", "\xEF\xBB\xBF{}", "\xFF\xFE{\x00}\x00", `{} {}`, `{"a":1,}`, `01`, `1.`, `NaN`, `[[[[[[[[]]]]]]]]`,
		`{"a":{"b":{"a":1}}}`, `"\u0000"`, "\"a\nb\"", `{"":""}`, `{"a":`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := Validate(data, MaxDepth); err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Fault == "" || e.Offset < 0 || e.Offset > int64(len(data)) {
				t.Fatalf("%q is refused with %#v", data, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		once := canonical(t, data)
		if Validate(once, MaxDepth) != nil || !bytes.Equal(canonical(t, once), once) || bytes.Contains(once, []byte("\n")) {
			t.Fatalf("the canonical form of %q is %q", data, once)
		}
		for _, values := range walk(data) {
			if Validate(values, MaxDepth) != nil || !bytes.Contains(data, values) {
				t.Fatalf("%q holds %q", data, values)
			}
		}
	})
}

func canonical(t *testing.T, data []byte) []byte {
	t.Helper()
	out, err := Canonical(data)
	if err != nil {
		t.Fatalf("%q has no canonical form: %v", data, err)
	}
	return out
}

func walk(data []byte) (values [][]byte) {
	for name, value := range Members(data) {
		values = append(values, value)
		if again, ok := Member(data, name); !ok || !bytes.Equal(again, value) {
			return [][]byte{nil} // found twice, or not at all
		}
	}
	for _, value := range Elements(data) {
		values = append(values, value)
	}
	return values
}
