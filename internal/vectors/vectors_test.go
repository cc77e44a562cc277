package vectors

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	dir := filepath.Join("testdata", "vectors", "f")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRead(t *testing.T) {
	write(t, map[string]string{
		"b": "expect: accept\ncomment: one: two\n\n\n\nx\r\n\xff",
		"a": "expect: refuse\nevent: 1\nevent: 2\nempty: \n\n",
	})
	want := []Vector{
		{"a", map[string]string{"expect": "refuse", "event": "1\n2", "empty": ""}, []byte{}},
		{"b", map[string]string{"expect": "accept", "comment": "one: two"}, []byte("\n\nx\r\n\xff")},
	}
	if diff := cmp.Diff(want, Read(t, "f", 2, "event", "empty")); diff != "" {
		t.Error(diff)
	}
}

// failing is a test that notes that it was failed.
type failing struct {
	testing.TB
	failed bool
}

func (*failing) Helper()                 {}
func (f *failing) Fatal(...any)          { f.failed = true; runtime.Goexit() }
func (f *failing) Fatalf(string, ...any) { f.failed = true; runtime.Goexit() }

func TestReadFails(t *testing.T) {
	for name, c := range map[string]struct {
		text, folder string
		count        int
	}{
		"one too few":   {"expect: x\n\n", "f", 2},
		"one too many":  {"expect: x\n\n", "f", 0},
		"no folder":     {"expect: x\n\n", "g", 0},
		"no blank line": {"expect: x", "f", 1},
		"no header":     {"\n\n", "f", 1},
		"unknown key":   {"expect: x\nother: y\n\n", "f", 1},
		"no value":      {"expect\n\n", "f", 1},
		"CRLF":          {"expect: x\r\n\r\n", "f", 1},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"a": c.text})
			if !fails(c.folder, c.count) {
				t.Error("read")
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		write(t, nil)
		if err := os.Mkdir(filepath.Join("testdata", "vectors", "f", "a"), 0o700); err != nil {
			t.Fatal(err)
		}
		if !fails("f", 1) {
			t.Error("read")
		}
	})
}

func fails(folder string, count int) bool {
	f, done := &failing{}, make(chan struct{})
	go func() {
		defer close(done)
		Read(f, folder, count)
	}()
	<-done
	return f.failed
}
