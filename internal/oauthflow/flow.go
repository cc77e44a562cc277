// Package oauthflow signs in to one protected MCP server with OAuth and keeps its token fresh: discovery, registration,
// authorization code with PKCE, refresh, and the scopes that a challenge asks for.
//
// It guarantees that a browser opens only in Login; that a code, verifier, secret or token goes only to an endpoint in
// metadata whose issuer is the one that the resource names, and never through a redirect; that a credential is bound
// to the configured endpoint and to that issuer; that the resource indicator is the same bytes on authorize, token and
// refresh; that a sign-in which does not end well stores nothing; and that no error holds a peer's text, a code or a
// token (the URLs of a mismatch and the scopes of a challenge are the two named exceptions).
//
// It guesses no endpoint: what no metadata says is refused by name. It keeps no files itself; Store does.
package oauthflow

import (
	"context"
	"io"
	"net/http"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/store"
	"mcpc/internal/transport"
)

// Store keeps credentials and registrations. *store.Credentials is one, by way of Sealed.
type Store interface {
	// Ready reports whether a credential could be kept, before a person is asked for one.
	Ready(ctx context.Context) error
	// Of lists what is stored for one endpoint; it needs no key.
	Of(resource string) ([]store.Entry, error)
	// Get opens one credential; nil when there is none.
	Get(ctx context.Context, b store.Binding) (*store.Credential, error)
	// Transact calls f under the lock of one credential, with the credential read again.
	Transact(ctx context.Context, b store.Binding, f func(Tx) error) error
	// Replace writes the credential of a new sign-in.
	Replace(ctx context.Context, c *store.Credential) error
	// Forget deletes a credential.
	Forget(ctx context.Context, b store.Binding) (found bool, err error)
	// Registration returns the client kept for an issuer; nil when there is none.
	Registration(ctx context.Context, issuer string) (*store.Registration, error)
	// KeepRegistration writes the client of an issuer.
	KeepRegistration(ctx context.Context, r store.Registration) error
	// ForgetRegistration deletes the client of an issuer.
	ForgetRegistration(ctx context.Context, issuer string) error
}

// Tx is a transaction on one credential.
type Tx interface {
	// Current is the credential as it is stored; nil when there is none.
	Current() *store.Credential
	// Present marks the refresh token as sent, before it is.
	Present() error
	// Put writes new tokens as the next generation and clears the mark.
	Put(c *store.Credential) error
	// Clear takes the mark away where the token is known not to be spent.
	Clear() error
}

// ClientSource returns the client for a purpose. Redirects and cookies are switched off by whoever asks, whatever the
// client says.
type ClientSource func(transport.Purpose) (*http.Client, error)

// Flow is sign-in to one endpoint. All fields but Config, ClientSecret, Headers and Admit are required.
type Flow struct {
	Name     string // as the operator names the server, for hints and for the page in the browser
	Endpoint string // URL of the MCP endpoint, byte for byte as configured
	Config   *config.OAuth
	Limits   config.Limits
	Store    Store
	Clients  ClientSource
	Now      func() time.Time
	Rand     io.Reader

	// ClientSecret reads the secret of the configured client; nil for a public one.
	ClientSecret func(context.Context) (config.Secret, error)
	// Headers are the configured headers of the endpoint; they go nowhere else.
	Headers func(context.Context) (http.Header, error)
	// Admit decides whether requests may be made under a sign-in; nil admits every one. It is asked for every token that
	// the Authorizer hands out: a refresh, or another process, can change the sign-in while a command runs.
	Admit func(issuer string, scopes []string) error
}

func (f *Flow) config() config.OAuth {
	if f.Config == nil {
		return config.OAuth{}
	}
	return *f.Config
}

func (f *Flow) configuredClient() config.Client {
	if f.config().Client == nil {
		return config.Client{}
	}
	return *f.config().Client
}
