package store

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"mcpc/internal/refusal"
)

// Ready reports, before a person is sent to a browser, whether what a sign-in yields could be sealed. It makes no key:
// where nothing was sealed yet, a place that can hold one is enough.
func (c *Credentials) Ready(ctx context.Context) error {
	_, err := c.key.present(ctx)
	if !refusal.Is(err, refusal.CustodyKeyLost) {
		return err
	}
	if sealed, err := c.anyCredential(); err != nil || sealed {
		return orLost(err, c.key)
	}
	return c.checkDir()
}

// ForgetRegistration deletes the client kept for an issuer and needs no key.
func (c *Credentials) ForgetRegistration(ctx context.Context, issuer string) error {
	path := c.registrationPath(issuer)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return c.locked(ctx, path, func() error {
		_, err := remove(path)
		return err
	})
}
