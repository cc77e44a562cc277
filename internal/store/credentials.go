package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// Binding is what a stored credential is bound to. Used for anything else it does not open.
type Binding struct {
	Resource string // the endpoint that the credential serves, as configured
	Issuer   string // the authorization server, exact string
}

// Credential is what a sign-in yields, sealed on disk.
type Credential struct {
	Binding
	Indicator          string // RFC 8707 resource indicator, sent byte for byte on authorize, token and refresh
	Client             Registration
	AccessToken        config.Secret
	RefreshToken       config.Secret // empty when there is none
	Expiry             time.Time     // of the access token; zero when the server did not say
	Scopes             []string      // granted
	TokenEndpoint      string
	RevocationEndpoint string // "" when the server offers none
	Handle             string // random, for people and snapshots; given at the first write and kept
	Generation         uint64 // counted up by every write of new tokens; the store sets it
	Presented          bool   // the refresh token was sent and its answer not kept yet; the store sets it
}

// Entry is what can be told of a stored credential without its key. It holds no secret.
type Entry struct {
	Binding
	Indicator   string
	ClientID    string
	Scopes      []string
	Expiry      time.Time
	Refreshable bool
	Handle      string
	Generation  uint64
}

// Credentials is the folder of sealed credentials.
type Credentials struct {
	dir    string
	key    *Key
	limits config.Limits
}

// OpenCredentials names the folder and the key. Nothing is read or created yet.
func OpenCredentials(dirs Dirs, key *Key, limits config.Limits) *Credentials {
	return &Credentials{dir: filepath.Join(dirs.Data, "credentials"), key: key, limits: limits}
}

// List returns what is stored, sorted by resource and issuer, from the clear headers; it needs no key, and nothing in
// it is verified. Where a file is not one of ours the others are returned beside the error.
func (c *Credentials) List() ([]Entry, error) {
	var all []Entry
	var fault error
	paths, err := c.sealed()
	for _, path := range paths {
		file, err := c.readSealed(path)
		h, _, ok := readHeader(filepath.Base(path), file)
		switch {
		case err != nil:
			fault = cmp.Or(fault, err)
		case !ok:
			fault = cmp.Or(fault, altered(path))
		case h.Kind == credentialKind:
			all = append(all, h.entry())
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Issuer, b.Issuer))
	})
	return all, cmp.Or(err, fault)
}

func (h header) entry() Entry {
	return Entry{
		Binding: Binding{h.Resource, h.Issuer}, Indicator: h.Indicator, ClientID: h.ClientID, Scopes: h.Scopes,
		Expiry: h.Expiry, Refreshable: h.Refreshable, Handle: h.Handle, Generation: h.Generation,
	}
}

// Of returns the entries of one resource. A file that cannot be read is an error only when no entry is found.
func (c *Credentials) Of(resource string) ([]Entry, error) {
	all, err := c.List()
	all = slices.DeleteFunc(all, func(e Entry) bool { return e.Resource != resource })
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// Get opens one credential; it is nil when there is none, and then the key is not asked for.
func (c *Credentials) Get(ctx context.Context, b Binding) (*Credential, error) {
	file, err := c.readSealed(c.path(b))
	if err != nil || file == nil {
		return nil, err
	}
	return c.open(ctx, b, file)
}

func (c *Credentials) path(b Binding) string {
	return filepath.Join(c.dir, header{Kind: credentialKind, Resource: b.Resource, Issuer: b.Issuer}.fileName())
}

func (c *Credentials) open(ctx context.Context, b Binding, file []byte) (*Credential, error) {
	key, err := c.key.present(ctx)
	if err != nil {
		return nil, err
	}
	var p payload
	h, ok := unseal(key, filepath.Base(c.path(b)), file, &p)
	if !ok || h.Kind != credentialKind || h.Resource != b.Resource || h.Issuer != b.Issuer {
		return nil, altered(c.path(b))
	}
	return p.credential(h), nil
}

func altered(path string) error {
	return refusal.New(refusal.CustodyAltered, refusal.Own("path", path)).
		Hint("sign in again; the old file is kept beside the new one")
}

// readSealed reads a file that only its owner can come at, in a folder that only its owner can come at; nil means that
// there is none.
func (c *Credentials) readSealed(path string) ([]byte, error) {
	if err := c.checkDir(); err != nil {
		return nil, err
	}
	data, err := readPrivate(path, maxSealedBytes)
	var large *TooLargeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &large):
		return nil, altered(path)
	}
	return data, err
}

// readPrivate reads an owner-only file and follows no link to it. Its errors are custody.mode and custody.read, but
// fs.ErrNotExist and *TooLargeError come as they are.
func readPrivate(path string, limit int64) ([]byte, error) {
	unreadable := refusal.New(refusal.CustodyRead, refusal.Own("path", path))
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	} else if err != nil {
		return nil, unreadable
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return nil, unreadable
	case !ownerOnly(info):
		return nil, openToOthers(path, info, "chmod 600 ")
	}
	data, err := readAll(f, limit)
	var large *TooLargeError
	if err != nil && !errors.As(err, &large) {
		return nil, unreadable
	}
	return data, err
}

func openToOthers(path string, info fs.FileInfo, hint string) error {
	mode := "0" + strconv.FormatUint(uint64(info.Mode().Perm()), 8)
	return refusal.New(refusal.CustodyMode, refusal.Own("path", path), refusal.Own("mode", mode)).Hint(hint + path)
}

func (c *Credentials) checkDir() error {
	info, err := os.Stat(c.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !info.IsDir():
		return refusal.New(refusal.CustodyRead, refusal.Own("path", c.dir))
	case !ownerOnly(info):
		return openToOthers(c.dir, info, "chmod 700 ")
	}
	return nil
}

// sealed returns the paths of all sealed files, and removes what a killed writer left beside them.
func (c *Credentials) sealed() ([]string, error) {
	if err := c.checkDir(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refusal.New(refusal.CustodyRead, refusal.Own("path", c.dir))
	}
	var paths []string
	for _, e := range entries {
		switch path := filepath.Join(c.dir, e.Name()); {
		case strings.HasSuffix(path, sealedSuffix):
			paths = append(paths, path)
		case strings.HasSuffix(path, sealedSuffix+nextSuffix):
			sweep(path)
		}
	}
	return paths, nil
}
