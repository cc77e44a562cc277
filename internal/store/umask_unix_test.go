//go:build unix

package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

func init() {
	roles["umask"] = func(dir string) {
		mask, err := strconv.ParseInt(filepath.Base(dir), 8, 32)
		if err != nil {
			panic(err)
		}
		syscall.Umask(int(mask))
		if err := inFolder(dir).Replace(context.Background(), sample(docs)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// The mode of a secret is not for the umask to decide.
func TestUmaskDoesNotMatter(t *testing.T) {
	t.Parallel()
	for _, mask := range []string{"000", "022", "077"} {
		dir := filepath.Join(t.TempDir(), mask)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := other(t, "umask", dir).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", mask, err, out)
		}
		c := inFolder(dir)
		if got, err := c.Get(t.Context(), docs); err != nil || got == nil {
			t.Errorf("%s: %v", mask, err)
		}
		for path, mode := range map[string]os.FileMode{c.path(docs): 0o600, c.dir: 0o700, c.key.Source.File: 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %s has mode %v (%v)", mask, path, info.Mode(), err)
			}
		}
	}
}
