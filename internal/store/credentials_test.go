package store

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

var revealed = cmp.Transformer("reveal", func(s config.Secret) string { return s.Reveal() })

func TestCredentialRoundTrip(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	if got, err := c.Get(t.Context(), docs); got != nil || err != nil {
		t.Fatalf("before the first: %v, %v", got, err)
	}
	cred := sample(docs)
	cred.Expiry = time.Date(2026, 12, 1, 15, 4, 5, 123, time.FixedZone("x", 3600))
	cred.RevocationEndpoint, cred.Generation, cred.Presented, cred.Handle = "https://as.example/revoke", 99, true, "mine"
	if err := c.Replace(t.Context(), cred); err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(t.Context(), docs)
	if err != nil || len(got.Handle) != 10 || got.Handle == "mine" {
		t.Fatalf("%+v, %v", got, err)
	}
	want := cred.clone()
	want.Expiry = time.Date(2026, 12, 1, 14, 4, 5, 0, time.UTC)
	want.Generation, want.Presented, want.Handle = 1, false, got.Handle
	if diff := cmp.Diff(want, got, revealed); diff != "" {
		t.Fatal(diff)
	}
	entries, err := c.Of(docs.Resource)
	wantEntry := Entry{docs, cred.Indicator, "client", cred.Scopes, want.Expiry, true, got.Handle, 1}
	if diff := cmp.Diff([]Entry{wantEntry}, entries); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if other, err := c.Of("https://h.example"); other != nil || err != nil {
		t.Fatal(other, err)
	}
	again := inFolder(filepath.Dir(c.dir)) // another process would read the key from its file
	if got, err := again.Get(t.Context(), docs); err != nil || got.AccessToken.Reveal() != "access-canary" {
		t.Fatal(got, err)
	}
}

// Exact strings are the key: not the host, not a normal form.
func TestBindingsDoNotShareAFile(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	bindings := []Binding{
		{"https://h.example/a", "https://as.example"},
		{"https://h.example/b", "https://as.example"},
		{"https://h.example/a", "https://as.example/"},
		{"http://h.example/a", "https://as.example"},
		{"https://h.example:8443/a", "https://as.example"},
		{"https://H.example/a", "https://as.example"},
		{"https://h.example/a\"", "https://as.example"},
		{"https://h.example/a", "\"https://as.example"},
		{"https://as.example", "https://h.example/a"},
	}
	for i, b := range bindings {
		cred := sample(b)
		cred.AccessToken = config.NewSecret(fmt.Sprint("token ", i))
		if err := c.Replace(t.Context(), cred); err != nil {
			t.Fatal(err)
		}
	}
	for i, b := range bindings {
		got, err := c.Get(t.Context(), b)
		if err != nil || got.AccessToken.Reveal() != fmt.Sprint("token ", i) || got.Generation != 1 {
			t.Errorf("%v: %+v, %v", b, got, err)
		}
	}
	if all, err := c.List(); err != nil || len(all) != len(bindings) {
		t.Fatal(all, err)
	}
}

// A byte that differs anywhere keeps the file from opening, and the file is left as it is.
func TestEveryFlippedByteKeepsTheFileShut(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	path := c.path(docs)
	whole := mustRead(t, path)
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, data []byte) {
		write(data)
		if got, err := c.Get(t.Context(), docs); got != nil || !refusal.Is(err, refusal.CustodyAltered) {
			t.Fatalf("%s: %+v, %v", what, got, err)
		}
	}
	for i := range whole {
		for _, flip := range []byte{0x01, 0x20, 0x80, 0xff} {
			data := bytes.Clone(whole)
			data[i] ^= flip
			check(fmt.Sprintf("byte %d ^ %#x", i, flip), data)
		}
	}
	for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		check(fmt.Sprint("cut to ", n), whole[:n])
	}
	check("one more", append(bytes.Clone(whole), 0))
	check("a space in the header", append([]byte(" "), whole...))

	altered := append(bytes.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1)
	write(altered)
	for what, f := range map[string]func(*Tx) error{"transact": func(tx *Tx) error { return tx.Put(sample(docs)) }} {
		if err := c.Transact(t.Context(), docs, f); !refusal.Is(err, refusal.CustodyAltered) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if !bytes.Equal(mustRead(t, path), altered) {
		t.Fatal("a refusal changed the file")
	}
	// A new sign-in replaces it, and keeps what did not open.
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), docs); err != nil || got.Generation != 1 {
		t.Fatal(got, err)
	}
	if !bytes.Equal(mustRead(t, path+".unopened-1"), altered) {
		t.Fatal("the old file was not kept")
	}
	write(whole)
	if got, err := c.Get(t.Context(), docs); err != nil || got == nil {
		t.Fatal("the whole file no longer opens", err)
	}
}

// Of N files each is put in the place of each other one: N×(N−1) exchanges, none opens.
func TestExchangedFilesDoNotOpen(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	var bindings []Binding
	for _, resource := range []string{"https://h.example/a", "https://h.example/b", "https://i.example/"} {
		for _, issuer := range []string{"https://as.example", "https://evil.example"} {
			bindings = append(bindings, Binding{resource, issuer})
		}
	}
	files := map[Binding][]byte{}
	for _, b := range bindings {
		if err := c.Replace(t.Context(), sample(b)); err != nil {
			t.Fatal(err)
		}
		files[b] = mustRead(t, c.path(b))
	}
	opened := 0
	for _, b := range bindings {
		for _, o := range bindings {
			if err := os.WriteFile(c.path(b), files[o], 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := c.Get(t.Context(), b)
			switch {
			case b == o && err == nil && got.Binding == b:
				opened++
			case b != o && got == nil && refusal.Is(err, refusal.CustodyAltered):
			default:
				t.Fatalf("%v in the place of %v: %+v, %v", o, b, got, err)
			}
		}
		if err := os.WriteFile(c.path(b), files[b], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if opened != len(bindings) {
		t.Fatalf("%d of %d open in their own place", opened, len(bindings))
	}
	// Nor does a file whose clear line was rewritten to fit its new place.
	a, b := bindings[0], bindings[1]
	forged := bytes.Replace(files[a], []byte(a.Issuer), []byte(b.Issuer), 1)
	if err := os.WriteFile(c.path(b), forged, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), b); got != nil || !refusal.Is(err, refusal.CustodyAltered) {
		t.Fatalf("a rewritten header: %+v, %v", got, err)
	}
}

// No spelling of a secret is in any file.
func TestNoSecretIsOnDiskInTheClear(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := inFolder(dir)
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	reg := Registration{Issuer: docs.Issuer, ClientID: "client", Secret: config.NewSecret("secret-canary")}
	if err := c.KeepRegistration(t.Context(), reg); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, canary := range []string{"access-canary", "refresh-canary", "secret-canary"} {
			for _, spelling := range []string{
				canary, hex.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte(canary))[:8],
			} {
				if bytes.Contains(data, []byte(spelling)) {
					t.Errorf("%s holds %s", path, spelling)
				}
			}
		}
		return err
	})
	if err != nil || files < 3 {
		t.Fatal(files, err)
	}
}

func TestTransaction(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	put := func(tx *Tx) error { return tx.Put(sample(docs)) }
	if err := c.Transact(t.Context(), docs, put); err != nil {
		t.Fatal(err)
	}
	first, _ := c.Get(t.Context(), docs)
	failure := errors.New("the caller's")
	err := c.Transact(t.Context(), docs, func(tx *Tx) error {
		if err := tx.Present(); err != nil {
			return err
		}
		if on, err := c.Get(t.Context(), docs); err != nil || !on.Presented || on.Generation != 1 {
			t.Errorf("marked: %+v, %v", on, err)
		}
		tx.Current().Scopes[0] = "changed outside"
		return failure
	})
	if !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), docs); err != nil || !got.Presented || got.Scopes[0] != "read" {
		t.Fatalf("the mark stays: %+v, %v", got, err)
	}
	if err := c.Transact(t.Context(), docs, func(tx *Tx) error { return tx.Clear() }); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Get(t.Context(), docs); got.Presented || got.Generation != 1 {
		t.Fatalf("cleared: %+v", got)
	}
	if err := c.Transact(t.Context(), docs, put); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Get(t.Context(), docs); got.Generation != 2 || got.Handle != first.Handle {
		t.Fatalf("a second put: %+v", got)
	}
	if err := c.Transact(t.Context(), docs, func(tx *Tx) error { return tx.Delete() }); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), docs); got != nil || err != nil {
		t.Fatal(got, err)
	}
}

func TestTooLargeLeavesTheOldOne(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	long := sample(docs)
	long.AccessToken = config.NewSecret(strings.Repeat("x", 3000)) // does not fit the credential manager of Windows
	if err := c.Replace(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	huge := sample(docs)
	huge.AccessToken = config.NewSecret(strings.Repeat("x", maxSealedBytes))
	if err := c.Replace(t.Context(), huge); !refusal.Is(err, refusal.CustodyTooLarge) {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), docs); err != nil || got.AccessToken.Reveal() != long.AccessToken.Reveal() {
		t.Fatal(got, err)
	}
}

func TestModesAreCheckedOnReading(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // no mode bits there
	}
	dir := t.TempDir()
	c := inFolder(dir)
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	path, key := c.path(docs), filepath.Join(dir, "key", "custody.key")
	for p, mode := range map[string]fs.FileMode{path: 0o600, key: 0o600, c.dir: 0o700, filepath.Dir(key): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s was made with %v (%v)", p, info.Mode(), err)
		}
	}
	for _, p := range []string{path, key, c.dir} {
		for _, extra := range []fs.FileMode{0o004, 0o040, 0o002, 0o020} {
			before, _ := os.Stat(p)
			if err := os.Chmod(p, before.Mode().Perm()|extra); err != nil {
				t.Fatal(err)
			}
			fresh := inFolder(dir)
			_, get := fresh.Get(t.Context(), docs)
			replace := fresh.Replace(t.Context(), sample(docs))
			if !refusal.Is(get, refusal.CustodyMode) || !refusal.Is(replace, refusal.CustodyMode) {
				t.Errorf("%s with %o: %v, %v", p, extra, get, replace)
			}
			if err := os.Chmod(p, before.Mode().Perm()); err != nil {
				t.Fatal(err)
			}
		}
	}
	moved := filepath.Join(dir, "elsewhere")
	if err := errors.Join(os.Rename(path, moved), os.Symlink(moved, path)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), docs); !refusal.Is(err, refusal.CustodyRead) {
		t.Errorf("a link: %v", err)
	}
}

func TestForgetNeedsNoKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := inFolder(dir).Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	c := inFolder(dir)
	if all, err := c.List(); err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if _, err := c.Get(t.Context(), docs); !refusal.Is(err, refusal.CustodyKeyLost) {
		t.Fatal(err)
	}
	if err := c.Replace(t.Context(), sample(docs)); !refusal.Is(err, refusal.CustodyKeyLost) {
		t.Fatal("a lost key was replaced:", err)
	}
	if found, err := c.Forget(t.Context(), docs); !found || err != nil {
		t.Fatal(found, err)
	}
	if found, err := c.Forget(t.Context(), docs); found || err != nil {
		t.Fatal(found, err)
	}
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal("after all are forgotten a new key can be made:", err)
	}
}

func TestRegistrations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := inFolder(dir)
	if r, err := c.Registration(t.Context(), docs.Issuer); r != nil || err != nil {
		t.Fatal(r, err)
	}
	first := Registration{
		Issuer: docs.Issuer, ClientID: "c1", Secret: config.NewSecret("s"), SecretExpiry: time.Unix(1_800_000_000, 0).UTC(),
		AuthMethod: "client_secret_post", RedirectURI: "http://127.0.0.1:1/",
	}
	second := first
	second.ClientID, second.RedirectURI = "c2", "http://127.0.0.1:2/"
	for _, r := range []Registration{first, second} {
		if err := c.KeepRegistration(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		got, err := c.Registration(t.Context(), docs.Issuer)
		if diff := cmp.Diff(&r, got, revealed); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	}
	if r, err := c.Registration(t.Context(), docs.Issuer+"/"); r != nil || err != nil {
		t.Fatal(r, err)
	}
	if all, err := c.List(); err != nil || len(all) != 0 {
		t.Fatal("a registration is no credential:", all, err)
	}
	// One that does not open counts as none, and is kept when another takes its place.
	path := c.registrationPath(docs.Issuer)
	data := mustRead(t, path)
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Registration(t.Context(), docs.Issuer); r != nil || err != nil {
		t.Fatal(r, err)
	}
	if err := c.KeepRegistration(t.Context(), first); err != nil || !bytes.Equal(mustRead(t, path+".unopened-1"), data) {
		t.Fatal(err)
	}
}

func TestListReturnsTheOthersBesideAnError(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	other := Binding{"https://i.example/", "https://as.example"}
	for _, b := range []Binding{docs, other} {
		if err := c.Replace(t.Context(), sample(b)); err != nil {
			t.Fatal(err)
		}
	}
	// A whole file under a name that is not its own is none of ours either.
	if err := os.WriteFile(c.path(docs), mustRead(t, c.path(other)), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := c.List()
	if !refusal.Is(err, refusal.CustodyAltered) || len(all) != 1 || all[0].Binding != other {
		t.Fatal(all, err)
	}
	if all, err := c.Of(other.Resource); err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if all, err := c.Of(docs.Resource); !refusal.Is(err, refusal.CustodyAltered) || all != nil {
		t.Fatal(all, err)
	}
}
