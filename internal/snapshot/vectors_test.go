package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

const (
	snapshotVectors = 37
	listPageVectors = 31
)

// vector is a file of testdata/vectors: header lines, an empty line, and the input byte for byte.
type vector struct {
	name   string
	header map[string]string
	input  []byte
}

// vectors loads a layer. A vector with a header that nothing reads, or a layer of another size, is a fault.
func vectors(t testing.TB, layer string, count int) []vector {
	t.Helper()
	files, err := filepath.Glob("testdata/vectors/" + layer + "/*")
	if err != nil || len(files) != count {
		t.Fatalf("%d vectors of %s, want %d", len(files), layer, count)
	}
	var list []vector
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, input, found := bytes.Cut(data, []byte("\n\n"))
		if !found {
			t.Fatal(file, "has no empty line")
		}
		v := vector{filepath.Base(file), map[string]string{}, input}
		for line := range strings.Lines(string(head)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "expect", "refusal", "pointer", "rejected", "comment", "source":
				v.header[key] = value
			default:
				t.Fatalf("%s: unknown header %q", file, key)
			}
		}
		if e := v.header["expect"]; e != "accept" && e != "refuse" {
			t.Fatalf("%s: expect: %q", file, e)
		}
		list = append(list, v)
	}
	return list
}

func (v *vector) check(t *testing.T, err error) {
	t.Helper()
	if v.header["expect"] == "accept" {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	r, ok := refusal.As(err)
	if !ok || r.Name() != v.header["refusal"] {
		t.Fatalf("got %v, want %s", err, v.header["refusal"])
	}
	if pointer, _ := r.Detail("pointer").(string); pointer != v.header["pointer"] {
		t.Fatalf("at %q, want %q", pointer, v.header["pointer"])
	}
}

func TestSnapshotVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t, "snapshot", snapshotVectors) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s, err := Parse(v.input, config.DefaultLimits())
			if v.check(t, err); err == nil && !bytes.Equal(s.Encode(), v.input) {
				t.Fatal("other bytes")
			}
		})
	}
}

func TestListPageVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t, "listpage", listPageVectors) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s, err := takePage(t, v.input, overHTTP)
			if v.check(t, err); err != nil {
				return
			}
			var reasons []string
			for _, r := range s.Rejected {
				reasons = append(reasons, r.Reason)
			}
			if got := strings.Join(reasons, " "); got != v.header["rejected"] {
				t.Fatalf("rejected %q, want %q", got, v.header["rejected"])
			}
		})
	}
}

// takePage takes a snapshot of a list whose every page is the given one, as a session hands it over.
func takePage(t testing.TB, result []byte, server Identity) (*Snapshot, error) {
	return Take(t.Context(), &fakeList{next: func(*string) (string, error) { return string(result), nil }}, contextOf(server))
}

func FuzzListPage(f *testing.F) {
	for _, v := range vectors(f, "listpage", listPageVectors) {
		f.Add(v.input, true)
		f.Add(v.input, false)
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
	for _, v := range vectors(f, "snapshot", snapshotVectors) {
		f.Add(v.input)
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
