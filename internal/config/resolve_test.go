package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mcpc/internal/refusal"
)

type fakeKeyring map[string]string

func (k fakeKeyring) Get(_ context.Context, service, account string) (Secret, error) {
	return NewSecret(k[service+"/"+account]), nil
}

func environment(vars map[string]string) Environment {
	return Environment{
		LookupEnv: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		Keyring:   fakeKeyring{"s/a": "from keyring"},
	}
}

// The test binary is the command of a command source; what it does is in the argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "secret-command" {
		switch os.Args[2] {
		case "print":
			fmt.Fprintln(os.Stderr, "noise")
			fmt.Println("from command")
		case "fail":
			fmt.Println("partial")
			os.Exit(7)
		case "endless":
			for {
				if _, err := os.Stdout.WriteString(strings.Repeat("x", 4096)); err != nil {
					os.Exit(0)
				}
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestResolve(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	most := strings.Repeat("x", maxSecretBytes)
	env := environment(map[string]string{"SET": "value", "EMPTY": "", "BLANK": "\n", "BIG": most + "x"})
	for _, tt := range []struct {
		name   string
		source Source
		want   string
		refuse *refusal.Entry
	}{
		{"env", Source{Env: "SET"}, "value", nil},
		{"env unset", Source{Env: "UNSET"}, "", refusal.SourceUnset},
		{"env empty", Source{Env: "EMPTY"}, "", refusal.SourceEmpty},
		{"env of a line end", Source{Env: "BLANK"}, "", refusal.SourceEmpty},
		{"env too large", Source{Env: "BIG"}, "", refusal.SourceTooLarge},
		{"file", Source{File: file("a", "one\n", 0o600)}, "one", nil},
		{"file with one line end too many", Source{File: file("b", "one\n\n", 0o600)}, "one\n", nil},
		{"file with CRLF", Source{File: file("c", "one\r\n", 0o600)}, "one", nil},
		{"file at the bound", Source{File: file("d", most, 0o600)}, most, nil},
		{"file over the bound", Source{File: file("e", most+"x", 0o600)}, "", refusal.SourceTooLarge},
		{"file read by others", Source{File: file("f", "one", 0o444)}, "one", nil},
		{"file missing", Source{File: filepath.Join(dir, "none")}, "", refusal.SourceFile},
		{"file is a folder", Source{File: dir}, "", refusal.SourceFile},
		{"keyring", Source{Keyring: &KeyringItem{"s", "a"}}, "from keyring", nil},
		{"keyring empty", Source{Keyring: &KeyringItem{"s", "b"}}, "", refusal.SourceEmpty},
		{"command", Source{Command: []string{self, "secret-command", "print"}}, "from command", nil},
		{"command fails", Source{Command: []string{self, "secret-command", "fail"}}, "", refusal.SourceCommand},
		{"command without output", Source{Command: []string{self, "secret-command", "nothing"}}, "", refusal.SourceEmpty},
		{"command without end", Source{Command: []string{self, "secret-command", "endless"}}, "", refusal.SourceTooLarge},
		{"command missing", Source{Command: []string{filepath.Join(dir, "none")}}, "", refusal.SourceCommand},
		{"none", Source{}, "", refusal.SourceUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.source.Resolve(t.Context(), env)
			switch {
			case tt.refuse == nil && (err != nil || got.Reveal() != tt.want):
				t.Fatalf("got %q, %v", got.Reveal(), err)
			case tt.refuse != nil && (!refusal.Is(err, tt.refuse) || !got.Empty()):
				t.Fatalf("got %v, want %s", err, tt.refuse.Name)
			}
		})
	}
}

func TestResolveRefusesAFileThatOthersMayWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	if err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chmod(path, 0o606)); err != nil {
		t.Fatal(err)
	}
	_, err := Source{File: path}.Resolve(t.Context(), Environment{})
	if want := runtime.GOOS != "windows"; refusal.Is(err, refusal.SourceMode) != want {
		t.Fatalf("got %v", err)
	}
}

func TestHeaderResolve(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{
		"Bearer abc": true, "a\tb": true, "a\nX-Evil: 1": false, "a\r\nb": false, "a\x00": false, "é": false, " a": false,
		"a\x7f": false, "\xff": false,
	} {
		h := Header{"X-Key", Source{Env: "V"}}
		got, err := h.Resolve(t.Context(), environment(map[string]string{"V": value}))
		r, _ := refusal.As(err)
		switch {
		case ok && (err != nil || got.Reveal() != value):
			t.Errorf("%q: %v", value, err)
		case !ok && (!refusal.Is(err, refusal.SourceNotText) || r.Detail("where") != "header X-Key"):
			t.Errorf("%q: got %v", value, err)
		}
	}
	_, err := Header{"X-Key", Source{Env: "NONE"}}.Resolve(t.Context(), environment(nil))
	if r, _ := refusal.As(err); r == nil || r.Detail("where") != "header X-Key" {
		t.Fatalf("got %v", err)
	}
}

func TestResolveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	self, _ := os.Executable()
	_, err := Source{Command: []string{self, "secret-command", "print"}}.Resolve(ctx, Environment{})
	if !refusal.Is(err, refusal.SourceCommand) {
		t.Fatalf("got %v", err)
	}
}

// No way of printing a secret prints it.
func TestSecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	s := NewSecret("canary")
	type holder struct{ S Secret }
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		for _, v := range []any{s, &s, holder{s}, &holder{s}, []Secret{s}, map[string]Secret{"k": s}} {
			text := fmt.Sprintf(verb, v, v)
			if strings.Contains(text, "canary") || strings.Contains(text, fmt.Sprintf("%x", "canary")) {
				t.Errorf("%s of %T prints the secret", verb, v)
			}
		}
	}
}

func TestSecretNames(t *testing.T) {
	t.Parallel()
	env := func(name string) Source { return Source{Env: name} }
	secret := env("C")
	c := &Config{
		Custody: Custody{Key: env("D")},
		Servers: map[string]*Server{
			"a": {HTTP: &HTTP{Headers: []Header{{"X", env("B")}, {"Y", env("A")}, {"Z", Source{File: "f"}}}}},
			"b": {HTTP: &HTTP{Headers: []Header{{"X", env("B")}}}, OAuth: &OAuth{Client: &Client{Secret: &secret}}},
			"c": {Stdio: &Stdio{Env: []string{"NOT"}}, OAuth: &OAuth{Client: &Client{}}},
		},
	}
	if got := c.SecretNames(); !slices.Equal(got, []string{"A", "B", "C", "D"}) {
		t.Fatal(got)
	}
	if got := (&Config{}).SecretNames(); len(got) != 0 {
		t.Fatal(got)
	}
}
