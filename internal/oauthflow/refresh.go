package oauthflow

import (
	"context"
	"net/url"
	"slices"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
)

// stored returns the credential for the endpoint, as it is in the store now; nil when there is none that the
// configuration still stands for.
func (f *Flow) stored(ctx context.Context) (*store.Credential, *refusal.Refusal) {
	entries, err := f.Store.Of(f.Endpoint)
	if err != nil {
		return nil, refusal.From(err)
	}
	for _, e := range entries {
		if !f.standsFor(e) {
			continue
		}
		c, err := f.Store.Get(ctx, e.Binding)
		if err != nil {
			return nil, refusal.From(err)
		}
		if c != nil {
			return c, nil
		}
	}
	return nil, nil
}

// InUse returns which of the stored credentials requests to an endpoint use under that configuration; nil for none.
func InUse(entries []store.Entry, endpoint string, c *config.OAuth) *store.Entry {
	f := &Flow{Endpoint: endpoint, Config: c}
	if i := slices.IndexFunc(entries, f.standsFor); i >= 0 {
		return &entries[i]
	}
	return nil
}

// standsFor reports whether an entry is of the issuer and client that the configuration names, where it names them.
func (f *Flow) standsFor(e store.Entry) bool {
	own := f.configuredClient()
	return e.Resource == f.Endpoint &&
		(f.config().Issuer == "" || f.config().Issuer == e.Issuer) &&
		(own.ID == "" || own.ID == e.ClientID && own.Issuer == e.Issuer)
}

func expired(c *store.Credential, now time.Time) bool {
	return !c.Expiry.IsZero() && !now.Before(c.Expiry)
}

// over reports whether the grant behind a credential has ended. The record stays: its scopes are asked for again.
func over(c *store.Credential) bool { return c.AccessToken.Empty() && c.RefreshToken.Empty() }

// refresh replaces the access token refused, in one transaction: under the lock the credential is read again, and
// where another process was faster its token is taken and nothing is sent. A rotating refresh token may be sent once
// only, so it is marked before it is and the answer is kept before the lock is let go.
func (f *Flow) refresh(
	ctx context.Context, b store.Binding, refused config.Secret,
) (*store.Credential, *refusal.Refusal) {
	var fresh *store.Credential
	var r *refusal.Refusal
	err := f.Store.Transact(ctx, b, func(tx Tx) error {
		fresh, r = f.refreshLocked(ctx, tx, refused)
		return nil
	})
	if err != nil {
		return nil, refusal.From(err)
	}
	return fresh, r
}

func (f *Flow) refreshLocked(ctx context.Context, tx Tx, refused config.Secret) (*store.Credential, *refusal.Refusal) {
	c := tx.Current()
	switch {
	case c == nil:
		return nil, f.loginRequired("the credential is gone")
	case !c.AccessToken.Empty() && c.AccessToken != refused && !expired(c, f.Now()):
		return c, nil
	case c.RefreshToken.Empty():
		return nil, f.loginRequired("the token is not valid any more, and there is none to refresh it with")
	}
	cutOff := c.Presented
	if err := tx.Present(); err != nil {
		return nil, refusal.From(err)
	}
	// An interrupt gives the answer a last chance: it may hold the only refresh token that is still good.
	post, done := grace(ctx, f.Limits.Shutdown)
	defer done()
	a, r := f.tokenRequest(post, c.TokenEndpoint, c.Client, url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {c.RefreshToken.Reveal()},
		"resource":      {c.Indicator},
	})
	if r != nil {
		if notSent(r) {
			return nil, f.unspent(tx, r)
		}
		return nil, r
	}
	t, bad := f.readTokens(a)
	if bad != nil {
		return f.refreshFailed(post, tx, c, bad, cutOff)
	}
	next := renewed(c, t)
	if err := tx.Put(next); err != nil {
		return nil, refusal.From(err)
	}
	return next, nil
}

// grace returns a context that outlives ctx by a moment.
func grace(ctx context.Context, moment time.Duration) (context.Context, func()) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(moment, cancel) })
	return long, func() { stop(); cancel() }
}

// renewed is the credential after a refresh. An answer without a refresh token keeps the old one (RFC 6749 section 6),
// as do null and an empty string.
func renewed(c *store.Credential, t *tokens) *store.Credential {
	next := *c
	next.AccessToken, next.Expiry = t.access, t.expiry
	if !t.refresh.Empty() {
		next.RefreshToken = t.refresh
	}
	if t.scopes != nil {
		next.Scopes = t.scopes
	}
	return &next
}

func (f *Flow) unspent(tx Tx, r *refusal.Refusal) *refusal.Refusal {
	if err := tx.Clear(); err != nil {
		return refusal.From(err)
	}
	return r
}

// refreshFailed decides what a refused refresh means. Only an OAuth error that ends the grant ends it, and only where
// the store still holds what was sent; anything else leaves the credential as it was.
func (f *Flow) refreshFailed(
	ctx context.Context, tx Tx, c *store.Credential, bad *tokenFault, cutOff bool,
) (*store.Credential, *refusal.Refusal) {
	if !bad.definitive() {
		r := bad.refusal()
		if bad.fault != "" || bad.notBearer {
			return nil, r // a success that cannot be read: the token may be spent, so the mark stays
		}
		return nil, f.unspent(tx, r)
	}
	if now, err := f.Store.Get(ctx, c.Binding); err == nil && now != nil && now.Generation != c.Generation {
		return now, nil // somebody else refreshed in spite of the lock
	}
	ended := *c
	ended.AccessToken, ended.RefreshToken, ended.Expiry = config.Secret{}, config.Secret{}, time.Time{}
	if err := tx.Put(&ended); err != nil {
		return nil, refusal.From(err)
	}
	if bad.code == "invalid_client" {
		f.dropRegistration(ctx, c.Client)
	}
	if cutOff {
		return nil, f.loginRequired("an earlier refresh was cut off, and the grant has ended")
	}
	return nil, f.loginRequired("the authorization server has ended the grant")
}

// dropRegistration forgets a client that its issuer does not know any more, so that the next sign-in registers.
func (f *Flow) dropRegistration(ctx context.Context, dead store.Registration) {
	kept, err := f.Store.Registration(ctx, dead.Issuer)
	if err == nil && kept != nil && kept.ClientID == dead.ClientID {
		_ = f.Store.ForgetRegistration(ctx, dead.Issuer) // where it stays, the next sign-in finds out
	}
}
