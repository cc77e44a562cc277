package oauthflow

import (
	"context"
	"net/url"

	"mcpc/internal/refusal"
	"mcpc/internal/store"
)

// What became of the tokens at the authorization server.
const (
	RevocationDone       = "revoked"
	RevocationFailed     = "failed"
	RevocationNotOffered = "not offered"
	RevocationSkipped    = "not asked for"
)

// LoggedOut is one credential that was forgotten.
type LoggedOut struct {
	Issuer     string // the peer's text
	Revocation string // one of the Revocation constants
}

// Logout forgets every credential of the endpoint, and the registration with its issuer. With revoke it asks the
// authorization server first to end the grant (RFC 7009); whatever comes of that, nothing is kept here.
func (f *Flow) Logout(ctx context.Context, revoke bool) ([]LoggedOut, error) {
	entries, err := f.Store.Of(f.Endpoint)
	if err != nil {
		return nil, refusal.From(err)
	}
	var gone []LoggedOut
	for _, e := range entries {
		out := LoggedOut{Issuer: e.Issuer, Revocation: RevocationSkipped}
		if revoke {
			out.Revocation = f.revoke(ctx, e.Binding)
		}
		if _, err := f.Store.Forget(context.WithoutCancel(ctx), e.Binding); err != nil {
			return gone, refusal.From(err)
		}
		if err := f.Store.ForgetRegistration(context.WithoutCancel(ctx), e.Issuer); err != nil {
			return gone, refusal.From(err)
		}
		gone = append(gone, out)
	}
	return gone, nil
}

// revoke ends the grant: by its refresh token, which takes the access tokens along (RFC 7009 section 2.1), else by the
// access token.
func (f *Flow) revoke(ctx context.Context, b store.Binding) string {
	c, err := f.Store.Get(ctx, b)
	if err != nil {
		return RevocationFailed
	}
	if c == nil || over(c) {
		return RevocationSkipped
	}
	if c.RevocationEndpoint == "" {
		return RevocationNotOffered
	}
	token, kind := c.RefreshToken, "refresh_token"
	if token.Empty() {
		token, kind = c.AccessToken, "access_token"
	}
	form := url.Values{"token": {token.Reveal()}, "token_type_hint": {kind}}
	a, r := f.tokenRequest(ctx, c.RevocationEndpoint, c.Client, form)
	if r != nil || !a.ok() {
		return RevocationFailed
	}
	return RevocationDone
}
