package oauthflow

import (
	"context"

	"mcpc/internal/store"
)

// Sealed makes a Store of mcpc's own sealed files.
func Sealed(c *store.Credentials) Store { return sealed{c} }

type sealed struct{ *store.Credentials }

func (s sealed) Transact(ctx context.Context, b store.Binding, f func(Tx) error) error {
	return s.Credentials.Transact(ctx, b, func(tx *store.Tx) error { return f(tx) })
}
