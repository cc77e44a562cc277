package store

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// rename tries again for a while: a file that somebody reads at the moment cannot be replaced here.
func rename(from, to string) (err error) {
	for range 100 {
		err = os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// A read-only attribute would hinder nobody but mcpc: it stands in the way of removing the other link.
func chmod(*os.File, fs.FileMode) error { return nil }

// Windows has no way to wait for a folder; NTFS orders its journal.
func syncDir(string) error { return nil }

// The user's profile has an access list of its own; mode bits say nothing here.
func ownerOnly(fs.FileInfo) bool { return true }

const noFollow = 0
