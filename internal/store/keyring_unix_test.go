//go:build unix && !darwin

package store

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcpc/internal/refusal"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// Where there is no bus nothing is dialled, since dialling would start one.
func TestBusAddress(t *testing.T) {
	t.Parallel()
	empty, plain, live := t.TempDir(), t.TempDir(), shortTempDir(t)
	if err := os.WriteFile(filepath.Join(plain, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(live, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const several = "unix:abstract=/x,guid=1;unix:path=/y"
	for _, tt := range []struct {
		vars map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"XDG_RUNTIME_DIR": empty}, ""},
		{map[string]string{"XDG_RUNTIME_DIR": plain}, ""},
		{map[string]string{"XDG_RUNTIME_DIR": "relative"}, ""},
		{map[string]string{"XDG_RUNTIME_DIR": live}, "unix:path=" + filepath.Join(live, "bus")},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}, "unix:path=/x"},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": several}, several},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": "autolaunch:"}, ""},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": "tcp:host=h.example,port=1"}, ""},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/x;unixexec:path=dbus-launch"}, ""},
		{map[string]string{"DBUS_SESSION_BUS_ADDRESS": "disabled:", "XDG_RUNTIME_DIR": live}, ""},
	} {
		if got := busAddress(env(tt.vars)); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.vars, got, tt.want)
		}
	}
}

// shortTempDir is a folder whose sockets have short enough names.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcpc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestSystemKeyringWithoutABus(t *testing.T) {
	t.Parallel()
	for _, vars := range []map[string]string{nil, {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"}} {
		k := SystemKeyring(env(vars), time.Minute)
		if _, err := k.Get(t.Context(), "s", "a"); !refusal.Is(err, refusal.CustodyKeyring) {
			t.Errorf("%v: %v", vars, err)
		}
		c := inKeyring(t.TempDir(), k)
		err := c.Prepare(t.Context())
		if !refusal.Is(err, refusal.CustodyKeyUnavailable) || refusal.From(err).HintText() == "" {
			t.Errorf("%v: %v", vars, err)
		}
	}
}

// A bus that takes the connection and says nothing.
func TestSystemKeyringOnASilentBus(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k := SystemKeyring(env(map[string]string{"XDG_RUNTIME_DIR": dir}), 50*time.Millisecond)
	if _, err := k.Get(t.Context(), "s", "a"); !refusal.Is(err, refusal.CustodyKeyringTimeout) {
		t.Fatal(err)
	}
}
