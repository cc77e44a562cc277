package store

import (
	"context"
	"time"

	"mcpc/internal/config"
)

// Binding is what a stored credential is bound to. Used for anything else it does not open.
type Binding struct {
	Resource string // the endpoint that the credential serves, as configured
	Issuer   string // the authorization server, exact string
}

// Credential is what a sign-in yields, sealed on disk.
type Credential struct {
	Binding
	Indicator          string // RFC 8707 resource indicator, sent byte for byte on authorize, token and refresh
	Client             Registration
	AccessToken        config.Secret
	RefreshToken       config.Secret // empty when there is none
	Expiry             time.Time     // of the access token; zero when the server did not say
	Scopes             []string      // granted
	TokenEndpoint      string
	RevocationEndpoint string // "" when the server offers none
	Handle             string // random, for people and snapshots; given at the first write and kept
	Generation         uint64 // counted up by every write of new tokens; the store sets it
	Presented          bool   // the refresh token was sent and its answer not kept yet; the store sets it
}

// Registration is a client known to one issuer.
type Registration struct {
	Issuer       string
	ClientID     string
	Secret       config.Secret // empty for a public client
	SecretExpiry time.Time     // zero for never
	AuthMethod   string        // token_endpoint_auth_method
	RedirectURI  string
}

// Entry is what can be told of a stored credential without its key. It holds no secret.
type Entry struct {
	Binding
	Indicator   string
	ClientID    string
	Scopes      []string
	Expiry      time.Time
	Refreshable bool
	Handle      string
	Generation  uint64
}

// Credentials is the folder of sealed credentials.
type Credentials struct {
	dir    string
	key    *Key
	limits config.Limits
}

// OpenCredentials names the folder and the key. Nothing is read or created yet.
func OpenCredentials(dirs Dirs, key *Key, limits config.Limits) *Credentials { panic("unwritten") }

// List returns what is stored, sorted by resource and issuer, from the clear headers; it needs no key, and nothing in it
// is verified.
func (c *Credentials) List() ([]Entry, error) { panic("unwritten") }

// Of returns the entries of one resource.
func (c *Credentials) Of(resource string) ([]Entry, error) { panic("unwritten") }

// Get opens one credential; it is nil when there is none.
func (c *Credentials) Get(ctx context.Context, b Binding) (*Credential, error) { panic("unwritten") }

// Tx is a transaction on one credential, under its lock.
type Tx struct{}

// Transact takes the lock of one credential, waiting within the limit, reads it again and calls f. The lock is an OS lock:
// it ends with the process. What f puts is on disk when Put returns, whatever f returns afterwards.
func (c *Credentials) Transact(ctx context.Context, b Binding, f func(*Tx) error) error {
	panic("unwritten")
}

// Current is the credential as it is on disk, and nil when there is none.
func (t *Tx) Current() *Credential { panic("unwritten") }

// Present marks the refresh token as sent, before it is; the generation stays.
func (t *Tx) Present() error { panic("unwritten") }

// Put writes new tokens as the next generation and clears the mark.
func (t *Tx) Put(c *Credential) error { panic("unwritten") }

// Clear takes the mark away where the token is known not to be spent (429, 5xx, no connection).
func (t *Tx) Clear() error { panic("unwritten") }

// Delete ends the grant.
func (t *Tx) Delete() error { panic("unwritten") }

// Replace writes the credential of a new sign-in. Where a file is there that does not open with a key that is present,
// that file is kept under another name.
func (c *Credentials) Replace(ctx context.Context, cred *Credential) error { panic("unwritten") }

// Forget deletes a credential and needs no key; found is false when there was none.
func (c *Credentials) Forget(ctx context.Context, b Binding) (found bool, err error) {
	panic("unwritten")
}

// Registration returns the client kept for an issuer, and nil when there is none.
func (c *Credentials) Registration(ctx context.Context, issuer string) (*Registration, error) {
	panic("unwritten")
}

// KeepRegistration writes the client of an issuer, in place of the one before.
func (c *Credentials) KeepRegistration(ctx context.Context, r Registration) error {
	panic("unwritten")
}
