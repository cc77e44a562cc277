package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// mustRead returns a file's bytes.
func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// names returns the names in a folder.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestReadFileIsWholeOrAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, ok := range map[int64]bool{4: false, 5: true, 6: true} {
		data, err := ReadFile(path, limit)
		var large *TooLargeError
		switch {
		case ok && (err != nil || string(data) != "12345"):
			t.Errorf("limit %d: %q, %v", limit, data, err)
		case !ok && (!errors.As(err, &large) || large.Limit != limit || data != nil):
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
	}
}

// Each way of creating a file keeps the same promise.
func TestCreate(t *testing.T) {
	t.Parallel()
	for name, create := range map[string]func(string, []byte, fs.FileMode) error{
		"create": create, "named": createNamed, "in place": createInPlace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if err := create(path, []byte("first"), 0o444); err != nil {
				t.Fatal(err)
			}
			if err := create(path, []byte("second"), 0o444); !errors.Is(err, fs.ErrExist) {
				t.Fatalf("a second time: %v", err)
			}
			if got := mustRead(t, path); string(got) != "first" {
				t.Fatalf("now holds %q", got)
			}
			info, err := os.Stat(path)
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o444 {
				t.Fatal(info.Mode(), err)
			}
			if all := names(t, dir); len(all) != 1 {
				t.Fatalf("left behind: %v", all)
			}
			if err := create(filepath.Join(dir, "none", "f"), nil, 0o600); err == nil {
				t.Fatal("created a file in a folder that is not there")
			}
		})
	}
}

func TestCreateHasOneWinner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var wins [8]error
	var wg sync.WaitGroup
	for i := range wins {
		wg.Go(func() { wins[i] = create(path, bytes.Repeat([]byte{byte('a' + i)}, 1<<16), 0o600) })
	}
	wg.Wait()
	winner := -1
	for i, err := range wins {
		switch {
		case err == nil && winner >= 0:
			t.Fatal("two winners")
		case err == nil:
			winner = i
		case !errors.Is(err, fs.ErrExist):
			t.Fatal(err)
		}
	}
	if got := mustRead(t, path); winner < 0 || !bytes.Equal(got, bytes.Repeat([]byte{byte('a' + winner)}, 1<<16)) {
		t.Fatalf("winner %d, but the file begins with %q", winner, got[:1])
	}
	if all := names(t, dir); len(all) != 1 {
		t.Fatalf("left behind: %v", all)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path+nextSuffix, []byte("left by a crash"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} {
		if err := replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, path); string(got) != text {
			t.Fatalf("holds %q", got)
		}
	}
	if all := names(t, dir); len(all) != 1 {
		t.Fatalf("left behind: %v", all)
	}
}

func TestWriteExclusive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := WriteExclusive(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteExclusive(path, []byte("y"), 0o644); !refusal.Is(err, refusal.OutputExists) {
		t.Fatalf("got %v", err)
	}
	if err := WriteExclusive(filepath.Join(dir, "none", "x"), nil, 0o644); !refusal.Is(err, refusal.OutputWrite) {
		t.Fatalf("got %v", err)
	}
	if got := mustRead(t, path); string(got) != "x" {
		t.Fatalf("holds %q", got)
	}
}

func sum(data []byte) strictjson.Digest { return strictjson.Sum(data) }
