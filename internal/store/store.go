// Package store keeps files where the XDG base directory specification puts them, crash-safe and owner-only. (The
// guarantee is stated in full by its author.)
package store

import "mcpc/internal/strictjson"

// Dirs are mcpc's folders; none is created before something is written to it.
type Dirs struct {
	Config string // $XDG_CONFIG_HOME/mcpc
	Data   string // $XDG_DATA_HOME/mcpc
	State  string // $XDG_STATE_HOME/mcpc
}

// FindDirs derives the folders from an environment; a relative XDG path is ignored, as that specification says.
func FindDirs(getenv func(string) string) (Dirs, error) { panic("unwritten") }

// Snapshots is the folder of stored snapshots. It knows ids and bytes; what is in them is verified by the reader.
type Snapshots struct{ Dir string }

// Put stores a document under its id. isNew is false when it was there already; the path is where it is.
func (s Snapshots) Put(id strictjson.Digest, data []byte) (path string, isNew bool, err error) {
	panic("unwritten")
}

// Stored is one file of the folder, as its name tells; it is not verified.
type Stored struct {
	ID   strictjson.Digest
	Path string
	Size int64
}

// List returns what is stored, newest file first.
func (s Snapshots) List() ([]Stored, error) { panic("unwritten") }

// Resolve finds the one stored id that begins with ≥ 12 hex digits, with or without "sha256:".
func (s Snapshots) Resolve(prefix string) (strictjson.Digest, error) { panic("unwritten") }

// Get reads a stored document, unverified, of at most maxBytes.
func (s Snapshots) Get(id strictjson.Digest, maxBytes int64) ([]byte, error) { panic("unwritten") }
