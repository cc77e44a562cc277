//go:build livekeyring && linux

package custody

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"mcpc/internal/oauthflow/oauthtest"
)

// A bus that starts nothing: who is on it was started here.
const busConfiguration = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=%s</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`

// desktop is where a person's mcpc looks for a keyring. All that runs in it, mcpc and its children too, has the mark in
// its environment, so that what is left behind can be found.
type desktop struct {
	t    *testing.T
	dir  string // short, as sockets are in it
	mark string
	env  []string
}

func newDesktop(t *testing.T) *desktop {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &desktop{t: t, dir: dir, mark: "CUSTODY_MARK=" + rand.Text()}
}

// start runs a program until the test ends, with one line end on its stdin, and ends it by its number.
func (d *desktop) start(env []string, argv ...string) *bufio.Reader {
	d.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append([]string{d.mark, "PATH=" + os.Getenv("PATH"), "HOME=" + d.dir}, env...)
	cmd.Stdin = strings.NewReader("\n") // a login keyring with an empty password; no byte at all would make none
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return bufio.NewReader(out)
}

// bus starts a session bus.
func (d *desktop) bus() *desktop {
	d.t.Helper()
	file := filepath.Join(d.dir, "bus.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, busConfiguration, d.dir), 0o600); err != nil {
		d.t.Fatal(err)
	}
	address, err := d.start(nil, "dbus-daemon", "--config-file="+file, "--nofork", "--print-address=1").ReadString('\n')
	if err != nil {
		d.t.Fatal(err)
	}
	d.env = []string{"DBUS_SESSION_BUS_ADDRESS=" + strings.TrimSpace(address)}
	return d
}

// keyring starts the daemon, in the foreground, on the keyrings of a folder, and waits for it.
func (d *desktop) keyring(data string, more ...string) *desktop {
	d.t.Helper()
	env := append(slices.Clone(d.env), "XDG_RUNTIME_DIR="+d.dir, "XDG_DATA_HOME="+data)
	d.start(env, append([]string{"gnome-keyring-daemon", "--foreground", "--components=secrets"}, more...)...)
	conn, err := dbus.Connect(strings.TrimPrefix(d.env[0], "DBUS_SESSION_BUS_ADDRESS="))
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var owned bool
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.secrets").Store(&owned)
		if err == nil && owned {
			return d
		}
		if err != nil || time.Now().After(end) {
			d.t.Fatal("the keyring does not come: ", err)
		}
	}
}

// running returns the processes that have the mark. The browser is not among them: it is the person's, and may well
// still show its page when the sign-in is over.
func (d *desktop) running() []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		argv, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(environ, []byte(d.mark)) && !bytes.Contains(argv, []byte("\x00browser\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// keyrings returns a folder for keyrings. With a login keyring in it there is one that the next daemon finds locked.
func keyrings(t *testing.T, login bool) string {
	dir := t.TempDir()
	if login {
		t.Run("make", func(t *testing.T) { newDesktop(t).bus().keyring(dir, "--unlock") })
	}
	return dir
}

// mute is a bus that takes connections and says nothing.
func mute(t *testing.T) *desktop {
	d := newDesktop(t)
	l, err := net.Listen("unix", filepath.Join(d.dir, "mute"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d.env = []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(d.dir, "mute")}
	return d
}

func deadBus(t *testing.T) *desktop {
	d := newDesktop(t)
	d.env = []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(d.dir, "nobody")}
	return d
}

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
	{"locked", func(t *testing.T) *desktop { return newDesktop(t).bus().keyring(keyrings(t, true)) }, 0, 4, "custody.keyring_locked"},
	{"never made", func(t *testing.T) *desktop { return newDesktop(t).bus().keyring(keyrings(t, false)) }, 0, 2, "custody.key_unavailable"},
	{"bus without a service", func(t *testing.T) *desktop { return newDesktop(t).bus() }, 0, 2, "custody.key_unavailable"},
	{"dead bus", deadBus, 0, 2, "custody.key_unavailable"},
	{"no bus", newDesktop, 0, 2, "custody.key_unavailable"},
	{"silent bus", mute, 0, 4, "custody.keyring_timeout"},
}

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

// did runs a command and requires its end, and that it left no process, started no bus, was quick about the keyring, and
// put no secret on the disk.
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

// Every state a keyring can be in, at sign-in, refresh and sign-out. Where the key cannot be had nothing is asked of the
// server and nothing is written; signing out works in every state.
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
		if asked := newcomer.w.Requests("as POST /register"); len(asked) > 0 || newcomer.browsers() > 0 || len(newcomer.sealed()) > 0 {
			t.Errorf("%d registrations, %d browsers, %d sealed files", len(asked), newcomer.browsers(), len(newcomer.sealed()))
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
	if done := bytes.Contains(out.stdout, []byte("revocation: revoked")); done != (state.code == 0) || len(l.sealed()) != 0 {
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
