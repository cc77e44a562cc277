package oauthflow_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
)

func sealedIn(dir string) oauthflow.Store {
	key := &store.Key{Source: config.Source{File: filepath.Join(dir, "key", "custody.key")}}
	return oauthflow.Sealed(store.OpenCredentials(store.Dirs{Data: dir}, key, config.DefaultLimits()))
}

func sealedFiles(t *testing.T, dir string) (names []string, all []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		names, all = append(names, p), append(all, data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, all
}

func TestSealedStore(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Server("token_endpoint_auth_methods_supported", []string{"client_secret_post"})
	f, _ := newFlow(t, w)
	dir := t.TempDir()
	f.Store = sealedIn(dir)
	mustLogin(t, f)

	// Processes of their own, each with its own open store.
	const processes, expiries = 4, 3
	for range expiries {
		w.Expire()
		var wg sync.WaitGroup
		for range processes {
			wg.Go(func() {
				mine := *f
				mine.Store = sealedIn(dir)
				if status, err := call(t, w, mine.Authorizer()); err != nil || status != 200 {
					t.Errorf("status %d, %v", status, err)
				}
			})
		}
		wg.Wait()
	}
	if n := len(w.Requests(tokenLine)); n != 1+expiries {
		t.Errorf("%d token requests", n)
	}
	_, all := sealedFiles(t, dir)
	for _, secret := range w.Secrets() {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("%s lies open on disk", secret[:12])
		}
	}

	w.On(tokenLine, oauthtest.JSON(400, `{"error":"invalid_client"}`))
	w.Expire()
	_, err := call(t, w, f.Authorizer())
	refused(t, w, err, refusal.OAuthLoginRequired)
	w.Off(tokenLine)
	mustLogin(t, f)
	if n := len(w.Requests(registerLine)); n != 2 {
		t.Errorf("%d registrations", n)
	}
	if gone, err := f.Logout(t.Context(), true); err != nil || len(gone) != 1 || gone[0].Revocation != oauthflow.RevocationDone {
		t.Errorf("%+v %v", gone, err)
	}
	if entries, err := f.Store.Of(f.Endpoint); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestFailedSignInLeavesNoFile(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.On(tokenLine, oauthtest.JSON(400, `{"error":"invalid_grant"}`))
	f, _ := newFlow(t, w)
	dir := t.TempDir()
	f.Store = sealedIn(dir)
	_, err := login(t, f)
	refused(t, w, err, refusal.OAuthTokenError)
	if names, _ := sealedFiles(t, dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestNoKeyNoBrowser(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	key := &store.Key{Source: config.Source{Keyring: &config.KeyringItem{}}}
	f.Store = oauthflow.Sealed(store.OpenCredentials(store.Dirs{Data: t.TempDir()}, key, config.DefaultLimits()))
	p, err := f.Plan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Login(t.Context(), p, oauthflow.Ask{Open: oauthtest.Unopened(t)})
	refused(t, w, err, refusal.CustodyKeyUnavailable)
	never(registerLine)(t, w, nil, nil)
}
