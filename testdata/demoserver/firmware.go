package main

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// firmware is the one thing about the station that changes: after an update, the tool "sum" describes itself in
// other words and takes another argument. It is the smallest server that changes under a client that reviewed it.
type firmware struct {
	path string

	mu      sync.Mutex
	updated bool
}

// update installs the new firmware, for this process and for every later one with the same state file.
func (f *firmware) update() error {
	f.mu.Lock()
	f.updated = true
	f.mu.Unlock()
	if f.path == "" {
		return nil
	}
	return os.WriteFile(f.path, []byte("updated\n"), 0o600)
}

// isUpdated reports which firmware runs. A state file that is not there means the old one.
func (f *firmware) isUpdated() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.updated || f.path == "" {
		return f.updated
	}
	_, err := os.Stat(f.path)
	return !errors.Is(err, fs.ErrNotExist)
}
