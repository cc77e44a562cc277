package store

import (
	"os"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

func TestReady(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	if err := c.Ready(t.Context()); err != nil {
		t.Fatalf("before the first: %v", err)
	}
	if _, err := os.Stat(c.key.Source.File); err == nil {
		t.Error("a key was made")
	}
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("with a key: %v", err)
	}
	if err := os.Remove(c.key.Source.File); err != nil {
		t.Fatal(err)
	}
	again := OpenCredentials(Dirs{}, &Key{Source: c.key.Source}, c.limits)
	again.dir = c.dir
	if err := again.Ready(t.Context()); !refusal.Is(err, refusal.CustodyKeyLost) {
		t.Errorf("without the key: %v", err)
	}
	none := OpenCredentials(Dirs{Data: t.TempDir()}, &Key{Source: config.Source{Keyring: &config.KeyringItem{}}}, c.limits)
	if err := none.Ready(t.Context()); !refusal.Is(err, refusal.CustodyKeyUnavailable) {
		t.Errorf("without a keyring: %v", err)
	}
}

func TestForgetRegistration(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	if err := c.ForgetRegistration(t.Context(), docs.Issuer); err != nil {
		t.Fatalf("before the first: %v", err)
	}
	if err := c.KeepRegistration(t.Context(), sample(docs).Client); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.key.Source.File); err != nil {
		t.Fatal(err)
	}
	if err := c.ForgetRegistration(t.Context(), docs.Issuer); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Registration(t.Context(), docs.Issuer); r != nil || err != nil {
		t.Errorf("%v %v", r, err)
	}
}
