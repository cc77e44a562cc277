package snapshot

import (
	"bytes"
	"strings"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/vectors"
)

func snapshotVectors(t testing.TB) []vectors.Vector {
	t.Helper()
	return expecting(t, vectors.Read(t, "snapshot", 37, "refusal", "pointer", "source"))
}

func listPageVectors(t testing.TB) []vectors.Vector {
	t.Helper()
	return expecting(t, vectors.Read(t, "listpage", 31, "refusal", "rejected", "source"))
}

// expecting returns the vectors, each of which must say what it expects: one that does not would be taken for a
// refusal.
func expecting(t testing.TB, all []vectors.Vector) []vectors.Vector {
	t.Helper()
	for _, v := range all {
		if e := v.Header["expect"]; e != "accept" && e != "refuse" {
			t.Fatalf("%s: expect: %q", v.Name, e)
		}
	}
	return all
}

func check(t *testing.T, v vectors.Vector, err error) {
	t.Helper()
	if v.Header["expect"] == "accept" {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	r, ok := refusal.As(err)
	if !ok || r.Name() != v.Header["refusal"] {
		t.Fatalf("got %v, want %s", err, v.Header["refusal"])
	}
	if pointer, _ := r.Detail("pointer").(string); pointer != v.Header["pointer"] {
		t.Fatalf("at %q, want %q", pointer, v.Header["pointer"])
	}
}

func TestSnapshotVectors(t *testing.T) {
	t.Parallel()
	for _, v := range snapshotVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			s, err := Parse(v.Data, config.DefaultLimits())
			if check(t, v, err); err == nil && !bytes.Equal(s.Encode(), v.Data) {
				t.Fatal("other bytes")
			}
		})
	}
}

func TestListPageVectors(t *testing.T) {
	t.Parallel()
	for _, v := range listPageVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			s, err := takePage(t, v.Data, overHTTP)
			if check(t, v, err); err != nil {
				return
			}
			var reasons []string
			for _, r := range s.Rejected {
				reasons = append(reasons, r.Reason)
			}
			if got := strings.Join(reasons, " "); got != v.Header["rejected"] {
				t.Fatalf("rejected %q, want %q", got, v.Header["rejected"])
			}
		})
	}
}

// takePage takes a snapshot of a list whose every page is the given one, as a session hands it over.
func takePage(t testing.TB, result []byte, server Identity) (*Snapshot, error) {
	return Take(t.Context(), &fakeList{next: func(*string) (string, error) { return string(result), nil }}, contextOf(server))
}

func FuzzListPage(f *testing.F) {
	for _, v := range listPageVectors(f) {
		f.Add(v.Data, true)
		f.Add(v.Data, false)
	}
	f.Fuzz(func(t *testing.T, result []byte, http bool) {
		server := overStdio
		if http {
			server = overHTTP
		}
		s, err := takePage(t, result, server)
		if err != nil {
			mustBeNamed(t, s, err)
			return
		}
		for i := range s.Tools {
			if !bytes.Contains(result, s.Tools[i].Descriptor) {
				t.Fatal("not the received bytes")
			}
			s.Tools[i].Describe()
		}
		s.Notes()
		if strictjson.Validate(result, strictjson.MaxDepth-1) != nil {
			return // no session hands such a page over
		}
		data := s.Encode()
		again, err := Parse(data, config.DefaultLimits())
		if err != nil || again.ID != s.ID || !bytes.Equal(again.Encode(), data) {
			t.Fatalf("does not read back: %v\n%s", err, data)
		}
	})
}

func FuzzSnapshotFile(f *testing.F) {
	for _, v := range snapshotVectors(f) {
		f.Add(v.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data, config.DefaultLimits())
		if err != nil {
			mustBeNamed(t, s, err)
			return
		}
		if !bytes.Equal(s.Encode(), data) {
			t.Fatal("accepted, and written again otherwise")
		}
	})
}

func mustBeNamed(t *testing.T, s *Snapshot, err error) {
	t.Helper()
	if r, ok := refusal.As(err); !ok || r.Name() == "internal" || s != nil {
		t.Fatalf("%v with %v", err, s)
	}
}
