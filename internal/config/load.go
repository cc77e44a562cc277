package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// MaxBytes bounds the servers file.
const MaxBytes = 1 << 20

// Load reads the servers file. Errors are refusals: config.* and limit.config. For config.missing the caller knows
// whether that is an error, or Empty will do.
func Load(path string) (*Config, error) {
	data, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refusal.New(refusal.ConfigMissing, refusal.Own("path", path))
	case err != nil:
		if r, ok := refusal.As(err); ok {
			return nil, r
		}
		return nil, refusal.New(refusal.ConfigUnreadable, refusal.Own("path", path))
	}
	return Parse(data, path)
}

// Empty is the configuration of somebody who has written none.
func Empty(path string) *Config {
	return &Config{Path: path, Servers: map[string]*Server{}, Custody: Custody{Key: Source{Keyring: &KeyringItem{}}}}
}

// readFile reads a regular file that only its owner and group can write: who can edit the file can make mcpc start any
// command. Links are followed, and the file they lead to is what is judged.
func readFile(path string) ([]byte, error) {
	// Asked before opening, since opening a FIFO waits for a writer.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if othersMay(info, 0o002) {
		return nil, refusal.New(refusal.ConfigMode, refusal.Own("path", path), refusal.Own("mode", octal(info))).
			Hint("chmod o-w " + refusal.Word(path))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(data) > MaxBytes {
		return nil, refusal.New(refusal.LimitConfig, refusal.Num("limit", int64(MaxBytes)))
	}
	return data, err
}

// othersMay reports whether the mode gives one of the bits. Windows has no such bits; there the folder's access list
// holds.
func othersMay(info fs.FileInfo, bits fs.FileMode) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&bits != 0
}

func octal(info fs.FileInfo) string {
	return "0" + strconv.FormatUint(uint64(info.Mode().Perm()), 8)
}

// Parse reads a servers file that is at hand. The path is for messages, and its folder is what relative paths in the
// file are resolved against.
func Parse(data []byte, path string) (*Config, error) {
	if len(data) > MaxBytes {
		return nil, refusal.New(refusal.LimitConfig, refusal.Num("limit", int64(MaxBytes)))
	}
	if r := foreign(data, path); r != nil {
		return nil, r
	}
	if err := strictjson.ValidateObject(data, strictjson.MaxDepth); err != nil {
		return nil, syntax(data, path, err)
	}
	r := &reader{path: path, folder: filepath.Dir(path)}
	if path == "" {
		r.folder = ""
	}
	c := Empty(path)
	r.root(c, data)
	if r.fault != nil {
		return nil, r.fault
	}
	return c, nil
}

// syntax names what is wrong with the text itself. Comments, trailing commas and cut-off input get their own words, as
// they come from habits of other programs.
func syntax(data []byte, path string, err error) *refusal.Refusal {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return refusal.New(refusal.ConfigUnreadable, refusal.Own("path", path))
	}
	fault, offset := string(e.Fault), e.Offset
	if e.Fault == strictjson.FaultSyntax || e.Fault == strictjson.FaultTrailing {
		_, habits := relax(data)
		if habit, at := habits.first(); habit != "" && at <= offset {
			fault, offset = habit, at
		}
	}
	line, column := strictjson.Position(data, offset)
	at := []refusal.Field{
		refusal.Own("path", path), refusal.Num("line", line), refusal.Num("column", column),
	}
	switch e.Fault {
	case strictjson.FaultDepth:
		return refusal.New(refusal.LimitDepth, refusal.Num("limit", strictjson.MaxDepth))
	case strictjson.FaultDuplicate:
		return refusal.New(refusal.ConfigDuplicate, append(at, refusal.Own("pointer", e.Pointer))...)
	}
	return refusal.New(refusal.ConfigSyntax, append(at, refusal.Own("fault", fault))...)
}

// resolve makes a path of the file absolute to the file's folder.
func (r *reader) resolve(path string) string {
	if path == "" || r.folder == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "/") {
		return path
	}
	return filepath.Join(r.folder, path)
}
