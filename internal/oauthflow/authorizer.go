package oauthflow

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/transport"
)

// Authorizer returns the token source of the endpoint. It reads the store for every request, so a token that another
// process refreshed or signed in for is used at once; it never opens a browser.
func (f *Flow) Authorizer() transport.Authorizer { return &authorizer{flow: f} }

type authorizer struct {
	flow *Flow

	mu    sync.Mutex
	fresh config.Secret // the token that was refreshed here; empty once a request with it has passed
	sent  bool          // fresh was handed out
}

// Token returns the stored access token, refreshed first when it is known to have expired.
func (a *authorizer) Token(ctx context.Context) (config.Secret, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, r := a.flow.stored(ctx)
	switch {
	case r != nil:
		return config.Secret{}, r
	case c == nil:
		return config.Secret{}, nil
	case over(c):
		return config.Secret{}, a.flow.loginRequired("the grant has ended")
	}
	brandNew := c.AccessToken == a.fresh && !a.sent // to be tried whatever life it says that it has
	if !brandNew && expired(c, a.flow.Now()) && !c.RefreshToken.Empty() {
		if c, r = a.renew(ctx, c.Binding, c.AccessToken); r != nil {
			return config.Secret{}, r
		}
	}
	if a.flow.Admit != nil {
		if err := a.flow.Admit(c.Issuer, c.Scopes); err != nil {
			return config.Secret{}, err
		}
	}
	a.hand(c.AccessToken)
	return c.AccessToken, nil
}

// hand notes that a token goes out. A second time means that the first request was not refused.
func (a *authorizer) hand(token config.Secret) {
	if a.sent || token != a.fresh {
		a.fresh = config.Secret{}
	}
	a.sent = !a.fresh.Empty()
}

func (a *authorizer) renew(
	ctx context.Context, b store.Binding, refused config.Secret,
) (*store.Credential, *refusal.Refusal) {
	c, r := a.flow.refresh(ctx, b, refused)
	if r != nil {
		return nil, r
	}
	a.fresh, a.sent = c.AccessToken, false
	return c, nil
}

// Challenged answers a 401 with one refresh, and a 403 that asks for scopes with the refusal that names them.
func (a *authorizer) Challenged(ctx context.Context, used config.Secret, ch transport.Challenge) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := parseChallenges(ch.WWWAuthenticate)
	if a.flow.foreign(c) {
		return false, refusal.New(refusal.OAuthChallenge)
	}
	cred, r := a.flow.stored(ctx)
	if r != nil {
		return false, r
	}
	if ch.Status == http.StatusForbidden && c.code != "invalid_token" {
		return false, a.flow.forbidden(c, cred, used, ch.Status)
	}
	switch {
	case cred == nil:
		return false, a.flow.loginRequired("")
	case over(cred):
		return false, a.flow.loginRequired("the grant has ended")
	case used.Empty() || cred.AccessToken != used && !expired(cred, a.flow.Now()):
		return true, nil // another process signed in or refreshed meanwhile
	case used == a.fresh:
		return false, refusal.New(refusal.OAuthTokenRejected).Hint(a.flow.loginCommand(nil))
	}
	if _, r := a.renew(ctx, cred.Binding, used); r != nil {
		return false, r
	}
	return true, nil
}

// foreign reports whether a challenge points to a metadata document of another origin than the endpoint's.
func (f *Flow) foreign(c challenge) bool {
	endpoint, r := f.endpoint()
	if r != nil {
		return true
	}
	_, r = f.namedMetadata(endpoint, c)
	return r != nil
}

// forbidden names what a 403 asks for. The sign-in that its hint gives asks for what was granted before as well, once:
// where the scopes were granted and the server refuses still, another sign-in would not help.
func (f *Flow) forbidden(c challenge, cred *store.Credential, used config.Secret, status int) *refusal.Refusal {
	switch {
	case c.code != "insufficient_scope" && len(c.scopes) == 0:
		return refusal.New(refusal.OAuthForbidden, refusal.Num("status", status))
	case cred == nil && used.Empty():
		return f.loginRequired("").Hint(f.loginCommand(nil))
	}
	scopes := refusal.Scopes("scopes", c.scopes)
	r := refusal.New(refusal.OAuthScopeRequired, scopes)
	shown, _ := scopes.Value().([]string)
	if cred != nil && len(shown) > 0 && len(missing(shown, cred.Scopes)) == 0 {
		return r.With(refusal.Own("reason", "they are granted already")).
			Hint("another sign-in will not help; ask whoever runs the server what this account may do")
	}
	return r.Hint(f.loginCommand(shown))
}

func (f *Flow) loginRequired(reason string) *refusal.Refusal {
	r := refusal.New(refusal.OAuthLoginRequired).Hint(f.loginCommand(nil))
	if reason != "" {
		r = r.With(refusal.Own("reason", reason))
	}
	return r
}

// loginCommand is the command to type. Scope tokens are the peer's text, and their charset has the marks of a shell.
func (f *Flow) loginCommand(scopes []string) string {
	parts := []string{"mcpc", "login", shellWord(f.shownName())}
	for _, s := range scopes {
		parts = append(parts, "--scope", shellWord(s))
	}
	return strings.Join(parts, " ")
}

// shellWord quotes what a POSIX shell would not take as one plain word.
func shellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._:/@+,-", c)
	}
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !plain(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
