package store

import "mcpc/internal/config"

// Key is the 32-byte key that seals credentials, by where it comes from.
type Key struct {
	Source      config.Source
	Environment config.Environment
	Keyring     Keyring // where the source is the keyring
	Interactive bool    // only a sign-in may unlock the keyring or start its service
}
