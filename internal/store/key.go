package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// The entry of the keyring that is mcpc's own.
const (
	keyService = "mcpc"
	keyAccount = "custody-key"
)

// Key is the 32-byte key that seals credentials, by where it comes from. It is read when the first file is to be
// opened, and made when the first is to be written.
type Key struct {
	Source      config.Source
	Environment config.Environment // where a source of kind env, command or keyring is read
	Keyring     Keyring            // where the source is the keyring; nil for none
	Interactive bool               // only a sign-in may unlock the keyring or start its service
	Unlocking   time.Duration      // how long a person may take to unlock it; a minute where it is 0

	mu   sync.Mutex
	have *[keyBytes]byte
}

// errAbsent is a place that can hold a key and has none.
var errAbsent = errors.New("no key yet")

// present returns the key that has sealed something already; that it is absent means that it was lost.
func (k *Key) present(ctx context.Context) ([keyBytes]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.have != nil {
		return *k.have, nil
	}
	key, err := k.fetch(ctx)
	if errors.Is(err, errAbsent) {
		return key, k.lost()
	}
	if err == nil {
		k.have = &key
	}
	return key, err
}

func (k *Key) lost() error {
	return refusal.New(refusal.CustodyKeyLost, refusal.Own("kind", k.kind())).
		Hint("put the key back; or log out of each server with a credential, and sign in again\nmcpc credentials")
}

func (k *Key) kind() string {
	switch {
	case k.Source.Env != "":
		return "the environment"
	case k.Source.File != "":
		return "the key file"
	case len(k.Source.Command) > 0:
		return "the key command"
	}
	return "the keyring"
}

// obtain returns the key for writing, and makes it when nothing was ever sealed. One process makes it and the others
// wait, so that no two keys are in use.
func (k *Key) obtain(ctx context.Context, c *Credentials) ([keyBytes]byte, error) {
	key, err := k.present(ctx)
	if !refusal.Is(err, refusal.CustodyKeyLost) {
		return key, err
	}
	unlock, err := lock(ctx, filepath.Join(c.dir, "key"), c.limits.LockWait)
	if err != nil {
		return key, err
	}
	defer unlock()
	if key, err = k.present(ctx); !refusal.Is(err, refusal.CustodyKeyLost) {
		return key, err
	}
	if sealed, err := c.anyCredential(); err != nil || sealed {
		return key, orLost(err, k)
	}
	return k.make(ctx)
}

func orLost(err error, k *Key) error {
	if err != nil {
		return err
	}
	return k.lost()
}

// anyCredential reports whether a credential was sealed. Registrations do not count, as losing them costs nothing; a
// file that cannot be read does.
func (c *Credentials) anyCredential() (bool, error) {
	paths, err := c.sealed()
	for _, path := range paths {
		file, err := c.readSealed(path)
		if err != nil {
			return false, err
		}
		if h, _, ok := readHeader(filepath.Base(path), file); !ok || h.Kind == credentialKind {
			return true, nil
		}
	}
	return false, err
}

// make makes a key, stores it and reads it back: a place that says yes and keeps nothing is found out here, and not
// when the next process cannot open what this one sealed.
func (k *Key) make(ctx context.Context) (key [keyBytes]byte, err error) {
	rand.Read(key[:]) // never fails
	text := base64.StdEncoding.EncodeToString(key[:])
	if k.Source.File != "" {
		err = k.writeFile(text)
	} else {
		err = unavailable(k.Keyring.Set(ctx, k.service(), k.account(), config.NewSecret(text)))
	}
	if err != nil {
		return key, err
	}
	back, err := k.present(ctx)
	if refusal.Is(err, refusal.CustodyKeyLost) || err == nil && back != key {
		return key, keyUnavailable("what was written there is not there")
	}
	return back, err
}

func (k *Key) writeFile(text string) error {
	err := makeDir(filepath.Dir(k.Source.File))
	if err == nil {
		err = create(k.Source.File, []byte(text+"\n"), 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return refusal.New(refusal.CustodyWrite, refusal.Own("path", k.Source.File))
	}
	return nil
}

func (k *Key) service() string {
	if k.Source.Keyring == nil || k.Source.Keyring.Service == "" {
		return keyService
	}
	return k.Source.Keyring.Service
}

func (k *Key) account() string {
	if k.Source.Keyring == nil || k.Source.Keyring.Account == "" {
		return keyAccount
	}
	return k.Source.Keyring.Account
}

// fetch reads the key. The error is errAbsent, or a refusal.
func (k *Key) fetch(ctx context.Context) (key [keyBytes]byte, err error) {
	text, err := k.text(ctx)
	if err != nil {
		return key, err
	}
	data, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(text))
	if err != nil || len(data) != keyBytes {
		return key, refusal.New(refusal.CustodyKeyInvalid, refusal.Own("kind", k.kind()))
	}
	return [keyBytes]byte(data), nil
}

func (k *Key) text(ctx context.Context) (string, error) {
	switch {
	case k.Source.File != "":
		data, err := readPrivate(k.Source.File, 4096)
		var large *TooLargeError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", errAbsent
		case errors.As(err, &large):
			return "", refusal.New(refusal.CustodyKeyInvalid, refusal.Own("kind", k.kind()))
		}
		return string(data), err
	case k.Source.Env != "" || len(k.Source.Command) > 0:
		secret, err := k.Source.Resolve(ctx, k.Environment)
		return secret.Reveal(), err
	}
	return k.fromKeyring(ctx)
}

// fromKeyring asks the keyring, and where a person is there to answer, has it unlocked first.
func (k *Key) fromKeyring(ctx context.Context) (string, error) {
	if k.Keyring == nil {
		return "", keyUnavailable("there is no keyring here")
	}
	secret, err := k.Keyring.Get(ctx, k.service(), k.account())
	if u, ok := k.Keyring.(Unlocker); ok && k.Interactive && refusal.Is(err, refusal.CustodyKeyringLocked) {
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(k.Unlocking, time.Minute))
		defer cancel()
		if err = u.Unlock(ctx); err == nil {
			secret, err = k.Keyring.Get(ctx, k.service(), k.account())
		}
	}
	if refusal.Is(err, refusal.SourceKeyring) {
		return "", errAbsent
	}
	return secret.Reveal(), unavailable(err)
}

// unavailable says of a keyring that cannot be used what that means here.
func unavailable(err error) error {
	if r, ok := refusal.As(err); ok && r.Entry() == refusal.CustodyKeyring {
		reason, _ := r.Detail("reason").(string)
		return keyUnavailable(reason)
	}
	return err
}

func keyUnavailable(reason string) error {
	return refusal.New(refusal.CustodyKeyUnavailable, refusal.Own("reason", reason)).
		Hint(`"custody": {"key": {"file": PATH}} in the configuration keeps the key in a file; there is no plain text mode`)
}

// Prepare makes sure that a credential could be sealed now, before a person is sent to a browser.
func (c *Credentials) Prepare(ctx context.Context) error {
	if err := c.checkDir(); err != nil {
		return err
	}
	if err := makeDir(c.dir); err != nil {
		return cannotWrite(c.dir)
	}
	_, err := c.key.obtain(ctx, c)
	return err
}
