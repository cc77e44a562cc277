//go:build !unix || darwin

package store

import (
	"context"
	"errors"
	"time"

	"github.com/zalando/go-keyring"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// SystemKeyring returns the keychain of macOS or the credential manager of Windows.
func SystemKeyring(_ func(string) string, limit time.Duration) Keyring { return Bound(native{}, limit) }

type native struct{}

func (native) Get(_ context.Context, service, account string) (config.Secret, error) {
	text, err := keyring.Get(service, account)
	return config.NewSecret(text), nativeError(err)
}

func (native) Set(_ context.Context, service, account string, secret config.Secret) error {
	return nativeError(keyring.Set(service, account, secret.Reveal()))
}

// nativeError drops what the system says: it is not ours to print.
func nativeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return refusal.New(refusal.SourceKeyring)
	}
	return keyringUnavailable("the system's keyring refuses")
}
