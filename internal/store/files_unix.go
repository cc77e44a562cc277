//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func rename(from, to string) error { return os.Rename(from, to) }

func chmod(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

// syncDir makes the names in a folder durable; without it a crash can undo a rename that was reported as done.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// ownerOnly reports whether nobody but this user, and root, can come at the file.
func ownerOnly(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// noFollow makes open refuse a link.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
