package config

import (
	"fmt"
	"log/slog"
	"slices"
)

// Source names where a secret comes from. Exactly one member is set.
type Source struct {
	Env     string
	File    string
	Keyring *KeyringItem
	Command []string // argv; its stdout without the last line end is the secret
}

// KeyringItem is an entry of the desktop's keyring. The zero value is mcpc's own entry.
type KeyringItem struct {
	Service string
	Account string
}

// SecretNames returns the environment variables that hold secrets, as every source of the configuration names them.
func (c *Config) SecretNames() []string {
	names := []string{c.Custody.Key.Env}
	for _, s := range c.Servers {
		if s.HTTP != nil {
			for _, h := range s.HTTP.Headers {
				names = append(names, h.Source.Env)
			}
		}
		if s.OAuth != nil && s.OAuth.Client != nil && s.OAuth.Client.Secret != nil {
			names = append(names, s.OAuth.Client.Secret.Env)
		}
	}
	slices.Sort(names)
	return slices.Compact(slices.DeleteFunc(names, func(n string) bool { return n == "" }))
}

// Secret is a secret value. Every way of printing it gives "[secret]"; Reveal is the one way to the value.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the value, for the one place that sends or seals it.
func (s Secret) Reveal() string { return s.value }

// Empty reports whether there is no value.
func (s Secret) Empty() bool { return s.value == "" }

const redacted = "[secret]"

func (s Secret) String() string               { return redacted }
func (s Secret) GoString() string             { return redacted }
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }

// Format keeps %v, %+v, %#v, %x and every other verb from reaching the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }
