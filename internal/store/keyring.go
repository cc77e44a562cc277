package store

import (
	"context"
	"sync"
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

// renewal is how long a budget lasts. It is longer than any command but one that runs until it is stopped.
const renewal = time.Minute

// Bound returns a keyring whose calls take no longer than the limit, all those of one command together, or refuse with
// custody.keyring_timeout: several secrets in a keyring that hangs cost no more than one. A call that hangs is left
// behind: some libraries cannot be interrupted. Unlock is bounded by its context alone, as a person answers it.
func Bound(k Keyring, limit time.Duration) Keyring { return &bounded{Keyring: k, limit: limit} }

type bounded struct {
	Keyring
	limit time.Duration

	mu    sync.Mutex // held for a whole call
	since time.Time  // when the budget began
	spent time.Duration
}

func (b *bounded) Get(ctx context.Context, service, account string) (config.Secret, error) {
	return within(ctx, b, func(ctx context.Context) (config.Secret, error) {
		return b.Keyring.Get(ctx, service, account)
	})
}

func (b *bounded) Set(ctx context.Context, service, account string, secret config.Secret) error {
	_, err := within(ctx, b, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.Keyring.Set(ctx, service, account, secret)
	})
	return err
}

func (b *bounded) Unlock(ctx context.Context) error {
	if u, ok := b.Keyring.(Unlocker); ok {
		return u.Unlock(ctx)
	}
	return refusal.New(refusal.CustodyKeyringLocked)
}

// left is what remains of the budget.
func (b *bounded) left(now time.Time) time.Duration {
	if now.Sub(b.since) > renewal {
		b.since, b.spent = now, 0
	}
	return b.limit - b.spent
}

func within[T any](ctx context.Context, b *bounded, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	timedOut := refusal.New(refusal.CustodyKeyringTimeout, refusal.Num("limit", b.limit.Milliseconds()))
	b.mu.Lock()
	defer b.mu.Unlock()
	begin := time.Now()
	left := b.left(begin)
	if left <= 0 {
		return none, timedOut
	}
	defer func() { b.spent += time.Since(begin) }()
	inner, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		v, err := f(inner)
		done <- answer{v, err}
	}()
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
	return none, timedOut
}

func keyringUnavailable(reason string) error {
	return refusal.New(refusal.CustodyKeyring, refusal.Own("reason", reason))
}
