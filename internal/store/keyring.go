package store

import (
	"context"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// Keyring is the desktop's secret store. Neither method asks a person anything. An absent entry is source.keyring, a
// locked keyring custody.keyring_locked, one that cannot be used custody.keyring_unavailable.
type Keyring interface {
	config.Keyring
	Set(ctx context.Context, service, account string, secret config.Secret) error
}

// Unlocker is a keyring that can ask a person to unlock it.
type Unlocker interface {
	Unlock(ctx context.Context) error
}

// Bound returns a keyring that answers within the limit or refuses with custody.keyring_timeout. A call that hangs is
// left behind: some libraries cannot be interrupted. Unlock is bounded by its context alone, as a person answers it.
func Bound(k Keyring, limit time.Duration) Keyring { return bounded{k, limit} }

type bounded struct {
	Keyring
	limit time.Duration
}

func (b bounded) Get(ctx context.Context, service, account string) (config.Secret, error) {
	return within(ctx, b.limit, func(ctx context.Context) (config.Secret, error) {
		return b.Keyring.Get(ctx, service, account)
	})
}

func (b bounded) Set(ctx context.Context, service, account string, secret config.Secret) error {
	_, err := within(ctx, b.limit, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.Keyring.Set(ctx, service, account, secret)
	})
	return err
}

func (b bounded) Unlock(ctx context.Context) error {
	if u, ok := b.Keyring.(Unlocker); ok {
		return u.Unlock(ctx)
	}
	return refusal.New(refusal.CustodyKeyringLocked)
}

func within[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		v, err := f(inner)
		done <- answer{v, err}
	}()
	var none T
	select {
	case a := <-done:
		if a.err == nil || inner.Err() == nil {
			return a.value, a.err
		}
	case <-inner.Done():
	}
	if ctx.Err() == context.Canceled {
		return none, refusal.New(refusal.Interrupted)
	}
	return none, refusal.New(refusal.CustodyKeyringTimeout, refusal.Num("limit", limit.Milliseconds()))
}

func keyringUnavailable(reason string) error {
	return refusal.New(refusal.CustodyKeyring, refusal.Own("reason", reason))
}
