package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mcpc/internal/refusal"
)

// TooLargeError is the error for a file over the bound of its reader.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string { return fmt.Sprintf("the file is over %d bytes", e.Limit) }

// ReadFile reads a whole file of at most limit bytes. It never returns the beginning of a larger one; that is a
// *TooLargeError.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

func readAll(f io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &TooLargeError{limit}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// WriteExclusive writes a file that must not be there yet, whole or not at all. The errors are output.exists and
// output.write.
func WriteExclusive(path string, data []byte, mode fs.FileMode) error {
	err := create(path, data, mode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return refusal.New(refusal.OutputExists, refusal.Own("path", path))
	case err != nil:
		return refusal.New(refusal.OutputWrite, refusal.Own("path", path))
	}
	return nil
}

// create makes a file that is whole as soon as it has its name, and on disk when create returns. fs.ErrExist means that
// the name is taken; the file there is not touched.
func create(path string, data []byte, mode fs.FileMode) error {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	err := createUnnamed(path, data, mode)
	if errors.Is(err, errors.ErrUnsupported) {
		err = createNamed(path, data, mode)
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = createInPlace(path, data, mode)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// createNamed is for systems and file systems that have no unnamed files: a temporary one in the same folder, given its
// name by a link, as a link never replaces.
func createNamed(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".mcpc-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := fill(f, data, mode); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// createInPlace is for file systems without links, as on many sticks. There a crash can leave a part under the name.
func createInPlace(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fill(f, data, mode); err != nil {
		_ = os.Remove(path)
		return err
	}
	return nil
}

// fill writes, sets the mode whatever the umask is, waits for the disk, and closes.
func fill(f *os.File, data []byte, mode fs.FileMode) error {
	_, err := f.Write(data)
	return errors.Join(err, chmod(f, mode), f.Sync(), f.Close())
}

// replace puts a file in the place of another, or where none is. Whoever calls holds the lock of the file, so the name
// in between is its own, and one that a crash left is removed here.
func replace(path string, data []byte) error {
	next := path + nextSuffix
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Without a name until it is whole and on disk, so that a crash in the long part of this leaves nothing.
	err := createUnnamed(next, data, 0o600)
	if errors.Is(err, errors.ErrUnsupported) {
		err = createInPlace(next, data, 0o600)
	}
	if err != nil {
		return err
	}
	if err := rename(next, path); err != nil {
		_ = os.Remove(next)
		return err
	}
	return syncDir(filepath.Dir(path))
}

const nextSuffix = ".next"

// makeDir creates an owner-only folder, and those above it that are missing.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}
