//go:build unix && !darwin

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// SystemKeyring returns the Secret Service of the session (the desktop's keyring). It is spoken to directly, since the
// library used elsewhere cannot say that it is locked, prompts by itself, waits for ever, and starts a bus where there
// is none.
func SystemKeyring(getenv func(string) string, limit time.Duration) Keyring {
	return Bound(secretService{busAddress(getenv)}, limit)
}

// busAddress returns the session bus that is there, and "" for none. An address that would have a bus started, or lead
// to another machine, counts as none.
func busAddress(getenv func(string) string) string {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		for one := range strings.SplitSeq(address, ";") {
			if !strings.HasPrefix(one, "unix:") {
				return ""
			}
		}
		return address
	}
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		socket := filepath.Join(dir, "bus")
		if info, err := os.Stat(socket); err == nil && info.Mode().Type() == os.ModeSocket {
			return "unix:path=" + dbus.EscapeBusAddressValue(socket)
		}
	}
	return ""
}

// Names of the Secret Service specification.
const (
	secretsName       = "org.freedesktop.secrets"
	secretsPath       = dbus.ObjectPath("/org/freedesktop/secrets")
	serviceInterface  = "org.freedesktop.Secret.Service"
	collectionIface   = "org.freedesktop.Secret.Collection"
	itemInterface     = "org.freedesktop.Secret.Item"
	promptInterface   = "org.freedesktop.Secret.Prompt"
	noObject          = dbus.ObjectPath("/")
	errorLocked       = "org.freedesktop.Secret.Error.IsLocked"
	errorNoOwner      = "org.freedesktop.DBus.Error.NameHasNoOwner"
	errorNoService    = "org.freedesktop.DBus.Error.ServiceUnknown"
	errorNoReply      = "org.freedesktop.DBus.Error.NoReply"
	methodActivatable = "org.freedesktop.DBus.ListActivatableNames"
)

type secretService struct{ address string }

// wireSecret is the Secret structure of the specification.
type wireSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

// attributes are those that other programs of this kind use, so that an entry can be looked at with their tools.
func attributes(service, account string) map[string]string {
	return map[string]string{"service": service, "username": account}
}

// secretSession is one connection, and a session on it once one is open. Secrets go over the bus's socket in the clear,
// as is usual.
type secretSession struct {
	ctx   context.Context
	conn  *dbus.Conn
	path  dbus.ObjectPath
	flags dbus.Flags
}

func (s secretService) connect(ctx context.Context, flags dbus.Flags) (*secretSession, error) {
	if s.address == "" {
		return nil, keyringUnavailable("there is no session bus")
	}
	conn, err := dbus.Connect(s.address, dbus.WithContext(ctx))
	if err != nil {
		return nil, keyringUnavailable("the session bus does not answer")
	}
	return &secretSession{ctx, conn, "", flags}, nil
}

// open opens the session in which a secret is handed over. It is never the first call of a connection: gnome-keyring
// ends with an assertion when it comes before the daemon has found out who is calling, which it asks the bus meanwhile.
func (b *secretSession) open() error {
	var ignored dbus.Variant
	err := b.call(secretsPath, serviceInterface+".OpenSession", "plain", dbus.MakeVariant("")).Store(&ignored, &b.path)
	if err != nil {
		return b.refuse(err)
	}
	return nil
}

func (b *secretSession) call(path dbus.ObjectPath, method string, args ...any) *dbus.Call {
	return b.conn.Object(secretsName, path).CallWithContext(b.ctx, method, b.flags, args...)
}

// refuse names a failed call by the error's name, never by its text.
func (b *secretSession) refuse(err error) error {
	e, _ := errors.AsType[dbus.Error](err)
	switch e.Name {
	case errorLocked:
		return refusal.New(refusal.CustodyKeyringLocked)
	case errorNoOwner, errorNoService:
		var names []string
		_ = b.conn.BusObject().CallWithContext(b.ctx, methodActivatable, 0).Store(&names)
		for _, name := range names {
			if name == secretsName {
				return refusal.New(refusal.CustodyKeyringLocked)
			}
		}
		return keyringUnavailable("the session has no keyring service")
	case errorNoReply:
		return keyringUnavailable("the keyring service went away")
	}
	return keyringUnavailable("the keyring service refuses")
}

// collection returns the default collection and whether it is locked.
func (b *secretSession) collection() (path dbus.ObjectPath, locked bool, err error) {
	if err := b.call(secretsPath, serviceInterface+".ReadAlias", "default").Store(&path); err != nil {
		return "", false, b.refuse(err)
	}
	if path == noObject {
		return "", false, keyringUnavailable("the keyring has no default collection")
	}
	var v dbus.Variant
	if err := b.call(path, "org.freedesktop.DBus.Properties.Get", collectionIface, "Locked").Store(&v); err != nil {
		return "", false, b.refuse(err)
	}
	locked, _ = v.Value().(bool)
	return path, locked, nil
}

// Get reads an entry and prompts for nothing.
func (s secretService) Get(ctx context.Context, service, account string) (config.Secret, error) {
	b, err := s.connect(ctx, dbus.FlagNoAutoStart)
	if err != nil {
		return config.Secret{}, err
	}
	defer b.conn.Close()
	var open, locked []dbus.ObjectPath
	found := b.call(secretsPath, serviceInterface+".SearchItems", attributes(service, account))
	if err := found.Store(&open, &locked); err != nil {
		return config.Secret{}, b.refuse(err)
	}
	if len(open) == 0 {
		return config.Secret{}, b.notOpen(len(locked) > 0)
	}
	if err := b.open(); err != nil {
		return config.Secret{}, err
	}
	var secret wireSecret
	if err := b.call(open[0], itemInterface+".GetSecret", b.path).Store(&secret); err != nil {
		return config.Secret{}, b.refuse(err)
	}
	return config.NewSecret(string(secret.Value)), nil
}

// notOpen tells an entry that is not there from one that a locked keyring may hide.
func (b *secretSession) notOpen(hidden bool) error {
	_, locked, err := b.collection()
	switch {
	case hidden || err == nil && locked:
		return refusal.New(refusal.CustodyKeyringLocked)
	case err != nil:
		return err
	}
	return refusal.New(refusal.SourceKeyring)
}

// Set writes an entry into the default collection, which must be unlocked.
func (s secretService) Set(ctx context.Context, service, account string, secret config.Secret) error {
	b, err := s.connect(ctx, dbus.FlagNoAutoStart)
	if err != nil {
		return err
	}
	defer b.conn.Close()
	collection, locked, err := b.collection()
	if err != nil {
		return err
	}
	if locked {
		return refusal.New(refusal.CustodyKeyringLocked)
	}
	if err := b.open(); err != nil {
		return err
	}
	properties := map[string]dbus.Variant{
		itemInterface + ".Label":      dbus.MakeVariant("mcpc: the key of its stored credentials"),
		itemInterface + ".Attributes": dbus.MakeVariant(attributes(service, account)),
	}
	value := wireSecret{b.path, []byte{}, []byte(secret.Reveal()), "text/plain; charset=utf8"}
	var item, prompt dbus.ObjectPath
	created := b.call(collection, collectionIface+".CreateItem", properties, value, true)
	if err := created.Store(&item, &prompt); err != nil {
		return b.refuse(err)
	}
	if prompt != noObject {
		return refusal.New(refusal.CustodyKeyringLocked)
	}
	return nil
}

// Unlock starts the service where it is not running and has it ask the person to unlock the default collection.
func (s secretService) Unlock(ctx context.Context) error {
	b, err := s.connect(ctx, 0)
	if err != nil {
		return err
	}
	defer b.conn.Close()
	collection, locked, err := b.collection()
	if err != nil || !locked {
		return err
	}
	var unlocked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	call := b.call(secretsPath, serviceInterface+".Unlock", []dbus.ObjectPath{collection})
	if err := call.Store(&unlocked, &prompt); err != nil {
		return b.refuse(err)
	}
	if prompt == noObject {
		return nil
	}
	return b.prompt(prompt)
}

// prompt has the service show its question and waits for the answer.
func (b *secretSession) prompt(path dbus.ObjectPath) error {
	answers := make(chan *dbus.Signal, 4)
	b.conn.Signal(answers)
	match := []dbus.MatchOption{dbus.WithMatchObjectPath(path), dbus.WithMatchInterface(promptInterface)}
	if err := b.conn.AddMatchSignalContext(b.ctx, match...); err != nil {
		return b.refuse(err)
	}
	if err := b.call(path, promptInterface+".Prompt", "").Err; err != nil {
		return b.refuse(err)
	}
	for {
		select {
		case <-b.ctx.Done():
			return refusal.New(refusal.CustodyKeyringLocked)
		case answer, ok := <-answers:
			if !ok {
				return keyringUnavailable("the session bus went away")
			}
			if answer.Path != path || answer.Name != promptInterface+".Completed" || len(answer.Body) == 0 {
				continue
			}
			if dismissed, _ := answer.Body[0].(bool); dismissed {
				return refusal.New(refusal.CustodyKeyringLocked)
			}
			return nil
		}
	}
}
