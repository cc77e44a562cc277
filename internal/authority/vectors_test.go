package authority

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/vectors"
)

func readVectors(t testing.TB) []vectors.Vector {
	t.Helper()
	return vectors.Read(t, "authority", 192, "refusal", "pointer", "source")
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			doc, err := Parse(v.Data)
			if v.Header["expect"] == "accept" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			r, ok := refusal.As(err)
			switch {
			case !ok || doc != nil:
				t.Fatalf("got %v, %v; want %s", doc, err, v.Header["refusal"])
			case r.Name() != v.Header["refusal"]:
				t.Fatalf("got %v, want %s", r, v.Header["refusal"])
			}
			if want, ok := v.Header["pointer"]; ok && r.Detail("pointer") != want {
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
	for _, v := range readVectors(f) {
		f.Add(v.Data)
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
