package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpc/internal/authority"
	"mcpc/internal/config"
	"mcpc/internal/negotiate"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

const watchLong = `Listen to a server until Ctrl-C. Whenever it says that its tools changed, list
them and compare with the snapshot in use: one line each time the surface is
another.

The snapshot in use is the newest stored one of the server, or --snapshot, or
the one that --authority pins; with that, granted tools are counted apart.
Nothing is stored and nothing in use changes: to move on, take a snapshot, read
the diff, and renew the authority document.

A stream that ends is opened again, after a wait that grows. Notifications that
come together are one look. A server that does not announce changes is refused
as feature.listen.

With --json each line is one JSON document, and what happened to the stream is
told there too; see docs/json.md. Ctrl-C ends a watch with exit code 130.`

type watchOptions struct {
	target
	authority, snapshot string
}

func newSnapshotWatch(a *app) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "watch SERVER",
		Short: "Tell when a server's tools are no longer those in use",
		Long:  watchLong,
		Example: `  mcpc snapshot watch everything
  mcpc snapshot watch docs --authority docs.json --json`,
		Annotations:       map[string]string{alsoUsed: "[flags] -- COMMAND [ARG]..."},
		ValidArgsFunction: a.completeServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.oneServer(cmd, args, o.target)
			if err != nil {
				return err
			}
			return named(a.watchServer(cmd, s, o), s)
		},
	}
	a.addTarget(cmd, &o.target)
	f := cmd.Flags()
	f.StringVar(&o.authority, "authority", "", "compare with what the document `FILE` pins")
	f.StringVar(&o.snapshot, "snapshot", "", "compare with this `SNAPSHOT`")
	return cmd
}

func (a *app) watchServer(cmd *cobra.Command, s *config.Server, o watchOptions) error {
	inUse, doc, err := a.inUse(cmd, s, o)
	if err != nil {
		return err
	}
	t := &watchTeller{app: a, inUse: inUse, grants: grantedNames(doc), live: liveWord(s)}
	w := &watch{
		open:   func(ctx context.Context) (post, error) { return a.openPost(ctx, s) },
		pauses: s.Stdio != nil,
		inUse:  inUse,
		tell:   t.tell,
		random: a.random,
	}
	if err := w.run(cmd.Context()); err != nil {
		return err
	}
	if t.err != nil {
		return t.err
	}
	return answered(refusal.ExitInterrupted)
}

// inUse is the snapshot to compare with, of this server and no other.
func (a *app) inUse(
	cmd *cobra.Command, s *config.Server, o watchOptions,
) (*snapshot.Snapshot, *authority.Document, error) {
	id, err := identity(s)
	if err != nil {
		return nil, nil, err
	}
	var doc *authority.Document
	if o.authority != "" {
		if doc, err = loadAuthority(o.authority); err != nil {
			return nil, nil, err
		}
	}
	var snap *snapshot.Snapshot
	switch {
	case o.snapshot != "":
		snap, err = a.openSnapshot(cmd, o.snapshot)
	case doc != nil:
		snap, err = a.pinned(doc, "")
	default:
		snap, err = a.newestSnapshot(s)
	}
	if err == nil && !snap.Server.Equal(id) {
		err = refusal.New(refusal.SnapshotServer)
	}
	return snap, doc, err
}

// liveWord names a server as it is now, for a command to be pasted.
func liveWord(s *config.Server) string {
	if s.Name != "" || s.HTTP != nil {
		return quoteWord(livePrefix + label(s))
	}
	words := livePrefix
	for _, name := range s.Stdio.Env {
		words += " --env " + quoteWord(name)
	}
	if s.Stdio.Cwd != "" {
		words += " --cwd " + quoteWord(s.Stdio.Cwd)
	}
	return words + " -- " + quoteWords(s.Stdio.Command)
}

// standing is a post at a real server.
type standing struct {
	*negotiate.Session
	talk *conversation
}

func (a *app) openPost(ctx context.Context, s *config.Server) (post, error) {
	c, err := a.converse(ctx, s)
	if err != nil {
		return nil, err
	}
	session, err := negotiate.Open(ctx, c.dial, s, client)
	if err != nil {
		c.end()
		return nil, err
	}
	p := &standing{session, c}
	if !session.CanListen() {
		_ = p.Close()
		return nil, refusal.New(refusal.FeatureListen)
	}
	return p, nil
}

// Candidate of a child comes from the child that announced the change: another would be another server. Over HTTP it is
// what anybody else would find, and listening goes on meanwhile.
func (p *standing) Candidate(ctx context.Context) (*snapshot.Snapshot, error) {
	if p.talk.server.HTTP != nil {
		return p.talk.app.candidate(ctx, p.talk.server)
	}
	d, err := p.talk.app.take(ctx, p.talk, p.Session)
	if err != nil {
		return nil, err
	}
	return d.Snapshot, nil
}

func (p *standing) Close() error {
	err := p.Session.Close()
	p.talk.end()
	return err
}

// watchTeller prints events: what the surface is goes to stdout, what happened to the stream to stderr, and with --json
// all of it to stdout.
type watchTeller struct {
	app    *app
	inUse  *snapshot.Snapshot
	grants []string
	live   string // how a command names the server as it is now
	begun  bool
	err    error // of writing
}

func (t *watchTeller) tell(e watchEvent) {
	if t.app.json {
		t.write(string(t.document(e)))
		return
	}
	switch e.kind {
	case watchWatching:
		if t.begun {
			t.app.note("listening again")
			return
		}
		t.begun = true
		t.line(watchWatching, t.inUse.ID, counts(t.inUse)+" in use")
		t.app.note("to read a change: mcpc snapshot diff %s %s", t.inUse.ID.Short(), t.live)
	case watchChanged:
		report := snapshot.Diff(t.inUse, e.candidate)
		t.line(watchChanged, e.candidate.ID, summary(&report, t.grants))
	case watchSame:
		t.line(watchSame, e.candidate.ID, "as in use again")
	case watchFailed:
		t.app.note("no candidate (%s); trying again in %s", why(e.err), seconds(e.wait))
	case watchDropped:
		t.app.note("the stream ended (%s); opening it again in %s", why(e.err), seconds(e.wait))
	}
}

func (t *watchTeller) line(kind string, id strictjson.Digest, text string) {
	at := t.app.now().Local().Format("2006-01-02 15:04:05")
	t.write(at + "  " + pad(kind, 8) + "  " + id.Short() + "  " + terminal.Escape(text))
}

func (t *watchTeller) write(line string) {
	if err := t.app.write([]byte(line + "\n")); err != nil && t.err == nil {
		t.err = err
	}
}

func why(err error) string {
	if err == nil {
		return "by the server"
	}
	return terminal.Escape(refusal.From(err).Error())
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// document is a watch/1 document.
func (t *watchTeller) document(e watchEvent) []byte {
	var b bytes.Buffer
	at := t.app.now().UTC().Format(time.RFC3339)
	fmt.Fprintf(&b, `{"mcpc":"watch/1","event":%q,"at":%q,"inUse":%q`, e.kind, at, t.inUse.ID)
	switch e.kind {
	case watchChanged:
		report := snapshot.Diff(t.inUse, e.candidate)
		changed, added, removed, rejected, server := tally(&report)
		classes := []string{}
		if server != "" {
			classes = strings.Split(server, ", ")
		}
		fmt.Fprintf(&b, `,"candidate":%q,"changed":%d,"added":%d,"removed":%d,"rejected":%d`,
			e.candidate.ID, changed, added, removed, rejected)
		fmt.Fprintf(&b, `,"server":%s,"tools":%s,"granted":%s`,
			quoteList(classes), quoteList(report.Tools()), quoteList(affected(&report, t.grants)))
	case watchSame:
		fmt.Fprintf(&b, `,"candidate":%q`, e.candidate.ID)
	case watchFailed, watchDropped:
		name := "null"
		if e.err != nil {
			name = fmt.Sprintf("%q", refusal.From(e.err).Name())
		}
		fmt.Fprintf(&b, `,"refusal":%s,"retry_ms":%d`, name, e.wait.Milliseconds())
	}
	b.WriteByte('}')
	if t.app.outTTY {
		return terminal.EscapeJSON(b.Bytes())
	}
	return b.Bytes()
}
