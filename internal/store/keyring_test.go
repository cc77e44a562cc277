package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// silent is a keyring that does not answer; deaf, not even when its context ends.
type silent struct{ release chan struct{} }

func (s silent) Get(context.Context, string, string) (config.Secret, error) {
	<-s.release
	return config.NewSecret("late"), nil
}

func (s silent) Set(ctx context.Context, _, _ string, _ config.Secret) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestSilentKeyringIsLeftBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := silent{make(chan struct{})}
		k := Bound(s, 2*time.Second)
		begin := time.Now()
		_, err := k.Get(t.Context(), "s", "a")
		if !refusal.Is(err, refusal.CustodyKeyringTimeout) || refusal.From(err).Detail("limit") != int64(2000) {
			t.Errorf("get: %v", err)
		}
		if err := k.Set(t.Context(), "s", "a", config.Secret{}); !refusal.Is(err, refusal.CustodyKeyringTimeout) {
			t.Errorf("set: %v", err)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("both calls of one command took %v", took)
		}
		time.Sleep(2 * renewal)
		begin = time.Now()
		if err := k.Set(t.Context(), "s", "a", config.Secret{}); !refusal.Is(err, refusal.CustodyKeyringTimeout) {
			t.Errorf("set: %v", err)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("much later: %v", took)
		}
		time.Sleep(2 * renewal)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := k.Get(ctx, "s", "a"); !refusal.Is(err, refusal.Interrupted) {
			t.Errorf("interrupted: %v", err)
		}
		close(s.release)
		synctest.Wait()
	})
}

func TestBoundPassesAnswersOn(t *testing.T) {
	t.Parallel()
	k := Bound(&fakeKeyring{}, time.Minute)
	if _, err := k.Get(t.Context(), "s", "a"); !refusal.Is(err, refusal.SourceKeyring) {
		t.Fatal(err)
	}
	if err := k.Set(t.Context(), "s", "a", config.NewSecret("x")); err != nil {
		t.Fatal(err)
	}
	if s, err := k.Get(t.Context(), "s", "a"); err != nil || s.Reveal() != "x" {
		t.Fatal(err)
	}
	var failure error = refusal.New(refusal.CustodyKeyringLocked)
	if _, err := Bound(&fakeKeyring{get: failure}, time.Minute).Get(t.Context(), "", ""); !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if err := Bound(silent{}, time.Minute).(Unlocker).Unlock(t.Context()); !refusal.Is(err, refusal.CustodyKeyringLocked) {
		t.Fatal(err)
	}
}
