package oauthflow

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"mcpc/internal/refusal"
	"mcpc/internal/store"
)

// How mcpc is known to the authorization server.
const (
	ByConfiguration = "configured client"
	ByMetadataURL   = "client metadata document"
	ByRegistration  = "dynamic registration"
	ByEarlier       = "dynamic registration, kept from an earlier sign-in"
	ByNothing       = "none"
)

// Plan is a sign-in worked out up to the browser. Its URLs, client id and scopes may be the peer's text: escape them
// before a terminal sees them.
type Plan struct {
	Endpoint              string
	Resource              string // resource indicator, sent as it stands
	ResourceMetadata      string // URL of the document
	ResourceFrom          string // one of the From constants
	Issuer                string
	ServerMetadata        string // URL of the document
	AuthorizationEndpoint string
	TokenEndpoint         string
	RegistrationEndpoint  string // "" when there is none
	RevocationEndpoint    string // "" when there is none
	Registration          string // one of the By constants
	ClientID              string // "" when it is to be registered
	Scopes                []Scope
	Callback              string // HOST:PORT; port 0 is any free one

	server  *oauthex.AuthServerMeta
	earlier *store.Registration // the registration to use again; nil when there is none
}

// Plan discovers where and how to sign in. It registers nothing and opens no browser. asked are scopes named by the
// operator, over and above what the server asks for. Where only a client is wanting, the plan comes beside the refusal:
// it cannot be carried out, but it names the issuer that a client has to be registered with.
func (f *Flow) Plan(ctx context.Context, asked []string) (*Plan, error) {
	p, r := f.plan(ctx, asked)
	if r != nil {
		return p, r
	}
	return p, nil
}

func (f *Flow) plan(ctx context.Context, asked []string) (*Plan, *refusal.Refusal) {
	for _, s := range asked {
		if !refusal.ScopeToken(s) {
			return nil, refusal.New(refusal.OAuthScopeName, refusal.Own("scope", s))
		}
	}
	if _, r := parseCallback(f.config().Callback); r != nil {
		return nil, r
	}
	values, r := f.challenged(ctx)
	if r != nil {
		return nil, r
	}
	c := parseChallenges(values)
	res, r := f.findResource(ctx, c)
	if r != nil {
		return nil, r
	}
	issuer, r := f.chooseIssuer(res.meta.AuthorizationServers)
	if r != nil {
		return nil, r
	}
	srv, r := f.findServer(ctx, issuer)
	if r != nil {
		return nil, r
	}
	granted, r := f.grantedBefore(srv.meta.Issuer)
	if r != nil {
		return nil, r
	}
	scopes := f.selectScopes(asked, granted, c, res.meta.ScopesSupported)
	scopes.addOffline(srv.meta.ScopesSupported)
	p := &Plan{
		Endpoint: f.Endpoint, Resource: res.meta.Resource, ResourceMetadata: res.url, ResourceFrom: res.from,
		Issuer: srv.meta.Issuer, ServerMetadata: srv.url,
		AuthorizationEndpoint: srv.meta.AuthorizationEndpoint, TokenEndpoint: srv.meta.TokenEndpoint,
		RegistrationEndpoint: srv.meta.RegistrationEndpoint, RevocationEndpoint: srv.meta.RevocationEndpoint,
		Scopes: scopes, Callback: f.callbackAddress(), server: srv.meta,
	}
	return p, f.planClient(ctx, p)
}

// grantedBefore returns the scopes of the stored credential for the same endpoint and issuer, and of no other. From one
// that was altered nothing is taken: to sign in is the way out of that.
func (f *Flow) grantedBefore(issuer string) ([]string, *refusal.Refusal) {
	entries, err := f.Store.Of(f.Endpoint)
	if refusal.Is(err, refusal.CustodyAltered) {
		return nil, nil
	} else if err != nil {
		return nil, refusal.From(err)
	}
	i := slices.IndexFunc(entries, func(e store.Entry) bool { return e.Issuer == issuer })
	if i < 0 {
		return nil, nil
	}
	return entries[i].Scopes, nil
}

func (f *Flow) callbackAddress() string {
	if f.config().Callback != "" {
		return f.config().Callback
	}
	return "127.0.0.1:0"
}
