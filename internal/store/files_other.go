//go:build !linux

package store

import (
	"errors"
	"io/fs"
)

func createUnnamed(string, []byte, fs.FileMode) error { return errors.ErrUnsupported }
