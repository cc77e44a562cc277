package config

import "context"

// Environment is what a source may be read from, so that no package reads the process environment by itself.
type Environment struct {
	LookupEnv func(name string) (value string, ok bool)
	Keyring   Keyring // nil where there is none
}

// Keyring is the desktop's secret store. An error is a refusal, source.* or custody.*.
type Keyring interface {
	Get(ctx context.Context, service, account string) (Secret, error)
}
