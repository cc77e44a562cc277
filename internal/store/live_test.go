//go:build livekeyring && unix && !darwin

package store

import (
	"os"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// The tests of this file speak to a real Secret Service. They are run by make live-keyring on a bus of their own, whose
// keyring is unlocked and holds nothing.

func TestLiveKeyring(t *testing.T) {
	k := SystemKeyring(os.Getenv, 2*time.Second)
	if _, err := k.Get(t.Context(), "mcpc-live", "none"); !refusal.Is(err, refusal.SourceKeyring) {
		t.Fatal("absent:", err)
	}
	for _, text := range []string{"first", "second"} {
		if err := k.Set(t.Context(), "mcpc-live", "entry", config.NewSecret(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := k.Get(t.Context(), "mcpc-live", "entry"); err != nil || got.Reveal() != text {
			t.Fatalf("got %q, %v", got.Reveal(), err)
		}
	}
	dir := t.TempDir()
	if err := inKeyring(dir, k).Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	again := inKeyring(dir, SystemKeyring(os.Getenv, 2*time.Second))
	if got, err := again.Get(t.Context(), docs); err != nil || got == nil {
		t.Fatal(err)
	}
	setLocked(t)
	begin := time.Now()
	if _, err := inKeyring(dir, k).Get(t.Context(), docs); !refusal.Is(err, refusal.CustodyKeyringLocked) {
		t.Fatal("locked:", err)
	}
	third := config.NewSecret("third")
	if err := k.Set(t.Context(), "mcpc-live", "entry", third); !refusal.Is(err, refusal.CustodyKeyringLocked) {
		t.Fatal("locked:", err)
	}
	if _, err := k.Get(t.Context(), "mcpc-live", "none"); !refusal.Is(err, refusal.CustodyKeyringLocked) {
		t.Fatal("locked, absent:", err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Fatal("a locked keyring took", took)
	}
}

// setLocked locks the default collection.
func setLocked(t *testing.T) {
	t.Helper()
	conn, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	service := conn.Object(secretsName, secretsPath)
	var collection, prompt dbus.ObjectPath
	if err := service.Call(serviceInterface+".ReadAlias", 0, "default").Store(&collection); err != nil {
		t.Fatal(err)
	}
	var locked []dbus.ObjectPath
	call := service.Call(serviceInterface+".Lock", 0, []dbus.ObjectPath{collection})
	if err := call.Store(&locked, &prompt); err != nil || len(locked) != 1 {
		t.Fatal(locked, prompt, err)
	}
}

// On a bus whose keyring could be started but is not, a command that is no sign-in does not start it.
func TestUnstartedKeyring(t *testing.T) {
	k := SystemKeyring(os.Getenv, 2*time.Second)
	_, err := k.Get(t.Context(), "mcpc-live", "entry")
	if !refusal.Is(err, refusal.CustodyKeyringLocked) && !refusal.Is(err, refusal.CustodyKeyring) {
		t.Fatal(err)
	}
	conn, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var owned bool
	owner := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, secretsName)
	if err := owner.Store(&owned); err != nil || owned {
		t.Fatal("the service was started:", owned, err)
	}
}
