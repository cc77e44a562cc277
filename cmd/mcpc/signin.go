package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"mcpc/internal/authority"
	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/store"
)

// environment is where sources are read; the keyring answers within the limit or not at all.
func (a *app) environment(limits config.Limits) config.Environment {
	return config.Environment{LookupEnv: a.lookupEnv, Keyring: a.keyring(limits)}
}

// keyring is one for the whole command, since its limit is too.
func (a *app) keyring(limits config.Limits) store.Keyring {
	if a.keyrings == nil {
		a.keyrings = map[time.Duration]store.Keyring{}
	}
	if a.keyrings[limits.Keyring] == nil {
		a.keyrings[limits.Keyring] = store.SystemKeyring(a.getenv, limits.Keyring)
	}
	return a.keyrings[limits.Keyring]
}

// withoutSecrets is the environment for a program that is none of the operator's sources: without the variables that
// the configuration names as places of secrets.
func (a *app) withoutSecrets() []string {
	c, err := a.loadConfig()
	if err != nil {
		return []string{} // no command comes this far without a configuration that loads
	}
	names := c.SecretNames()
	return slices.DeleteFunc(slices.Clone(a.environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(names, func(n string) bool { return sameVariable(n, name) })
	})
}

// custody opens the folder of sealed credentials, with the key source that the configuration names. mayAsk says that a
// person is there, so that the keyring may ask to be unlocked.
func (a *app) custody(limits config.Limits, mayAsk bool) (*store.Credentials, error) {
	d, err := a.dirs()
	if err != nil {
		return nil, err
	}
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	key := &store.Key{
		Source: c.Custody.Key, Environment: a.environment(limits), Keyring: a.keyring(limits),
		Interactive: mayAsk, Unlocking: limits.SignIn,
	}
	return store.OpenCredentials(d, key, limits), nil
}

// flow is sign-in to one server.
func (a *app) flow(s *config.Server, mayAsk bool) (*oauthflow.Flow, error) {
	if s.HTTP == nil {
		return nil, refusal.New(refusal.Usage, refusal.Own("reason", "sign-in is for servers reached by HTTP"))
	}
	credentials, err := a.custody(s.Limits, mayAsk)
	if err != nil {
		return nil, err
	}
	clients, err := oauthflow.Clients(s, a.lookupEnv)
	if err != nil {
		return nil, err
	}
	f := &oauthflow.Flow{
		Name: label(s), Endpoint: s.HTTP.URL, Config: s.OAuth, Limits: s.Limits,
		Store: oauthflow.Sealed(credentials), Clients: clients, Now: a.now, Rand: rand.Reader,
		Headers: func(ctx context.Context) (http.Header, error) { return a.plainHeaders(ctx, s) },
	}
	if s.OAuth != nil && s.OAuth.Client != nil && s.OAuth.Client.Secret != nil {
		f.ClientSecret = func(ctx context.Context) (config.Secret, error) {
			return s.OAuth.Client.Secret.Resolve(ctx, a.environment(s.Limits))
		}
	}
	return f, nil
}

// plainHeaders are the configured headers, revealed for the one endpoint they are for.
func (a *app) plainHeaders(ctx context.Context, s *config.Server) (http.Header, error) {
	headers, err := a.secretHeaders(ctx, s)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for _, one := range headers {
		h.Set(one.Name, one.Value.Reveal())
	}
	return h, nil
}

// credentialInUse is the head of the stored credential that requests to a server use, or nil. It needs no key.
func (a *app) credentialInUse(s *config.Server) (*store.Entry, error) {
	if s.HTTP == nil {
		return nil, nil
	}
	credentials, err := a.custody(s.Limits, false)
	if err != nil {
		return nil, err
	}
	entries, err := credentials.Of(s.HTTP.URL)
	if err != nil {
		return nil, err
	}
	return oauthflow.InUse(entries, s.HTTP.URL, s.OAuth), nil
}

// signInContext is the sign-in that requests to a server are made under, or nil.
func (a *app) signInContext(s *config.Server) (*snapshot.Auth, error) {
	e, err := a.credentialInUse(s)
	if err != nil || e == nil {
		return nil, err
	}
	return &snapshot.Auth{
		Kind: "oauth", Issuer: e.Issuer, Resource: e.Indicator, Client: e.ClientID, Handle: e.Handle, Scopes: e.Scopes,
	}, nil
}

// authContext is a sign-in as the authority document judges it.
func authContext(auth *snapshot.Auth) *authority.AuthContext {
	if auth == nil {
		return nil
	}
	return &authority.AuthContext{Issuer: auth.Issuer, Scopes: auth.Scopes}
}
