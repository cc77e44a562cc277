package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/negotiate"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/store"
	"mcpc/internal/transport"
)

// target is the flags that say which server, and how a conversation with it is watched.
type target struct {
	env []string
	cwd string
}

// addTarget adds the flags that every command with a SERVER has.
func (a *app) addTarget(cmd *cobra.Command, t *target) {
	f := cmd.Flags()
	f.StringArrayVar(&t.env, "env", nil, "let COMMAND see the variable `NAME` (repeatable)")
	f.StringVar(&t.cwd, "cwd", "", "start COMMAND in this `DIR`")
	_ = cmd.MarkFlagDirname("cwd")
	f.StringVar(&a.trace, "trace", "", "write every message to a new `FILE`, a JSON line each")
	f.BoolVar(&a.showStderr, "server-stderr", false, "show what the server's process wrote to stderr")
}

// dirs returns mcpc's folders.
func (a *app) dirs() (store.Dirs, error) { return store.FindDirs(a.getenv) }

func (a *app) configFile() (string, error) {
	if a.configPath != "" {
		return a.configPath, nil
	}
	d, err := a.dirs()
	if err != nil {
		return "", err
	}
	return filepath.Join(d.Config, "config.json"), nil
}

// loadConfig reads the configuration, once in a command; there being none at the usual place is an empty one.
func (a *app) loadConfig() (*config.Config, error) {
	if a.config != nil {
		return a.config, nil
	}
	path, err := a.configFile()
	if err != nil {
		return nil, err
	}
	c, err := config.Load(path)
	if refusal.Is(err, refusal.ConfigMissing) && a.configPath == "" {
		c, err = config.Empty(path), nil
	}
	if err == nil {
		a.config = c
	}
	return c, err
}

// server finds the server that the words name: those before -- and those after it.
func (a *app) server(cmd *cobra.Command, name string, command []string, t target) (*config.Server, error) {
	if len(command) > 0 {
		return &config.Server{Stdio: &config.Stdio{Command: command, Env: t.env, Cwd: t.cwd}, Limits: config.DefaultLimits()}, nil
	}
	if len(t.env) > 0 || t.cwd != "" {
		return nil, usage(cmd, "--env and --cwd go with a command line after --")
	}
	if strings.Contains(name, "://") {
		if _, r := transport.CheckURL(name); r != nil {
			return nil, r
		}
		return &config.Server{HTTP: &config.HTTP{URL: name}, Limits: config.DefaultLimits()}, nil
	}
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	found, err := c.Server(name)
	return found, hinted(err, refusal.ConfigNoServer, "mcpc config check")
}

// oneServer splits the words of a command whose only positional word is SERVER, or that has a command line after --.
func (a *app) oneServer(cmd *cobra.Command, args []string, t target) (*config.Server, error) {
	words, command := splitDash(cmd, args)
	switch {
	case len(command) > 0 && len(words) > 0:
		return nil, usage(cmd, "give SERVER or a command line after --, not both")
	case len(command) == 0 && len(words) == 0:
		return nil, usage(cmd, "SERVER is missing")
	case len(words) > 1:
		return nil, usage(cmd, "%s is one word too many", words[1])
	case len(words) == 1:
		return a.server(cmd, words[0], nil, t)
	}
	return a.server(cmd, "", command, t)
}

// splitDash returns the words before and after --.
func splitDash(cmd *cobra.Command, args []string) (words, command []string) {
	if i := cmd.ArgsLenAtDash(); i >= 0 {
		return args[:i], args[i:]
	}
	return args, nil
}

// label is how a server is called in what mcpc prints: its alias, else its URL or command.
func label(s *config.Server) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.HTTP != nil:
		return s.HTTP.URL
	}
	return filepath.Base(s.Stdio.Command[0])
}

// word is how a server is named in a hint, so that the hint works when it is pasted.
func word(s *config.Server) string {
	if s.Name == "" && s.HTTP == nil {
		return "SERVER"
	}
	return quoteWord(label(s))
}

// named adds the server's name to a refusal.
func named(err error, s *config.Server) error {
	if err == nil || s == nil {
		return err
	}
	if r, ok := refusal.As(hinted(err, refusal.OAuthTokenRejected, "mcpc login "+word(s))); ok {
		return r.With(refusal.Own("server", label(s)))
	}
	return err
}

// conversation is a way to a server, with what watches it.
type conversation struct {
	server  *config.Server
	dial    negotiate.Dialer
	carrier transport.Carrier // the last one dialled
	app     *app
	kept    bool // what is discovered is to be kept: the executable's digest is worth its time
}

// converse prepares a conversation; nothing is sent yet.
func (a *app) converse(ctx context.Context, s *config.Server) (*conversation, error) {
	return a.converseAs(ctx, s, nil)
}

// converseAs is converse under the sign-ins that admit lets pass.
func (a *app) converseAs(
	ctx context.Context, s *config.Server, admit func(issuer string, scopes []string) error,
) (*conversation, error) {
	c := &conversation{server: s, app: a}
	tracer, err := a.tracer()
	if err != nil {
		return nil, err
	}
	if s.Stdio != nil {
		o := transport.StdioOptions{Server: s, LookupEnv: a.lookupEnv, Trace: tracer}
		c.dial = c.keep(func(context.Context) (transport.Carrier, error) { return transport.DialStdio(o) })
		return c, nil
	}
	headers, err := a.secretHeaders(ctx, s)
	if err != nil {
		return nil, err
	}
	flow, err := a.flow(s, false)
	if err != nil {
		return nil, err
	}
	flow.Admit = admit
	o := transport.HTTPOptions{
		Server: s, Headers: headers, Authorizer: flow.Authorizer(), LookupEnv: a.lookupEnv, Trace: tracer,
	}
	c.dial = c.keep(func(context.Context) (transport.Carrier, error) { return transport.DialHTTP(o) })
	return c, nil
}

func (c *conversation) keep(dial negotiate.Dialer) negotiate.Dialer {
	return func(ctx context.Context) (transport.Carrier, error) {
		carrier, err := dial(ctx)
		c.carrier = carrier
		return carrier, err
	}
}

// tracer opens the trace with the first conversation of a command; later ones write to the same file.
func (a *app) tracer() (*transport.Trace, error) {
	if a.trace == "" || a.tracing != nil {
		return a.tracing, nil
	}
	f, err := os.OpenFile(a.trace, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, refusal.New(refusal.OutputExists, refusal.Own("path", a.trace))
	} else if err != nil {
		return nil, refusal.New(refusal.OutputWrite, refusal.Own("path", a.trace))
	}
	a.tracing = transport.NewTrace(f, a.now) // closed with the process: every line is written at once
	return a.tracing, nil
}

func (a *app) secretHeaders(ctx context.Context, s *config.Server) ([]transport.SecretHeader, error) {
	var headers []transport.SecretHeader
	for _, h := range s.HTTP.Headers {
		value, err := h.Resolve(ctx, a.environment(s.Limits))
		if err != nil {
			return nil, err
		}
		headers = append(headers, transport.SecretHeader{Name: h.Name, Value: value})
	}
	return headers, nil
}

// end shows the child's stderr when that was asked for. The session is closed before.
func (c *conversation) end() {
	if k, ok := c.carrier.(interface{ Skipped() int }); ok && k.Skipped() > 0 {
		c.app.note("%d lines of the server's stdout were no messages and were skipped", k.Skipped())
	}
	if k, ok := c.carrier.(transport.StderrKeeper); ok && c.app.showStderr {
		c.app.showServerStderr(k.Stderr())
	}
}

// client is how mcpc introduces itself.
var client = negotiate.Client{Name: "mcpc", Version: version}

// identity is snapshot.IdentityOf with the server's name in the refusal.
func identity(s *config.Server) (snapshot.Identity, error) {
	id, err := snapshot.IdentityOf(s)
	return id, named(err, s)
}

// serverText is an identity for people.
func serverText(i snapshot.Identity) string {
	if i.HTTP != "" {
		return i.HTTP
	}
	return quoteWords(i.Stdio)
}
