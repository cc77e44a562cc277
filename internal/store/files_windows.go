package store

import (
	"io/fs"
	"os"
)

// A read-only attribute would hinder nobody but mcpc: it stands in the way of removing the other link.
func chmod(*os.File, fs.FileMode) error { return nil }

// Windows has no way to wait for a folder; NTFS orders its journal.
func syncDir(string) error { return nil }

// The user's profile has an access list of its own; mode bits say nothing here.
func ownerOnly(fs.FileInfo) bool { return true }

const noFollow = 0
