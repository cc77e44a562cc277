package oauthflow

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
)

// Ask is how a person takes part in a sign-in.
type Ask struct {
	// Open brings the authorization URL to a browser, or prints it. An error ends the sign-in; when it is no refusal, it
	// is dropped for oauth.browser.
	Open func(ctx context.Context, url string) error
	// Paste reads the callback URL that a person copied. It is nil when only the listener takes it. It may outlive the
	// sign-in until ctx ends.
	Paste func(ctx context.Context) (string, error)
}

// Granted is what a sign-in yielded. Scopes are the peer's text, of the charset of scope tokens.
type Granted struct {
	Resource    string
	Issuer      string
	ClientID    string
	Scopes      []string
	NotGranted  []string // asked for, and not given
	Expiry      time.Time
	Refreshable bool
}

// attempt is one sign-in in progress.
type attempt struct {
	flow     *Flow
	plan     *Plan
	client   store.Registration
	verifier config.Secret
	expect   expectation
}

// Login carries a plan out: it listens, registers where needed, opens the browser once, and stores the credential.
// When it fails, nothing new is stored.
func (f *Flow) Login(ctx context.Context, p *Plan, ask Ask) (*Granted, error) {
	if err := f.Store.Ready(ctx); err != nil {
		return nil, refusal.From(err)
	}
	rcv, r := f.receive(p)
	if r != nil {
		return nil, r
	}
	g, r := f.login(ctx, p, ask, rcv)
	rcv.finish(r, f.Limits.Shutdown)
	if r != nil {
		return nil, r
	}
	return g, nil
}

// receive binds the callback. A registration's port that is busy gives way to a free one, with a new registration.
func (f *Flow) receive(p *Plan) (*receiver, *refusal.Refusal) {
	want, r := parseCallback(p.Callback)
	if r != nil {
		return nil, r
	}
	rcv, r := listen(want)
	if r != nil && p.earlier != nil && f.config().Callback == "" {
		rcv, r = listen(address{host: want.host})
	}
	return rcv, r
}

func (f *Flow) login(ctx context.Context, p *Plan, ask Ask, rcv *receiver) (*Granted, *refusal.Refusal) {
	client, r := f.client(ctx, p, rcv.addr.redirect())
	if r != nil {
		return nil, r
	}
	a, r := f.begin(p, client)
	if r != nil {
		return nil, r
	}
	rcv.serve(f.shownName(), f.Endpoint, a.expect)
	code, r := a.wait(ctx, ask, rcv)
	if r == nil {
		var t *tokens
		if t, r = a.exchange(ctx, code); r == nil {
			return a.keep(ctx, t)
		}
	}
	return nil, a.disown(ctx, r)
}

func (f *Flow) shownName() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Endpoint
}

func (f *Flow) begin(p *Plan, client store.Registration) (*attempt, *refusal.Refusal) {
	state, err := f.random()
	if err != nil {
		return nil, refusal.New(refusal.Internal)
	}
	verifier, err := f.random()
	if err != nil {
		return nil, refusal.New(refusal.Internal)
	}
	return &attempt{
		flow: f, plan: p, client: client, verifier: config.NewSecret(verifier),
		expect: expectation{state, p.Issuer, p.server.AuthorizationResponseIssParameterSupported},
	}, nil
}

// random returns 256 bits in the charset of a PKCE verifier (RFC 7636 section 4.1).
func (f *Flow) random() (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(f.Rand, b[:]); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// authorizationURL adds the request to the endpoint's own query. A parameter that the endpoint brings of the same name
// is replaced, not joined.
func (a *attempt) authorizationURL() string {
	u := parsed(a.plan.AuthorizationEndpoint)
	q := u.Query()
	for name, value := range map[string]string{
		"response_type":         "code",
		"client_id":             a.client.ClientID,
		"redirect_uri":          a.client.RedirectURI,
		"state":                 a.expect.state,
		"code_challenge":        oauth2.S256ChallengeFromVerifier(a.verifier.Reveal()),
		"code_challenge_method": "S256",
		"resource":              a.plan.Resource, // RFC 8707
	} {
		q.Set(name, value)
	}
	scopes := tokensOf(a.plan.Scopes)
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
	}
	if slices.Contains(scopes, offlineAccess) {
		q.Set("prompt", "consent") // else a refresh token need not be issued (OpenID Connect Core section 11)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// endsSoon reports whether ctx has ended or does so at once. Ctrl-C ends the program that opens the browser too, and
// which of the two is heard of first is chance.
func endsSoon(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(100 * time.Millisecond):
		return false
	}
}

// wait opens the browser and waits for the answer: from the listener, or pasted.
func (a *attempt) wait(ctx context.Context, ask Ask, rcv *receiver) (config.Secret, *refusal.Refusal) {
	ctx, cancel := context.WithTimeout(ctx, a.flow.Limits.SignIn)
	defer cancel()
	opened, pasted := make(chan error, 1), make(chan received, 1)
	go func() { opened <- ask.Open(ctx, a.authorizationURL()) }()
	if ask.Paste != nil {
		go func() {
			text, err := ask.Paste(ctx)
			if err != nil {
				return // the listener may still take it
			}
			code, r := a.expect.pasted(text, a.client.RedirectURI)
			pasted <- received{code, r}
		}()
	}
	for {
		select {
		case got := <-rcv.results:
			return got.code, got.refusal
		case got := <-pasted:
			return got.code, got.refusal
		case err := <-opened:
			opened = nil
			if err != nil && !endsSoon(ctx) && len(rcv.results) == 0 {
				return config.Secret{}, notOpened(err)
			}
		case <-ctx.Done():
			return config.Secret{}, a.ended(ctx.Err(), rcv.addr)
		}
	}
}

func notOpened(err error) *refusal.Refusal {
	if r, ok := refusal.As(err); ok {
		return r
	}
	return refusal.New(refusal.OAuthBrowser)
}

func (a *attempt) ended(err error, addr address) *refusal.Refusal {
	if errors.Is(err, context.Canceled) {
		return refusal.New(refusal.Interrupted)
	}
	r := refusal.New(refusal.DeadlineSignIn, refusal.Own("callback", addr.String()),
		refusal.Num("limit", a.flow.Limits.SignIn.Milliseconds()))
	switch a.plan.Registration {
	case ByMetadataURL:
		return r.Hint("if the authorization server refused the redirect URI, set a callback with a fixed port, " +
			"and list it in the client metadata document")
	case ByConfiguration:
		return r.Hint("if the authorization server refused the redirect URI, set the callback that the client is " +
			"registered with")
	}
	return r.Hint("the next sign-in registers anew")
}

func (a *attempt) exchange(ctx context.Context, code config.Secret) (*tokens, *refusal.Refusal) {
	form := url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code.Reveal()},
		"code_verifier": {a.verifier.Reveal()},
		"redirect_uri":  {a.client.RedirectURI},
		"resource":      {a.plan.Resource},
	}
	ans, r := a.flow.tokenRequest(ctx, a.plan.TokenEndpoint, a.client, form)
	if r != nil {
		return nil, r
	}
	t, bad := a.flow.readTokens(ans)
	if bad != nil {
		return nil, bad.refusal()
	}
	return t, nil
}

// refusal names a token endpoint's failure for a sign-in.
func (t *tokenFault) refusal() *refusal.Refusal {
	switch {
	case t.notBearer:
		return refusal.New(refusal.OAuthTokenType)
	case t.fault != "":
		return refusal.New(refusal.OAuthTokenAnswer, refusal.Own("fault", t.fault), refusal.Num("status", t.status))
	case refusesResource(t.code):
		return resourceRefused(t.code).With(refusal.Num("status", t.status))
	case t.code != "" && !t.temporary():
		return refusal.New(refusal.OAuthTokenError, refusal.Own("code", t.code), refusal.Num("status", t.status))
	}
	r := refusal.New(refusal.OAuthTokenEndpoint, refusal.Num("status", t.status))
	if t.code != "" {
		r = r.With(refusal.Own("code", t.code))
	}
	if t.retryAfter >= 0 {
		r = r.With(refusal.Num("retry_after", t.retryAfter))
	}
	return r
}

// keep stores the credential, and the registration with it: only a client that has worked is used again. An interrupt
// does not come between: the grant is there, and nobody else would know of it.
func (a *attempt) keep(ctx context.Context, t *tokens) (*Granted, *refusal.Refusal) {
	ctx = context.WithoutCancel(ctx)
	asked := tokensOf(a.plan.Scopes)
	granted := t.scopes
	if granted == nil {
		granted = asked
	}
	c := &store.Credential{
		Binding:   store.Binding{Resource: a.plan.Endpoint, Issuer: a.plan.Issuer},
		Indicator: a.plan.Resource, Client: a.client, AccessToken: t.access, RefreshToken: t.refresh, Expiry: t.expiry,
		Scopes: granted, TokenEndpoint: a.plan.TokenEndpoint, RevocationEndpoint: a.plan.RevocationEndpoint,
	}
	if err := a.flow.Store.Replace(ctx, c); err != nil {
		return nil, refusal.From(err)
	}
	if a.plan.Registration == ByRegistration || a.plan.Registration == ByEarlier {
		if err := a.flow.Store.KeepRegistration(ctx, a.client); err != nil {
			return nil, refusal.From(err)
		}
	}
	if err := a.flow.forgetOthers(ctx, c.Binding); err != nil {
		return nil, refusal.From(err)
	}
	return &Granted{
		Resource: c.Indicator, Issuer: c.Issuer, ClientID: a.client.ClientID, Scopes: granted,
		NotGranted: missing(asked, granted), Expiry: t.expiry, Refreshable: !t.refresh.Empty(),
	}, nil
}

func missing(asked, granted []string) []string {
	var m []string
	for _, s := range asked {
		if s != offlineAccess && !slices.Contains(granted, s) {
			m = append(m, s)
		}
	}
	return m
}

// forgetOthers drops what another authorization server granted for the endpoint before: the server moved, and one
// endpoint has one credential. An operator who pins the issuer may keep several, one for each pin.
func (f *Flow) forgetOthers(ctx context.Context, kept store.Binding) error {
	if f.config().Issuer != "" {
		return nil
	}
	entries, err := f.Store.Of(kept.Resource)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Issuer != kept.Issuer {
			if _, err := f.Store.Forget(ctx, e.Binding); err != nil {
				return err
			}
		}
	}
	return nil
}

// disown drops a kept registration that may be why a sign-in failed: the authorization server says so, or its page
// never led back, which is all one sees of a client that it has forgotten. The next sign-in registers once more.
func (a *attempt) disown(ctx context.Context, r *refusal.Refusal) *refusal.Refusal {
	code := r.Detail("code")
	dead := code == "invalid_client" || code == "unauthorized_client" || r.Entry() == refusal.DeadlineSignIn
	if a.plan.earlier == nil || !dead || a.client.ClientID != a.plan.earlier.ClientID {
		return r
	}
	if err := a.flow.Store.ForgetRegistration(context.WithoutCancel(ctx), a.plan.Issuer); err != nil {
		return r
	}
	return r.Hint("the next sign-in registers anew")
}
