package store

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mcpc/internal/refusal"
)

// Tx is a transaction on one credential, under its lock. It is valid within the function that Transact calls.
type Tx struct {
	store   *Credentials
	ctx     context.Context
	path    string
	binding Binding
	current *Credential
}

// Transact takes the lock of one credential, waiting within the limit, reads it again and calls f. The lock is an OS
// lock: it ends with the process. What f puts is on disk when Put returns, whatever f returns afterwards.
func (c *Credentials) Transact(ctx context.Context, b Binding, f func(*Tx) error) error {
	return c.locked(ctx, c.path(b), func() error {
		current, err := c.Get(ctx, b)
		if err != nil {
			return err
		}
		return f(&Tx{c, ctx, c.path(b), b, current})
	})
}

// locked creates the folder, takes the lock of a file in it, and removes what a crash may have left of a write.
func (c *Credentials) locked(ctx context.Context, path string, f func() error) error {
	if err := c.checkDir(); err != nil {
		return err
	}
	if err := makeDir(c.dir); err != nil {
		return cannotWrite(c.dir)
	}
	unlock, err := lock(ctx, path, c.limits.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(path + nextSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(path)
	}
	return f()
}

func cannotWrite(path string) error {
	return refusal.New(refusal.CustodyWrite, refusal.Own("path", path))
}

// Current is the credential as it is on disk, and nil when there is none.
func (t *Tx) Current() *Credential { return t.current.clone() }

// Present marks the refresh token as sent, before it is; the generation stays. Whoever finds the mark later knows that
// the token may be spent.
func (t *Tx) Present() error { return t.mark(true) }

// Clear takes the mark away where the token is known not to be spent (429, 5xx, no connection).
func (t *Tx) Clear() error { return t.mark(false) }

func (t *Tx) mark(presented bool) error {
	if t.current == nil {
		panic("store: no credential to mark")
	}
	next := t.current.clone()
	next.Presented = presented
	return t.write(next)
}

// Put writes new tokens as the next generation and clears the mark. Handle, generation and binding are the store's.
func (t *Tx) Put(c *Credential) error {
	next := c.clone()
	if next.Binding != t.binding {
		panic("store: a credential of another binding")
	}
	next.Generation, next.Presented, next.Handle = 1, false, newHandle()
	if t.current != nil {
		next.Generation, next.Handle = t.current.Generation+1, t.current.Handle
	}
	return t.write(next)
}

func newHandle() string { return strings.ToLower(rand.Text()[:10]) }

func (t *Tx) write(next *Credential) error {
	h, p := next.split()
	if err := t.store.writeSealed(t.ctx, t.path, h, p); err != nil {
		return err
	}
	next.Expiry = h.Expiry
	t.current = next
	return nil
}

// writeSealed seals and replaces, and then opens what was written: a sign-in is only claimed when it can be read back.
func (c *Credentials) writeSealed(ctx context.Context, path string, h header, payload any) error {
	key, err := c.key.obtain(ctx, c)
	if err != nil {
		return err
	}
	file, err := seal(key, h, payload)
	switch {
	case err != nil:
		return cannotWrite(path)
	case len(file) > maxSealedBytes:
		return refusal.New(refusal.CustodyTooLarge, refusal.Num("limit", int64(maxSealedBytes)))
	}
	if err := replace(path, file); err != nil {
		return cannotWrite(path)
	}
	if back, err := c.readSealed(path); err != nil || string(back) != string(file) {
		return cannotWrite(path)
	}
	return nil
}

// Delete ends the grant.
func (t *Tx) Delete() error {
	_, err := remove(t.path)
	if err == nil {
		t.current = nil
	}
	return err
}

func remove(path string) (found bool, err error) {
	switch err := os.Remove(path); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil || syncDir(filepath.Dir(path)) != nil:
		return false, cannotWrite(path)
	}
	return true, nil
}

// Replace writes the credential of a new sign-in. Where a file is there that does not open with a key that is present,
// that file is kept under another name.
func (c *Credentials) Replace(ctx context.Context, cred *Credential) error {
	path := c.path(cred.Binding)
	return c.locked(ctx, path, func() error {
		current, err := c.Get(ctx, cred.Binding)
		if refusal.Is(err, refusal.CustodyAltered) {
			current, err = nil, keepAside(path)
		}
		if err != nil {
			return err
		}
		return (&Tx{c, ctx, path, cred.Binding, current}).Put(cred)
	})
}

// keepAside gives a file that does not open a name that is free.
func keepAside(path string) error {
	for n := 1; n < 1000; n++ {
		err := os.Link(path, path+".unopened-"+strconv.Itoa(n))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil || syncDir(filepath.Dir(path)) != nil {
			return cannotWrite(path)
		}
		return nil
	}
	return cannotWrite(path)
}

// Forget deletes a credential and needs no key; found is false when there was none.
func (c *Credentials) Forget(ctx context.Context, b Binding) (found bool, err error) {
	path := c.path(b)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = c.locked(ctx, path, func() error {
		found, err = remove(path)
		return err
	})
	return found, err
}
