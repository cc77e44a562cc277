package config

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mcpc/internal/refusal"
)

// Bounds on every source.
const (
	maxSecretBytes = 64 << 10
	commandTime    = 10 * time.Second
)

// Resolve reads the secret. One line end at its end is not part of it. Errors are refusals of the source.* family, and
// custody.* from the keyring; none holds anything of the secret.
//
// A file may be readable by others (secrets mounted for containers are), but not writable by them. A command is the
// operator's own: it runs without a shell, sees mcpc's whole environment, gets no input, and has ten seconds.
func (s Source) Resolve(ctx context.Context, env Environment) (Secret, error) {
	data, err := s.read(ctx, env)
	switch {
	case err != nil:
		return Secret{}, err
	case len(data) > maxSecretBytes:
		return Secret{}, refusal.New(refusal.SourceTooLarge, refusal.Num("limit", maxSecretBytes))
	}
	text := strings.TrimSuffix(strings.TrimSuffix(data, "\n"), "\r")
	if text == "" {
		return Secret{}, refusal.New(refusal.SourceEmpty)
	}
	return NewSecret(text), nil
}

func (s Source) read(ctx context.Context, env Environment) (string, error) {
	switch {
	case s.Env != "":
		if value, ok := env.LookupEnv(s.Env); ok {
			return value, nil
		}
		return "", refusal.New(refusal.SourceUnset, refusal.Own("name", s.Env))
	case s.File != "":
		return readSecretFile(s.File)
	case s.Keyring != nil:
		if env.Keyring == nil {
			return "", refusal.New(refusal.SourceUnsupported, refusal.Own("kind", "keyring"))
		}
		secret, err := env.Keyring.Get(ctx, s.Keyring.Service, s.Keyring.Account)
		return secret.Reveal(), err
	case len(s.Command) > 0:
		return runSecretCommand(ctx, s.Command)
	}
	return "", refusal.New(refusal.SourceUnsupported)
}

func readSecretFile(path string) (string, error) {
	fail := refusal.New(refusal.SourceFile, refusal.Own("path", path))
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fail
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fail
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fail
	}
	if othersMay(info, 0o002) {
		return "", refusal.New(refusal.SourceMode, refusal.Own("path", path), refusal.Own("mode", octal(info)))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecretBytes+1))
	if err != nil {
		return "", fail
	}
	return string(data), nil
}

// runSecretCommand runs argv. What it writes to stderr is dropped: it may hold the secret.
func runSecretCommand(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	out := limited{stop: cancel}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) // #nosec G204 -- the operator's configured command; no shell
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case out.full:
		return "", refusal.New(refusal.SourceTooLarge, refusal.Num("limit", maxSecretBytes))
	case errors.As(err, &exit) && exit.Exited():
		return "", refusal.New(refusal.SourceCommand, refusal.Num("exit", exit.ExitCode()))
	case err != nil:
		return "", refusal.New(refusal.SourceCommand)
	}
	return out.kept.String(), nil
}

// limited keeps the output of a command up to the bound, and ends the command that writes more.
type limited struct {
	kept bytes.Buffer
	full bool
	stop func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.kept.Len()+len(p) > maxSecretBytes {
		l.full = true
		l.stop()
		return 0, io.ErrShortWrite
	}
	return l.kept.Write(p)
}

// Resolve reads the value of the header. It must be able to stand in one: printable ASCII with inner spaces and tabs
// (RFC 9110 section 5.5, without the obsolete rest).
func (h Header) Resolve(ctx context.Context, env Environment) (Secret, error) {
	where := refusal.Own("where", "header "+h.Name)
	secret, err := h.Source.Resolve(ctx, env)
	if err != nil {
		if r, ok := refusal.As(err); ok && slices.Contains(r.Entry().Fields, "where") {
			return Secret{}, r.With(where)
		}
		return Secret{}, err
	}
	if !headerText(secret.Reveal()) {
		return Secret{}, refusal.New(refusal.SourceNotText, where)
	}
	return secret, nil
}

func headerText(s string) bool {
	bad := func(c rune) bool { return c < ' ' && c != '\t' || c >= 0x7f }
	return utf8.ValidString(s) && !strings.ContainsFunc(s, bad) && strings.Trim(s, " \t") == s
}
