package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpc/internal/refusal"
)

// vectorCount is pinned, so that a vector that is not found is a failure.
const vectorCount = 146

// vector is one file of testdata/vectors: a header, a blank line, the raw bytes.
type vector struct {
	name   string
	header map[string]string
	data   []byte
}

func vectors(t testing.TB) []vector {
	t.Helper()
	paths, err := filepath.Glob("testdata/vectors/config/*")
	if err != nil || len(paths) != vectorCount {
		t.Fatalf("%d vectors, want %d (%v)", len(paths), vectorCount, err)
	}
	all := make([]vector, 0, len(paths))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, data, ok := bytes.Cut(raw, []byte("\n\n"))
		if !ok {
			t.Fatalf("%s has no header", path)
		}
		v := vector{filepath.Base(path), map[string]string{}, data}
		for line := range strings.Lines(string(head)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "expect", "refusal", "pointer", "comment", "source":
				v.header[key] = value
			default:
				t.Fatalf("%s: unknown header %q", path, key)
			}
		}
		all = append(all, v)
	}
	return all
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			c, err := Parse(v.data, "/etc/mcpc/config.json")
			if v.header["expect"] == "accept" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			r, ok := refusal.As(err)
			switch {
			case !ok || c != nil:
				t.Fatalf("got %v, %v; want %s", c, err, v.header["refusal"])
			case r.Name() != v.header["refusal"]:
				t.Fatalf("got %v, want %s", r, v.header["refusal"])
			}
			if want, ok := v.header["pointer"]; ok && r.Detail("pointer") != want {
				t.Fatalf("got pointer %q, want %q", r.Detail("pointer"), want)
			}
			if strings.Contains(r.Error()+r.HintText(), "(unknown)") {
				t.Fatalf("a detail is missing: %v", r)
			}
		})
	}
}
