package store

import (
	"context"

	"mcpc/internal/config"
)

// Keyring is the desktop's secret store.
type Keyring interface {
	config.Keyring
	Set(ctx context.Context, service, account string, secret config.Secret) error
}
