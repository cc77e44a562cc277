package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// FuzzConfig: what loads holds no secret value and no template, and what does not load is refused by a name of the
// families that belong to a file.
func FuzzConfig(f *testing.F) {
	for _, v := range readVectors(f) {
		if len(v.Data) < 1<<16 {
			f.Add(v.Data)
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
			if strings.Contains(s, "${") || issued.MatchString(s) || credentials.MatchString(s) {
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

// FuzzImport: what is imported loads.
func FuzzImport(f *testing.F) {
	paths, err := filepath.Glob("testdata/foreign/*")
	if err != nil || len(paths) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, v := range readVectors(f) {
		f.Add(v.Data) // our own files too, which import refuses
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := Import(data, "other.json")
		if err != nil {
			if _, ok := refusal.As(err); !ok || im != nil {
				t.Fatalf("got %v, %v", im, err)
			}
			return
		}
		if _, err := Parse(im.Config, "config.json"); err != nil {
			t.Fatalf("%v\n%s", err, im.Config)
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
