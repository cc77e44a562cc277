package authority

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
)

// vectorCount is pinned, so that a vector that is not found is a failure.
const vectorCount = 192

// vector is one file of testdata/vectors: a header, a blank line, the raw bytes.
type vector struct {
	name   string
	header map[string]string
	data   []byte
}

func vectors(t testing.TB) []vector {
	t.Helper()
	paths, err := filepath.Glob("testdata/vectors/authority/*")
	if err != nil || len(paths) != vectorCount {
		t.Fatalf("%d vectors, want %d (%v)", len(paths), vectorCount, err)
	}
	var all []vector
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
			doc, err := Parse(v.data)
			if v.header["expect"] == "accept" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			r, ok := refusal.As(err)
			switch {
			case !ok || doc != nil:
				t.Fatalf("got %v, %v; want %s", doc, err, v.header["refusal"])
			case r.Name() != v.header["refusal"]:
				t.Fatalf("got %v, want %s", r, v.header["refusal"])
			}
			if want, ok := v.header["pointer"]; ok && r.Detail("pointer") != want {
				t.Fatalf("got pointer %q (%v), want %q", r.Detail("pointer"), r, want)
			}
			if r.Name() == "authority.syntax" && r.Detail("line") == nil {
				t.Fatalf("no line: %v", r)
			}
			if strings.Contains(r.Error(), "(unknown)") {
				t.Fatalf("a detail is missing: %v", r)
			}
		})
	}
}

func TestSyntaxSaysWhere(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte("{\n  \"mcpc\": \"authority/1\",\n}"))
	r := refusal.From(err)
	if r.Name() != "authority.syntax" || r.Detail("line") != int64(2) || r.Detail("column") != int64(24) {
		t.Fatalf("got %v", r)
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	pad := func(size int) []byte {
		text := documentText(`"t":{"allow":[],"arguments":true}`)
		return append(text, bytes.Repeat([]byte(" "), size-len(text))...)
	}
	if _, err := Parse(pad(maxDocument)); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	if _, err := Parse(pad(maxDocument + 1)); !refusal.Is(err, refusal.LimitConfig) {
		t.Errorf("over the bound: %v", err)
	}
}

// Whatever the bytes, a document that is accepted grants nothing of an empty snapshot, and one that is refused is
// refused by name.
func FuzzAuthorityFile(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse(data)
		if err != nil {
			r, ok := refusal.As(err)
			if !ok || doc != nil || !(strings.HasPrefix(r.Name(), "authority.") || r.Name() == "limit.config") {
				t.Fatalf("refused as %v with document %v", err, doc)
			}
			return
		}
		empty := &snapshot.Snapshot{ID: doc.Snapshot, Server: doc.Server}
		for _, name := range append(doc.names(), "another") {
			for _, action := range []string{Publish, Invoke} {
				req := Request{Server: doc.Server, Tool: name, Action: action, Arguments: []byte(`{}`)}
				if Decide(doc, empty, req, time.Time{}, nil) == nil {
					t.Fatalf("%q may %s of an empty snapshot", name, action)
				}
			}
		}
	})
}
