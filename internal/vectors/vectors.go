// Package vectors reads test vectors, for tests alone. A vector is one file of a package's testdata/vectors: header
// lines of the form "key: value", a blank line, and then the raw bytes, which may be anything.
//
// It guarantees that a test runs every vector that its author counted: the count is pinned by the caller, so that a
// vector that is not found is a failure. A header that nothing reads is one too. It will not say what a header means.
package vectors

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Vector is one file.
type Vector struct {
	Name   string            // the file's name
	Header map[string]string // the values of a key that is repeated are in order, one a line
	Data   []byte            // what follows the first blank line, byte for byte
}

// Read returns the vectors in a folder of the calling package's testdata/vectors, in the order of their names. Every
// vector may have the headers expect and comment; others may have the keys that are named, and no more.
func Read(t testing.TB, folder string, count int, keys ...string) []Vector {
	t.Helper()
	dir := filepath.Join("testdata", "vectors", folder)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != count {
		t.Fatalf("%d vectors in %s, want %d", len(files), dir, count)
	}
	known := append([]string{"expect", "comment"}, keys...)
	all := make([]Vector, len(files))
	for i, file := range files {
		all[i] = read(t, filepath.Join(dir, file.Name()), known)
	}
	return all
}

func read(t testing.TB, path string, known []string) Vector {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, data, ok := bytes.Cut(raw, []byte("\n\n"))
	if !ok {
		t.Fatalf("%s has no blank line", path)
	}
	v := Vector{filepath.Base(path), map[string]string{}, data}
	for line := range strings.SplitSeq(string(head), "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || !slices.Contains(known, key) {
			t.Fatalf("%s: unknown header %q", path, line)
		}
		if earlier, repeated := v.Header[key]; repeated {
			value = earlier + "\n" + value
		}
		v.Header[key] = value
	}
	return v
}
