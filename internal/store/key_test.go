package store

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// fakeKeyring is a keyring in memory that can be in each of the states a real one can be in.
type fakeKeyring struct {
	mu      sync.Mutex
	entries map[string]string
	get     error // what Get answers instead
	forgets bool  // Set says yes and keeps nothing
	unlocks int   // how often a person was asked
	sets    int
}

func (k *fakeKeyring) Get(_ context.Context, service, account string) (config.Secret, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.get != nil {
		return config.Secret{}, k.get
	}
	if text, ok := k.entries[service+"/"+account]; ok {
		return config.NewSecret(text), nil
	}
	return config.Secret{}, refusal.New(refusal.SourceKeyring)
}

func (k *fakeKeyring) Set(_ context.Context, service, account string, secret config.Secret) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sets++
	if k.entries == nil {
		k.entries = map[string]string{}
	}
	if !k.forgets {
		k.entries[service+"/"+account] = secret.Reveal()
	}
	return nil
}

func (k *fakeKeyring) Unlock(context.Context) error {
	k.unlocks++
	k.get = nil
	return nil
}

func inKeyring(dir string, k Keyring) *Credentials {
	key := &Key{Source: config.Source{Keyring: &config.KeyringItem{}}, Keyring: k}
	return OpenCredentials(Dirs{Data: dir}, key, config.DefaultLimits())
}

func TestKeyringStates(t *testing.T) {
	t.Parallel()
	locked := refusal.New(refusal.CustodyKeyringLocked)
	timeout := refusal.New(refusal.CustodyKeyringTimeout, refusal.Num("limit", 2000))
	none := refusal.CustodyKeyUnavailable
	noKey := &fakeKeyring{entries: map[string]string{"mcpc/custody-key": "AAAA"}}
	for _, tt := range []struct {
		name    string
		keyring Keyring
		want    *refusal.Entry // of a sign-in with nothing stored, and of a read and a sign-in with something stored
		stored  *refusal.Entry
	}{
		{"absent", &fakeKeyring{}, nil, refusal.CustodyKeyLost},
		{"locked", &fakeKeyring{get: locked}, refusal.CustodyKeyringLocked, refusal.CustodyKeyringLocked},
		{"timed out", &fakeKeyring{get: timeout}, refusal.CustodyKeyringTimeout, refusal.CustodyKeyringTimeout},
		{"unavailable", &fakeKeyring{get: keyringUnavailable("x")}, none, none},
		{"none", nil, none, none},
		{"forgetful", &fakeKeyring{forgets: true}, refusal.CustodyKeyUnavailable, refusal.CustodyKeyLost},
		{"not a key", noKey, refusal.CustodyKeyInvalid, refusal.CustodyKeyInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			err := inKeyring(dir, tt.keyring).Replace(t.Context(), sample(docs))
			if tt.want == nil && err != nil || tt.want != nil && !refusal.Is(err, tt.want) {
				t.Fatalf("nothing stored: %v", err)
			}
			for _, name := range names(t, filepath.Join(dir, "credentials")) {
				if tt.want != nil && strings.HasSuffix(name, sealedSuffix) {
					t.Fatal("wrote", name)
				}
			}
		})
		t.Run(tt.name+" with something stored", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := inKeyring(dir, &fakeKeyring{}).Replace(t.Context(), sample(docs)); err != nil {
				t.Fatal(err)
			}
			path := inKeyring(dir, nil).path(docs)
			before := string(mustRead(t, path))
			k := tt.keyring
			if tt.want == nil {
				k = &fakeKeyring{} // the entry is gone
			}
			c := inKeyring(dir, k)
			if _, err := c.Get(t.Context(), docs); !refusal.Is(err, tt.stored) {
				t.Errorf("get: %v", err)
			}
			if err := c.Replace(t.Context(), sample(docs)); !refusal.Is(err, tt.stored) {
				t.Errorf("replace: %v", err)
			}
			if err := c.Prepare(t.Context()); !refusal.Is(err, tt.stored) {
				t.Errorf("prepare: %v", err)
			}
			if f, ok := k.(*fakeKeyring); ok && f.sets > 0 && !f.forgets {
				t.Error("a key was written over a lost one")
			}
			if string(mustRead(t, path)) != before {
				t.Error("the file was changed")
			}
		})
	}
}

// Only a sign-in has a person asked.
func TestUnlockingIsForSignInOnly(t *testing.T) {
	t.Parallel()
	for _, interactive := range []bool{false, true} {
		k := &fakeKeyring{get: refusal.New(refusal.CustodyKeyringLocked)}
		c := inKeyring(t.TempDir(), Bound(k, config.DefaultLimits().Keyring))
		c.key.Interactive = interactive
		err := c.Prepare(t.Context())
		if interactive != (err == nil) || interactive != (k.unlocks == 1) ||
			!interactive && !refusal.Is(err, refusal.CustodyKeyringLocked) {
			t.Errorf("interactive %v: asked %d times, %v", interactive, k.unlocks, err)
		}
	}
}

// Many first sign-ins at once, each for another server, agree on one key.
func TestOneKeyIsMade(t *testing.T) {
	t.Parallel()
	shared := &fakeKeyring{}
	for name, open := range map[string]func(dir string) *Credentials{
		"file": inFolder, "keyring": func(dir string) *Credentials { return inKeyring(dir, shared) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bindings := make([]Binding, 8)
			var wg sync.WaitGroup
			for i := range bindings {
				bindings[i] = Binding{"https://h.example/" + string(rune('a'+i)), docs.Issuer}
				wg.Go(func() {
					if err := open(dir).Replace(t.Context(), sample(bindings[i])); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, b := range bindings {
				if got, err := open(dir).Get(t.Context(), b); err != nil || got == nil {
					t.Error(b, err)
				}
			}
		})
	}
}

func TestAnotherKeyKeepsTheOldFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := inKeyring(dir, &fakeKeyring{}).Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	other := &fakeKeyring{entries: map[string]string{
		"mcpc/custody-key": base64.StdEncoding.EncodeToString(make([]byte, keyBytes)),
	}}
	c := inKeyring(dir, other)
	old := string(mustRead(t, c.path(docs)))
	if _, err := c.Get(t.Context(), docs); !refusal.Is(err, refusal.CustodyAltered) {
		t.Fatal(err)
	}
	for n := range 2 {
		if err := c.Replace(t.Context(), sample(docs)); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Get(t.Context(), docs); err != nil || got.Generation != uint64(n+1) {
			t.Fatal(got, err)
		}
	}
	if string(mustRead(t, c.path(docs)+".unopened-1")) != old {
		t.Fatal("the old file was not kept")
	}
}

func TestKeySources(t *testing.T) {
	t.Parallel()
	good := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", keyBytes)))
	for _, tt := range []struct {
		name, value string
		want        *refusal.Entry
	}{
		{"good", good, nil},
		{"with a line end", good + "\n", nil},
		{"short", base64.StdEncoding.EncodeToString(make([]byte, 31)), refusal.CustodyKeyInvalid},
		{"long", base64.StdEncoding.EncodeToString(make([]byte, 33)), refusal.CustodyKeyInvalid},
		{"hex", strings.Repeat("ab", 32), refusal.CustodyKeyInvalid},
		{"32 characters", strings.Repeat("a", 32), refusal.CustodyKeyInvalid},
		{"empty", "", refusal.SourceEmpty},
		{"large", strings.Repeat("a", 5000), refusal.CustodyKeyInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := config.Environment{LookupEnv: func(string) (string, bool) { return tt.value, true }}
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, []byte(tt.value), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, source := range []config.Source{{Env: "KEY"}, {File: path}} {
				c := OpenCredentials(Dirs{Data: t.TempDir()}, &Key{Source: source, Environment: env}, config.DefaultLimits())
				err := c.Replace(t.Context(), sample(docs))
				want := tt.want
				if source.File != "" && want == refusal.SourceEmpty {
					want = refusal.CustodyKeyInvalid
				}
				if want == nil && err != nil || want != nil && !refusal.Is(err, want) {
					t.Errorf("%+v: %v", source, err)
				}
			}
			if got := string(mustRead(t, path)); got != tt.value {
				t.Errorf("the key file now holds %q", got)
			}
		})
	}
	unset := config.Environment{LookupEnv: func(string) (string, bool) { return "", false }}
	key := &Key{Source: config.Source{Env: "KEY"}, Environment: unset}
	c := OpenCredentials(Dirs{Data: t.TempDir()}, key, config.DefaultLimits())
	if err := c.Prepare(t.Context()); !refusal.Is(err, refusal.SourceUnset) {
		t.Error(err)
	}
}

// A refusal of custody or of a key holds no secret.
func TestCustodyErrorsHoldNoSecret(t *testing.T) {
	t.Parallel()
	k := &fakeKeyring{entries: map[string]string{"mcpc/custody-key": "key-canary"}}
	err := inKeyring(t.TempDir(), k).Replace(t.Context(), sample(docs))
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "canary") {
			t.Fatal(e)
		}
	}
	if err == nil {
		t.Fatal("no error")
	}
}
