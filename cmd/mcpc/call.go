package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mcpc/internal/arguments"
	"mcpc/internal/authority"
	"mcpc/internal/config"
	"mcpc/internal/negotiate"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/store"
	"mcpc/internal/terminal"
)

const callLong = `Call one tool, once, within the intersection of the authority document and the
snapshot that it pins. There is no way around that.

ARGUMENT is one of
  key=value     of the type that the pinned schema has for key, else a string
  key:=JSON     any JSON
  key=@FILE     the text of a file
  key:=@FILE    the JSON of a file
or all arguments are one object: --args '{...}', --args @FILE, --args - (stdin).
See mcpc help arguments.

The text of the answer goes to stdout; with --json it is the received result,
byte for byte. The exit code is 1 when the tool itself reports an error. A call
is sent at most once: when its answer is lost, the outcome is unknown and the
exit code is 5.`

type callOptions struct {
	target
	authority, snapshot string
	tool                string
	args                string
	argsSet             bool
	dryRun, recheck     bool
	help                bool
	save                string
	timeout             time.Duration
}

func newCall(a *app) *cobra.Command {
	var o callOptions
	cmd := &cobra.Command{
		Use:   "call SERVER TOOL [ARGUMENT]...",
		Short: "Call one tool that the authority document grants",
		Long:  callLong,
		Example: `  mcpc call everything echo message=hello --authority echo.json
  mcpc call docs search --args @query.json --json | jq .structuredContent
  mcpc call get-sum a=1 b=2 --authority sum.json -- node server.js`,
		Annotations:       map[string]string{alsoUsed: "[flags] TOOL [ARGUMENT]... -- COMMAND [ARG]..."},
		ValidArgsFunction: a.completeCall,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.argsSet = cmd.Flags().Changed("args")
			s, words, err := a.callWords(cmd, args, &o)
			if err != nil {
				return err
			}
			if o.help {
				return named(a.helpTool(s, o), s)
			}
			return named(a.call(cmd.Context(), s, words, o), s)
		},
	}
	a.addTarget(cmd, &o.target)
	f := cmd.Flags()
	f.StringVar(&o.authority, "authority", "", "read the authority document `FILE`")
	f.StringVar(&o.snapshot, "snapshot", "", "read the pinned snapshot from `FILE`, not from the store")
	f.StringVar(&o.tool, "tool", "", "call the tool `NAME`, which may start with a dash")
	f.StringVar(&o.args, "args", "", "take all arguments from `JSON`, @FILE, or - (stdin)")
	f.BoolVar(&o.help, "help-tool", false, "show the tool and its arguments, and call nothing")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the bytes that would be sent, and send nothing")
	f.BoolVar(&o.recheck, "recheck", false, "first look whether the tool is still as it was pinned")
	f.StringVar(&o.save, "save", "", "write each image, audio and blob to a new file in `DIR`")
	_ = cmd.MarkFlagDirname("save")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeCallTool)
	f.DurationVar(&o.timeout, "timeout", 0, "wait this `TIME` for the answer (default: the call limit)")
	return cmd
}

// callWords splits the words of a call into server, tool and arguments.
func (a *app) callWords(cmd *cobra.Command, args []string, o *callOptions) (*config.Server, []string, error) {
	words, command := splitDash(cmd, args)
	name := ""
	if len(command) == 0 {
		if len(words) == 0 {
			return nil, nil, usage(cmd, "SERVER is missing")
		}
		name, words = words[0], words[1:]
	}
	if o.tool == "" {
		if len(words) == 0 {
			return nil, nil, usage(cmd, "TOOL is missing")
		}
		o.tool, words = words[0], words[1:]
	}
	if o.argsSet && len(words) > 0 {
		return nil, nil, usage(cmd, "give --args or ARGUMENT words, not both")
	}
	if o.timeout < 0 {
		return nil, nil, usage(cmd, "--timeout must be more than 0")
	}
	s, err := a.server(cmd, name, command, o.target)
	return s, words, err
}

// granted is a call that authority ∩ snapshot allows.
type granted struct {
	snap *snapshot.Snapshot
	tool *snapshot.Tool
	call negotiate.Call

	admit func(issuer string, scopes []string) error // the sign-ins that it is granted under
}

func (a *app) call(ctx context.Context, s *config.Server, words []string, o callOptions) error {
	g, err := a.grant(ctx, s, words, o)
	if err != nil {
		return err
	}
	if o.dryRun {
		return a.printJSON(negotiate.CallMessage(g.snap.Protocol, client, g.call))
	}
	if o.timeout > 0 {
		copied := *s
		copied.Limits.Call = o.timeout
		s = &copied
	}
	return a.send(ctx, s, g, o)
}

// grant loads what a person allowed and decides, without any connection.
func (a *app) grant(ctx context.Context, s *config.Server, words []string, o callOptions) (*granted, error) {
	path, err := a.findAuthority(o.authority, s, o.tool)
	if err != nil {
		return nil, err
	}
	doc, err := loadAuthority(path)
	if err != nil {
		return nil, err
	}
	g, err := a.decide(ctx, s, doc, words, o)
	if refusal.Is(err, refusal.AuthorityToolNotGranted) {
		err = hinted(err, refusal.AuthorityToolNotGranted, regrant(s, doc, o.tool))
	}
	err = hinted(err, refusal.AuthorityAuth, reviewSignIn(s))
	return g, withPath(err, path)
}

func (a *app) decide(
	ctx context.Context, s *config.Server, doc *authority.Document, words []string, o callOptions,
) (*granted, error) {
	id, err := snapshot.IdentityOf(s)
	if err != nil {
		return nil, err
	}
	snap, err := a.pinned(doc, o.snapshot)
	if err != nil {
		return nil, hinted(err, refusal.SnapshotMissing, "mcpc snapshot take "+word(s))
	}
	auth, err := a.signInContext(s)
	if err != nil {
		return nil, err
	}
	req := authority.Request{Server: id, Tool: o.tool, Action: authority.Invoke}
	if r := authority.Granted(doc, snap, req, a.now(), authContext(auth)); r != nil {
		return nil, r
	}
	tool, _ := snap.Tool(o.tool)
	call, err := a.arguments(ctx, s, tool, words, o)
	if err != nil {
		return nil, err
	}
	req.Arguments = call.Arguments
	if r := authority.Decide(doc, snap, req, a.now(), authContext(auth)); r != nil {
		return nil, r
	}
	admit := func(issuer string, scopes []string) error {
		used := &authority.AuthContext{Issuer: issuer, Scopes: scopes}
		if r := authority.Granted(doc, snap, req, a.now(), used); r != nil {
			return hinted(r, refusal.AuthorityAuth, reviewSignIn(s))
		}
		return nil
	}
	return &granted{snap: snap, tool: tool, call: call, admit: admit}, nil
}

// reviewSignIn is what to do about a document that was reviewed for another sign-in than the one in use.
func reviewSignIn(s *config.Server) string {
	return "mcpc credentials show " + word(s) +
		"\nwhere that is the sign-in you mean, put its issuer and scopes under auth in the document, and review it again"
}

func (a *app) arguments(
	ctx context.Context, s *config.Server, tool *snapshot.Tool, words []string, o callOptions,
) (negotiate.Call, error) {
	var whole *string
	if o.argsSet {
		whole = &o.args
	}
	limit := s.Limits.ArgumentBytes
	args, notes, err := arguments.Parse(tool, words, whole, argumentSources{ctx, a, limit}, limit)
	if err != nil {
		return negotiate.Call{}, err
	}
	for _, n := range notes {
		a.note("note: %s", terminal.Escape(n))
	}
	call := negotiate.Call{Tool: tool.Name, Arguments: args}
	if s.HTTP != nil {
		call.Headers, err = arguments.Headers(tool, args)
	}
	return call, err
}

// argumentSources reads what arguments refer to, one byte past the bound at most.
type argumentSources struct {
	ctx context.Context
	app *app
	max int64
}

func (s argumentSources) File(path string) ([]byte, error) {
	return unlessInterrupted(s.ctx, func() ([]byte, error) { return store.ReadFile(path, s.max+1) })
}

func (s argumentSources) Stdin() ([]byte, error) {
	return unlessInterrupted(s.ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(s.app.stdin, s.max+1)) })
}

// unlessInterrupted reads from what may never end, a terminal or a pipe. The reader is left behind when the user does
// not want to wait for it.
func unlessInterrupted(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type answer struct {
		data []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		data, err := read()
		done <- answer{data, err}
	}()
	select {
	case got := <-done:
		return got.data, got.err
	case <-ctx.Done():
		return nil, refusal.New(refusal.Interrupted)
	}
}

// regrant is the command that drafts what is granted already and this tool too.
func regrant(s *config.Server, doc *authority.Document, tool string) string {
	hint := "mcpc authority draft " + doc.Snapshot.Short()
	if s.Name != "" {
		hint = "mcpc authority draft " + quoteWord(s.Name)
	}
	for _, g := range doc.Tools {
		hint += " --tool " + quoteWord(g.Tool)
	}
	return hint + " --tool " + quoteWord(tool) + " --by WHO"
}

// send makes the one exchange and prints its answer. The answer is printed before the connection is closed, which a
// stubborn server can draw out.
func (a *app) send(ctx context.Context, s *config.Server, g *granted, o callOptions) error {
	c, err := a.converseAs(ctx, s, g.admit)
	if err != nil {
		return err
	}
	defer c.end()
	session, err := negotiate.Resume(ctx, c.dial, s, client, g.snap.Protocol)
	if err != nil {
		return err
	}
	defer session.Close()
	if o.recheck {
		if err := a.recheck(ctx, c, session, g.tool); err != nil {
			return err
		}
	}
	result, err := a.exchange(ctx, session, g.call)
	if err != nil {
		return err
	}
	return a.printResult(g.tool, result, o.save)
}

// exchange makes the call, with its progress on the terminal.
func (a *app) exchange(
	ctx context.Context, session *negotiate.Session, call negotiate.Call,
) (*negotiate.Result, error) {
	bar := a.progressBar()
	call.Progress = bar.update()
	result, err := session.Call(ctx, call)
	bar.clear()
	if session.Changes() > 0 {
		a.note("note: the server says that its tools changed; the pinned snapshot stays in use")
	}
	return result, err
}

// recheck refuses when the live descriptor of the tool is not the pinned one.
func (a *app) recheck(ctx context.Context, c *conversation, session *negotiate.Session, pinned *snapshot.Tool) error {
	live, err := a.take(ctx, c, session)
	if err != nil {
		return err
	}
	t, ok := live.Tool(pinned.Name)
	again := "mcpc snapshot take " + word(c.server)
	switch {
	case !ok:
		return refusal.New(refusal.AuthorityDescriptorGone, refusal.Own("tool", pinned.Name)).Hint(again)
	case t.Digest != pinned.Digest:
		return refusal.New(refusal.AuthorityDescriptor, refusal.Own("tool", pinned.Name)).Hint(again)
	}
	return nil
}
