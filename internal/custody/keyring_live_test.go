//go:build livekeyring && linux

package custody

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpc/internal/oauthflow/oauthtest"
)

// keyringState is a state that a keyring can be in, and what it makes of a command: exit code and refusal.
type keyringState struct {
	name    string
	desktop func(t *testing.T) *desktop
	length  int // of tokens
	code    int
	refusal string
}

var keyringStates = []keyringState{
	{"unlocked", unlocked, 0, 0, ""},
	{"unlocked, large tokens", unlocked, 64 << 10, 0, ""},
	{"locked", locked, 0, 4, "custody.keyring_locked"},
	{"never made", neverMade, 0, 2, "custody.key_unavailable"},
	{"bus without a service", bareBus, 0, 2, "custody.key_unavailable"},
	{"dead bus", deadBus, 0, 2, "custody.key_unavailable"},
	{"no bus", newDesktop, 0, 2, "custody.key_unavailable"},
	{"silent bus", mute, 0, 4, "custody.keyring_timeout"},
}

func locked(t *testing.T) *desktop    { return newDesktop(t).bus().keyring(keyrings(t, true)) }
func neverMade(t *testing.T) *desktop { return newDesktop(t).bus().keyring(keyrings(t, false)) }
func bareBus(t *testing.T) *desktop   { return newDesktop(t).bus() }
func unlocked(t *testing.T) *desktop {
	return newDesktop(t).bus().keyring(keyrings(t, false), "--unlock")
}

// live is a person at a desktop.
type live struct {
	*person
	*desktop
	t       *testing.T
	w       *oauthtest.World
	slowest time.Duration
}

func newLive(t *testing.T, d *desktop) *live {
	t.Helper()
	l := &live{person: newPerson(t), t: t, w: newWorld(t)}
	l.at(d)
	l.configure(docs(l.w), object{"keyring": object{}})
	return l
}

// at takes the person to a desktop. A dbus-launch is on the path that tells of being started.
func (l *live) at(d *desktop) {
	l.desktop = d
	tools := l.t.TempDir()
	script := "#!/bin/sh\necho started > " + filepath.Join(l.records, "dbus-launch") + "\n"
	if err := os.WriteFile(filepath.Join(tools, "dbus-launch"), []byte(script), 0o700); err != nil {
		l.t.Fatal(err)
	}
	without := slices.DeleteFunc(slices.Clone(l.person.env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "DBUS_SESSION_BUS_ADDRESS" || name == "PATH" || name == "CUSTODY_MARK"
	})
	l.person.env = append(append(without, "PATH="+tools+":"+os.Getenv("PATH"), d.mark), d.env...)
}

// did runs a command and requires its end, and that it left no process, started no bus, was quick about the keyring,
// and put no secret on the disk.
func (l *live) did(code int, refusal string, args ...string) outcome {
	l.t.Helper()
	before := l.running()
	o := l.must(code, refusal, args...)
	if after := l.running(); !slices.Equal(before, after) {
		l.t.Errorf("%v: running before %v, after %v", o, before, after)
	}
	if _, err := os.Stat(filepath.Join(l.records, "dbus-launch")); err == nil {
		l.t.Errorf("%v: a bus was started", o)
	}
	if l.slowest = max(l.slowest, o.took); o.took > 3*time.Second {
		l.t.Errorf("%v", o)
	}
	clean(l.t, l.person, l.w)
	return o
}

// Every state a keyring can be in, at sign-in, refresh and sign-out. Where the key cannot be had nothing is asked of
// the server and nothing is written; signing out works in every state.
func TestKeyringStates(t *testing.T) {
	for _, state := range keyringStates {
		t.Run(state.name, func(t *testing.T) { inState(t, state) })
	}
}

func inState(t *testing.T, state keyringState) {
	here := state.desktop(t)
	newcomer := newLive(t, here)
	newcomer.did(state.code, state.refusal, "login", "docs")
	if state.code != 0 {
		asked, opened, kept := len(newcomer.w.Requests("as POST /register")), newcomer.browsers(), len(newcomer.sealed())
		if asked+opened+kept > 0 {
			t.Errorf("%d registrations, %d browsers, %d sealed files", asked, opened, kept)
		}
	}

	// Somebody who signed in where that was possible. Only where the keyring is the same one does the refresh succeed.
	at := here
	if state.code != 0 {
		at = unlocked(t)
	}
	l := newLive(t, at)
	l.w.Lengthen(state.length)
	l.did(0, "", "login", "docs")
	l.at(here)
	l.w.Expire()
	before := l.sealed()
	l.did(state.code, state.refusal, "discover", "docs")
	if state.code != 0 && !maps.EqualFunc(before, l.sealed(), bytes.Equal) {
		t.Error("a refusal changed a sealed file")
	}
	if n := len(l.w.Requests("as POST /token")); n != map[bool]int{true: 2, false: 1}[state.code == 0] {
		t.Errorf("%d token requests", n)
	}
	l.did(0, "", "credentials")
	out := l.did(0, "", "logout", "docs")
	revoked := bytes.Contains(out.stdout, []byte("revocation: revoked"))
	if revoked != (state.code == 0) || len(l.sealed()) != 0 {
		t.Errorf("%v%d sealed files are left", out, len(l.sealed()))
	}
	t.Logf("%-24s sign-in and refresh exit %d %s; slowest command %v", state.name, state.code, state.refusal,
		max(newcomer.slowest, l.slowest).Round(time.Millisecond))
}

// The key is there and its keyring is locked, as after a restart without a display.
func TestKeyringLockedAgain(t *testing.T) {
	dir := keyrings(t, false)
	l := newLive(t, newDesktop(t))
	t.Run("unlocked", func(t *testing.T) {
		l.at(newDesktop(t).bus().keyring(dir, "--unlock"))
		l.did(0, "", "login", "docs")
	})
	l.at(newDesktop(t).bus().keyring(dir))
	l.w.Expire()
	before := l.sealed()
	for _, args := range [][]string{{"discover", "docs"}, {"login", "docs"}} {
		l.did(4, "custody.keyring_locked", args...)
	}
	if !maps.EqualFunc(before, l.sealed(), bytes.Equal) || l.browsers() != 1 {
		t.Errorf("a file changed, or one of %d browsers was opened in vain", l.browsers())
	}
	l.did(0, "", "logout", "docs")
}

// Several secrets in a keyring that says nothing cost its time once.
func TestSilentKeyringCostsItsTimeOnce(t *testing.T) {
	l := newLive(t, unlocked(t))
	notes := newWorld(t)
	for _, w := range []*oauthtest.World{l.w, notes} {
		l.configure(docs(w), object{"keyring": object{}})
		l.did(0, "", "login", "docs")
	}
	l.at(mute(t))
	entry := func(account string) object { return object{"keyring": object{"service": "s", "account": account}} }
	l.configure(object{"docs": object{
		"http":  object{"url": l.w.Endpoint(), "headers": object{"X-A": entry("a"), "X-B": entry("b")}},
		"oauth": object{"client": object{"id": "x", "issuer": l.w.AS.URL, "secret": entry("c")}},
	}}, object{"keyring": object{}})
	l.did(4, "custody.keyring_timeout", "discover", "docs")
	l.did(4, "custody.keyring_timeout", "login", "docs")
	l.did(0, "", "logout", "docs")
}

// Headers and client secrets come from the keyring too, from entries that the desktop's own tool made.
func TestKeyringAsSource(t *testing.T) {
	l := newLive(t, unlocked(t))
	for account, secret := range map[string]string{"header": "canary-keyring-header", "client": "canary-keyring-client"} {
		cmd := exec.Command("secret-tool", "store", "--label=test", "service", "docs", "username", account)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), l.mark}, l.desktop.env...)
		cmd.Stdin = strings.NewReader(secret)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	callback := freeAddress(t)
	l.w.Server("token_endpoint_auth_methods_supported", []string{"client_secret_basic"})
	l.w.Preregister("desk", "canary-keyring-client", "client_secret_basic", "http://"+callback+"/callback")
	entry := func(account string) object { return object{"keyring": object{"service": "docs", "account": account}} }
	configure := func(header string) {
		l.configure(object{"docs": object{
			"http": object{"url": l.w.Endpoint(), "headers": object{"X-Api-Key": entry(header)}},
			"oauth": object{"callback": callback, "client": object{
				"id": "desk", "issuer": l.w.AS.URL, "secret": entry("client"),
			}},
		}}, object{"keyring": object{}})
	}
	configure("header")
	l.did(0, "", "login", "docs")
	l.w.Expire()
	l.did(0, "", "discover", "docs")
	for _, r := range l.w.Requests("mcp POST /mcp") {
		if r.Header.Get("X-Api-Key") != "canary-keyring-header" {
			t.Errorf("header %q", r.Header.Get("X-Api-Key"))
		}
	}
	if n := len(l.w.Requests("as POST /token")); n != 2 {
		t.Errorf("%d token requests", n)
	}
	for path, data := range files(t, l.home) {
		if bytes.Contains(data, []byte("canary-keyring")) {
			t.Errorf("%s holds a secret of the keyring", path)
		}
	}
	configure("nothing")
	l.did(2, "source.keyring", "discover", "docs")
}
