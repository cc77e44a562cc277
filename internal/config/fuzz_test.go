package config

import (
	"strings"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// FuzzConfig: what loads holds no secret value and no template, and what does not load is refused by a name of the
// families that belong to a file.
func FuzzConfig(f *testing.F) {
	for _, v := range vectors(f) {
		if len(v.data) < 1<<16 {
			f.Add(v.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data, "config.json")
		if err != nil {
			r, ok := refusal.As(err)
			if family, _, _ := strings.Cut(r.Name(), "."); c != nil || !ok || family != "config" && family != "limit" {
				t.Fatalf("got %v, %v", c, err)
			}
			return
		}
		everyString(data, func(s string) {
			if strings.Contains(s, "${") || issued.MatchString(s) {
				t.Fatalf("loaded with %q", s)
			}
		})
		for _, s := range c.Servers {
			if (s.Stdio == nil) == (s.HTTP == nil) || s.Stdio != nil && len(s.Stdio.Command) == 0 {
				t.Fatalf("loaded with %+v", s)
			}
			for _, h := range headersOf(s) {
				if h.Source.Env == "" && h.Source.File == "" && h.Source.Keyring == nil && len(h.Source.Command) == 0 {
					t.Fatalf("a header without a source: %+v", h)
				}
			}
		}
	})
}

func headersOf(s *Server) []Header {
	if s.HTTP == nil {
		return nil
	}
	return s.HTTP.Headers
}

// everyString gives each string of a value, but no member names.
func everyString(data []byte, f func(string)) {
	if s, ok := strictjson.Text(data); ok {
		f(s)
	}
	for _, v := range strictjson.Members(data) {
		everyString(v, f)
	}
	for _, v := range strictjson.Elements(data) {
		everyString(v, f)
	}
}
