package oauthtest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"mcpc/internal/oauthflow"
	"mcpc/internal/store"
)

// Store keeps credentials in memory, with the rules of the sealed one.
type Store struct {
	mu            sync.Mutex
	locks         map[store.Binding]*sync.Mutex
	credentials   map[store.Binding]store.Credential
	registrations map[string]store.Registration
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		locks: map[store.Binding]*sync.Mutex{}, credentials: map[store.Binding]store.Credential{},
		registrations: map[string]store.Registration{},
	}
}

// All returns every credential.
func (s *Store) All() []store.Credential {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []store.Credential
	for _, c := range s.credentials {
		all = append(all, c)
	}
	return all
}

// Edit changes the only credential in place, as another process would.
func (s *Store) Edit(f func(*store.Credential)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b, c := range s.credentials {
		f(&c)
		s.credentials[b] = c
	}
}

// Of implements oauthflow.Store.
func (s *Store) Of(resource string) ([]store.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var entries []store.Entry
	for b, c := range s.credentials {
		if b.Resource == resource {
			entries = append(entries, store.Entry{
				Binding: b, Indicator: c.Indicator, ClientID: c.Client.ClientID, Scopes: c.Scopes,
				Expiry: c.Expiry, Refreshable: !c.RefreshToken.Empty(), Generation: c.Generation,
			})
		}
	}
	slices.SortFunc(entries, func(a, b store.Entry) int { return strings.Compare(a.Issuer, b.Issuer) })
	return entries, nil
}

// Get implements oauthflow.Store.
func (s *Store) Get(_ context.Context, b store.Binding) (*store.Credential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.credentials[b]
	if !ok {
		return nil, nil
	}
	return &c, nil
}

// Transact implements oauthflow.Store.
func (s *Store) Transact(_ context.Context, b store.Binding, f func(oauthflow.Tx) error) error {
	s.mu.Lock()
	lock := s.locks[b]
	if lock == nil {
		lock = &sync.Mutex{}
		s.locks[b] = lock
	}
	s.mu.Unlock()
	lock.Lock()
	defer lock.Unlock()
	return f(&tx{s, b})
}

// Replace implements oauthflow.Store.
func (s *Store) Replace(_ context.Context, c *store.Credential) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *c
	next.Generation, next.Presented = s.credentials[c.Binding].Generation+1, false
	s.credentials[c.Binding] = next
	return nil
}

// Forget implements oauthflow.Store.
func (s *Store) Forget(_ context.Context, b store.Binding) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.credentials[b]
	delete(s.credentials, b)
	return found, nil
}

// Registration implements oauthflow.Store.
func (s *Store) Registration(_ context.Context, issuer string) (*store.Registration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.registrations[issuer]
	if !ok {
		return nil, nil
	}
	return &r, nil
}

// KeepRegistration implements oauthflow.Store.
func (s *Store) KeepRegistration(_ context.Context, r store.Registration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registrations[r.Issuer] = r
	return nil
}

// ForgetRegistration implements oauthflow.Store.
func (s *Store) ForgetRegistration(_ context.Context, issuer string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.registrations, issuer)
	return nil
}

// Ready implements oauthflow.Store.
func (s *Store) Ready(context.Context) error { return nil }

type tx struct {
	s *Store
	b store.Binding
}

func (t *tx) Current() *store.Credential {
	c, _ := t.s.Get(context.Background(), t.b)
	return c
}

func (t *tx) Present() error { return t.mark(true) }
func (t *tx) Clear() error   { return t.mark(false) }

func (t *tx) mark(presented bool) error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	c := t.s.credentials[t.b]
	c.Presented = presented
	t.s.credentials[t.b] = c
	return nil
}

func (t *tx) Put(c *store.Credential) error { return t.s.Replace(context.Background(), c) }
