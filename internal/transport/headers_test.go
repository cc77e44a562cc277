package transport

import (
	"encoding/base64"
	"strings"
	"testing"
)

var encodedHeaders = map[string]string{
	"us-west1":              "us-west1",
	"":                      "",
	"two words":             "two words",
	"zoek/café":             "=?base64?em9lay9jYWbDqQ==?=",
	"Hello, 世界":             "=?base64?SGVsbG8sIOS4lueVjA==?=",
	" padded ":              "=?base64?IHBhZGRlZCA=?=",
	" ":                     "=?base64?IA==?=",
	"lead\t":                "=?base64?bGVhZAk=?=",
	"a\tb":                  "=?base64?YQli?=",
	"line1\nline2":          "=?base64?bGluZTEKbGluZTI=?=",
	"a\r\nX-Evil: 1":        "=?base64?YQ0KWC1FdmlsOiAx?=",
	"\x00":                  "=?base64?AA==?=",
	"\x7f":                  "=?base64?fw==?=",
	"\xff":                  "=?base64?/w==?=",
	"=?base64?literal?=":    "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
	"=?base64?x?=":          "=?base64?PT9iYXNlNjQ/eD89?=",
	"=?base64?=":            "=?base64?PT9iYXNlNjQ/PQ==?=",
	"=?base64?open":         "=?base64?open",
	"=?BASE64?x?=":          "=?BASE64?x?=",
	"x=?base64?x?=":         "x=?base64?x?=",
	"~!\"#$%&'()*+,-./:;<=": "~!\"#$%&'()*+,-./:;<=",
	"true":                  "true",
	"-9007199254740991":     "-9007199254740991",
}

func TestEncodeHeaderValue(t *testing.T) {
	t.Parallel()
	for value, want := range encodedHeaders {
		if got := EncodeHeaderValue(value); got != want {
			t.Errorf("EncodeHeaderValue(%q) = %q, want %q", value, got, want)
		}
	}
}

func FuzzEncodeHeaderValue(f *testing.F) {
	for value, encoded := range encodedHeaders {
		f.Add(value)
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := EncodeHeaderValue(s)
		if strings.ContainsFunc(e, func(r rune) bool { return r < ' ' || r > '~' }) || strings.Trim(e, " ") != e {
			t.Fatalf("%q becomes %q, which a header cannot carry", s, e)
		}
		if back := decodeHeaderValue(t, e); back != s {
			t.Fatalf("%q comes back as %q", s, back)
		}
	})
}

// decodeHeaderValue is the server's side of the encoding.
func decodeHeaderValue(t *testing.T, e string) string {
	t.Helper()
	if !strings.HasPrefix(e, sentinelStart) || !strings.HasSuffix(e, sentinelEnd) {
		return e
	}
	b, err := base64.StdEncoding.DecodeString(e[len(sentinelStart) : len(e)-len(sentinelEnd)])
	if err != nil {
		t.Fatalf("%q is no base64: %v", e, err)
	}
	return string(b)
}
