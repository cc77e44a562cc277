package store

import (
	"context"
	"path/filepath"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// Registration is a client known to one issuer.
type Registration struct {
	Issuer       string
	ClientID     string
	Secret       config.Secret // empty for a public client
	SecretExpiry time.Time     // zero for never
	AuthMethod   string        // token_endpoint_auth_method
	RedirectURI  string
}

// Registration returns the client kept for an issuer, and nil when there is none. One that does not open counts as
// none: to register again costs nothing, and KeepRegistration keeps the old file.
func (c *Credentials) Registration(ctx context.Context, issuer string) (*Registration, error) {
	path := c.registrationPath(issuer)
	file, err := c.readSealed(path)
	if err != nil || file == nil {
		return nil, err
	}
	r, err := c.openRegistration(ctx, issuer, file)
	if refusal.Is(err, refusal.CustodyAltered) || refusal.Is(err, refusal.CustodyKeyLost) {
		return nil, nil
	}
	return r, err
}

func (c *Credentials) openRegistration(ctx context.Context, issuer string, file []byte) (*Registration, error) {
	key, err := c.key.present(ctx)
	if err != nil {
		return nil, err
	}
	path := c.registrationPath(issuer)
	var p clientPayload
	h, ok := unseal(key, filepath.Base(path), file, &p)
	if !ok || h.Kind != registrationKind || h.Issuer != issuer {
		return nil, altered(path)
	}
	r := p.registration()
	return &r, nil
}

func (c *Credentials) registrationPath(issuer string) string {
	return filepath.Join(c.dir, header{Kind: registrationKind, Issuer: issuer}.fileName())
}

// KeepRegistration writes the client of an issuer, in place of the one before. Where that one does not open it is kept
// under another name.
func (c *Credentials) KeepRegistration(ctx context.Context, r Registration) error {
	path := c.registrationPath(r.Issuer)
	return c.locked(ctx, path, func() error {
		old, err := c.readSealed(path)
		if err != nil {
			return err
		}
		if _, err := c.key.obtain(ctx, c); err != nil {
			return err
		}
		if old != nil {
			_, err = c.openRegistration(ctx, r.Issuer, old)
		}
		if refusal.Is(err, refusal.CustodyAltered) {
			err = keepAside(path)
		}
		if err != nil {
			return err
		}
		h := header{Kind: registrationKind, Issuer: r.Issuer, ClientID: r.ClientID}
		return c.writeSealed(ctx, path, h, r.payload())
	})
}
