package oauthflow

import (
	"context"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
)

// Ways of a client to authenticate at the token endpoint (RFC 7591 section 2).
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
)

const (
	clientName  = "mcpc"
	maxClientID = 2048 // it goes into a URL
)

// planClient decides how mcpc is known to the authorization server, in the order of the specification
// (client-registration): configured, client metadata document, dynamic registration.
func (f *Flow) planClient(ctx context.Context, p *Plan) *refusal.Refusal {
	own := f.configuredClient()
	switch {
	case own.ID != "":
		p.Registration, p.ClientID = ByConfiguration, own.ID
		if own.Issuer != p.Issuer {
			return refusal.New(refusal.OAuthClientIssuer).Hint(f.explaining())
		}
	case f.config().ClientMetadataURL != "" && p.server.ClientIDMetadataDocumentSupported:
		if r := checkClientMetadataURL(f.config().ClientMetadataURL); r != nil {
			return r
		}
		p.Registration, p.ClientID = ByMetadataURL, f.config().ClientMetadataURL
	case p.RegistrationEndpoint != "":
		return f.planRegistration(ctx, p)
	default:
		p.Registration = ByNothing
		return refusal.New(refusal.OAuthNoRegistration).Hint(f.explaining() + "\nregister a client with the issuer that " +
			`this shows, and name both as "client" under "oauth" in the configuration`)
	}
	return nil
}

// explaining is the command that shows which issuer the server names.
func (f *Flow) explaining() string { return f.loginCommand(nil) + " --explain" }

func (f *Flow) planRegistration(ctx context.Context, p *Plan) *refusal.Refusal {
	p.Registration = ByRegistration
	kept, err := f.Store.Registration(ctx, p.Issuer)
	if err != nil {
		return refusal.From(err)
	}
	if kept == nil || !kept.SecretExpiry.IsZero() && !f.Now().Before(kept.SecretExpiry) {
		return nil
	}
	// The registered redirect URI is used again where the operator asks for no other address.
	registered, r := parseCallback(callbackOf(kept.RedirectURI))
	if r != nil || f.config().Callback != "" && !redirectFits(f.config().Callback, kept.RedirectURI) {
		return nil
	}
	p.Registration, p.ClientID, p.earlier = ByEarlier, kept.ClientID, kept
	p.Callback = registered.String()
	return nil
}

// client returns the client to sign in with, registering it where there is no other way.
func (f *Flow) client(ctx context.Context, p *Plan, redirect string) (store.Registration, *refusal.Refusal) {
	c := store.Registration{Issuer: p.Issuer, ClientID: p.ClientID, AuthMethod: methodNone, RedirectURI: redirect}
	switch {
	case p.Registration == ByConfiguration && f.configuredClient().Secret != nil:
		method, r := secretMethod(p.server.TokenEndpointAuthMethodsSupported)
		c.AuthMethod = method
		return c, r
	case p.earlier != nil && p.earlier.RedirectURI == redirect:
		return *p.earlier, nil
	case p.Registration == ByRegistration || p.Registration == ByEarlier:
		return f.register(ctx, p, redirect)
	}
	return c, nil
}

// secretMethod picks how to send a secret. Basic is the default where nothing is said (RFC 8414 section 2).
func secretMethod(supported []string) (string, *refusal.Refusal) {
	switch {
	case supported == nil || slices.Contains(supported, methodBasic):
		return methodBasic, nil
	case slices.Contains(supported, methodPost):
		return methodPost, nil
	}
	return "", refusal.New(refusal.OAuthClientMethod)
}

// askedMethod is what a registration asks for: none, and a secret only where the token endpoint demands one.
func askedMethod(supported []string) (string, *refusal.Refusal) {
	if supported == nil || slices.Contains(supported, methodNone) {
		return methodNone, nil
	}
	return secretMethod(supported)
}

// clientDocument is client metadata (RFC 7591 section 2). No scope: a client registered with one could not step up.
type clientDocument struct {
	ClientID        string   `json:"client_id,omitempty"`
	ClientName      string   `json:"client_name"`
	RedirectURIs    []string `json:"redirect_uris"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	ApplicationType string   `json:"application_type"`
	AuthMethod      string   `json:"token_endpoint_auth_method"`
}

func newClientDocument(id, method string, redirects ...string) clientDocument {
	return clientDocument{
		ClientID: id, ClientName: clientName, RedirectURIs: redirects,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		// A client of OpenID Connect is "web" unless it says otherwise, and may then not use loopback (Registration
		// section 2).
		ApplicationType: "native", AuthMethod: method,
	}
}

// register asks the authorization server for a client id (RFC 7591). Nothing is stored yet.
func (f *Flow) register(ctx context.Context, p *Plan, redirect string) (c store.Registration, r *refusal.Refusal) {
	method, r := askedMethod(p.server.TokenEndpointAuthMethodsSupported)
	if r != nil {
		return c, r
	}
	body, err := json.Marshal(newClientDocument("", method, redirect))
	if err != nil {
		return c, refusal.New(refusal.Internal)
	}
	a, r := f.post(ctx, p.RegistrationEndpoint, "application/json", body, nil)
	if r != nil {
		return c, r
	}
	doc, isObject := a.object(f.Limits.Depth)
	id := strictjson.MemberText(doc, "client_id")
	if !a.ok() || !isObject || id == "" || len(id) > maxClientID || !printable(id) {
		return c, registrationFailed(a, doc)
	}
	c = store.Registration{Issuer: p.Issuer, ClientID: id, RedirectURI: redirect}
	return c, readRegistration(doc, method, p.server.TokenEndpointAuthMethodsSupported, &c)
}

func registrationFailed(a *answer, doc []byte) *refusal.Refusal {
	r := refusal.New(refusal.OAuthRegistration, refusal.Num("status", a.status))
	if code := strictjson.MemberText(doc, "error"); code != "" {
		r = r.With(refusal.Own("code", registered(code)))
	}
	return r
}

// readRegistration takes what the authorization server made of the request. A null is an absent member, and members
// that mcpc has no use for may be of any type.
func readRegistration(doc []byte, asked string, supported []string, c *store.Registration) *refusal.Refusal {
	if v, _ := strictjson.Member(doc, "redirect_uris"); strictjson.Kind(v) == '[' && !holds(v, c.RedirectURI) {
		return refusal.New(refusal.OAuthRedirect, refusal.Own("redirect", c.RedirectURI))
	}
	c.Secret = config.NewSecret(strictjson.MemberText(doc, "client_secret"))
	if s := seconds(doc, "client_secret_expires_at"); s > 0 {
		c.SecretExpiry = time.Unix(s, 0).UTC()
	}
	c.AuthMethod = strictjson.MemberText(doc, "token_endpoint_auth_method")
	if c.AuthMethod == "" {
		c.AuthMethod = impliedMethod(asked, supported, c.Secret)
	}
	switch c.AuthMethod {
	case methodNone:
		c.Secret = config.Secret{}
	case methodBasic, methodPost:
		if c.Secret.Empty() {
			return refusal.New(refusal.OAuthClientMethod)
		}
	default:
		return refusal.New(refusal.OAuthClientMethod)
	}
	return nil
}

// impliedMethod is for an answer that names no method, which RFC 7591 section 3.2.1 does not allow and servers do.
func impliedMethod(asked string, supported []string, secret config.Secret) string {
	switch {
	case secret.Empty():
		return methodNone
	case asked != methodNone:
		return asked
	case slices.Contains(supported, methodPost):
		return methodPost
	}
	return methodBasic
}

func holds(array []byte, want string) bool {
	for _, e := range strictjson.Elements(array) {
		if s, ok := strictjson.Text(e); ok && s == want {
			return true
		}
	}
	return false
}

// ClientMetadata returns the client ID metadata document to host at documentURL. Without a callback it lists the
// loopback address without a port, which authorization servers match with any port (RFC 8252 section 7.3); one that
// compares exactly needs a configured callback.
func ClientMetadata(documentURL, callback string) ([]byte, error) {
	if r := checkClientMetadataURL(documentURL); r != nil {
		return nil, r
	}
	redirects := []string{"http://127.0.0.1" + callbackPath}
	if callback != "" {
		addr, r := parseCallback(callback)
		if r != nil {
			return nil, r
		}
		if addr.port != 0 {
			redirects = []string{addr.redirect()}
		}
	}
	doc, err := json.MarshalIndent(newClientDocument(documentURL, methodNone, redirects...), "", "  ")
	if err != nil {
		return nil, refusal.New(refusal.Internal)
	}
	return append(doc, '\n'), nil
}

// checkClientMetadataURL holds the URL to section 3 of draft-ietf-oauth-client-id-metadata-document.
func checkClientMetadataURL(raw string) *refusal.Refusal {
	u, reason := config.EndpointURL(raw)
	if reason != "" || u.Scheme != "https" || u.Path == "" || u.Path == "/" || strings.Contains(raw, "?") || dotted(u) {
		return refusal.New(refusal.OAuthClientMetadata)
	}
	return nil
}

func dotted(u *url.URL) bool {
	return path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/")
}
