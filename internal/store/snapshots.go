package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// Snapshots is the folder of stored snapshots. It knows ids and bytes; what is in them is verified by the reader.
type Snapshots struct{ Dir string }

const (
	snapshotSuffix = ".json"
	minPrefix      = 12 // hex digits
)

func (s Snapshots) path(id strictjson.Digest) string {
	return filepath.Join(s.Dir, id.Hex()+snapshotSuffix)
}

// Put stores a document under its id, read-only and for good. isNew is false when it was there already, and then
// nothing is written; the path is where it is. The error is snapshot.write.
func (s Snapshots) Put(id strictjson.Digest, data []byte) (path string, isNew bool, err error) {
	path = s.path(id)
	if _, ok := strictjson.ParseDigest(string(id)); !ok {
		panic("store: not a digest")
	}
	err = makeDir(s.Dir)
	if err == nil {
		err = create(path, data, 0o444)
	}
	switch {
	case err == nil:
		return path, true, nil
	case errors.Is(err, fs.ErrExist):
		return path, false, nil
	}
	return "", false, refusal.New(refusal.SnapshotWrite, refusal.Own("path", path))
}

// Stored is one file of the folder, as its name tells; it is not verified.
type Stored struct {
	ID   strictjson.Digest
	Path string
	Size int64
	At   time.Time // when the file was written
}

// List returns what is stored, newest file first. Files of other names are not looked at.
func (s Snapshots) List() ([]Stored, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refusal.New(refusal.SnapshotUnreadable, refusal.Own("path", s.Dir))
	}
	var all []Stored
	for _, e := range entries {
		hexed, ok := strings.CutSuffix(e.Name(), snapshotSuffix)
		id, isID := strictjson.ParseDigest("sha256:" + hexed)
		info, err := e.Info()
		if ok && isID && err == nil && info.Mode().IsRegular() {
			all = append(all, Stored{id, s.path(id), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b Stored) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Resolve finds the one stored id that begins with ≥ 12 hex digits, with or without "sha256:".
func (s Snapshots) Resolve(prefix string) (strictjson.Digest, error) {
	hexed := strings.TrimPrefix(prefix, "sha256:")
	if len(hexed) < minPrefix || len(hexed) > 64 || strings.Trim(hexed, "0123456789abcdef") != "" {
		return "", refusal.New(refusal.SnapshotMissing, refusal.Own("snapshot", prefix)).
			Hint("a snapshot's id is given by 12 or more of its hex digits\nmcpc snapshot list")
	}
	all, err := s.List()
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(f Stored) bool { return !strings.HasPrefix(f.ID.Hex(), hexed) })
	switch len(all) {
	case 0:
		return "", refusal.New(refusal.SnapshotMissing, refusal.Own("snapshot", prefix)).Hint("mcpc snapshot list")
	case 1:
		return all[0].ID, nil
	}
	return "", refusal.New(refusal.SnapshotAmbiguous, refusal.Own("snapshot", prefix))
}

// Get reads a stored document, unverified, of at most maxBytes. Errors are snapshot.missing, snapshot.unreadable and
// limit.snapshot.
func (s Snapshots) Get(id strictjson.Digest, maxBytes int64) ([]byte, error) {
	data, err := ReadFile(s.path(id), maxBytes)
	var large *TooLargeError
	switch {
	case err == nil:
		return data, nil
	case errors.As(err, &large):
		return nil, refusal.New(refusal.LimitSnapshot, refusal.Num("limit", maxBytes))
	case errors.Is(err, fs.ErrNotExist):
		return nil, refusal.New(refusal.SnapshotMissing, refusal.Hash("snapshot", id))
	}
	return nil, refusal.New(refusal.SnapshotUnreadable, refusal.Own("path", s.path(id)))
}
