//go:build livekeyring && linux

package custody

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
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
)

// A bus that starts nothing: who is on it was started here.
const busConfiguration = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=%s</listen>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy>
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
