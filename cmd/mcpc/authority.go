package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpc/internal/authority"
	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
)

// authorityLong is also the help topic: mcpc help authority.
const authorityLong = `What may be called is the intersection of two files on your disk.

  snapshot    what the server said, kept byte for byte:  mcpc snapshot take
  authority   what you allow, written and signed by you: mcpc authority draft

An authority document says which tools of one snapshot may be published and
invoked, and with which arguments. mcpc reads it and never writes it: draft and
renew print a proposal, and you decide.

The document pins the snapshot by its id, so a grant by name means the very
descriptor that was reviewed. A server that changes cannot reach what is in use.
To move on:

  mcpc snapshot take SERVER                       keep what it says now
  mcpc snapshot diff OLD SERVER --authority FILE  read what changed
  mcpc authority renew FILE --snapshot SERVER     carry the grants over

mcpc call looks for the document at --authority FILE, else at the server's
"authority" in the configuration, else at authority/SERVER.json beside the
configuration. It takes the snapshot from --snapshot FILE, else from the store.`

func newAuthority(a *app) *cobra.Command {
	return group("authority", "Say what may be called, and see what that comes to", authorityLong,
		newAuthorityDraft(a), newAuthorityCheck(a), newAuthoritySurface(a), newAuthorityRenew(a))
}

const draftLong = `Print an authority document that grants the named tools of a snapshot, with the
arguments closed to those that the tool declares. What each tool says of itself
goes to stderr, to be read before the document is used.

Without --by the document has no reviewer and is refused until somebody signs
it.`

type draftOptions struct {
	tools   []string
	by      string
	expires string
}

func newAuthorityDraft(a *app) *cobra.Command {
	var o draftOptions
	cmd := &cobra.Command{
		Use:   "draft SNAPSHOT --tool NAME [--tool NAME]...",
		Short: "Print a document that grants these tools, to be reviewed",
		Long:  draftLong,
		Example: `  mcpc authority draft everything --tool get-sum --by ana@example.com > sum.json
  mcpc authority draft 3f9c2e0a51d7 --tool echo --tool get-sum --expires 90d`,
		Args:              exactly("SNAPSHOT"),
		ValidArgsFunction: a.completeSnapshot,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.draft(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.tools, "tool", nil, "grant the tool `NAME` (repeatable)")
	f.StringVar(&o.by, "by", "", "sign the review as `WHO`")
	f.StringVar(&o.expires, "expires", "", "end at this `TIME`: 90d, 12h or 2027-03-01T00:00:00Z")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeFlagTool)
	return cmd
}

func (a *app) draft(cmd *cobra.Command, name string, o draftOptions) error {
	if len(o.tools) == 0 {
		return usage(cmd, "name the tools to grant with --tool")
	}
	now := a.now().UTC()
	until, err := expiry(o.expires, now)
	if err != nil {
		return usage(cmd, "--expires takes 90d, 12h or a time such as 2027-03-01T00:00:00Z")
	}
	snap, err := a.openSnapshot(cmd, name)
	if err != nil {
		return err
	}
	doc, err := authority.Draft(snap, authority.DraftOptions{Tools: o.tools, By: o.by, Now: now, NotAfter: until})
	if err != nil {
		return err
	}
	a.readBeforeUse(snap, o.tools)
	return a.printJSON(doc)
}

// readBeforeUse shows the granted tools' own words on stderr; they are escaped whatever stderr is.
func (a *app) readBeforeUse(snap *snapshot.Snapshot, tools []string) {
	onStderr := *a
	onStderr.stdout, onStderr.outTTY = a.stderr, true
	p := onStderr.page()
	p.line("(read before you use it)")
	for _, name := range tools {
		if t, ok := snap.Tool(name); ok {
			p.tool(t)
			p.line("arguments drafted closed: " + p.safe(argumentNames(t)))
			p.line("")
		}
	}
	_ = p.flush()
}

func argumentNames(t *snapshot.Tool) string {
	var names []string
	for _, arg := range t.Describe().Arguments {
		names = append(names, arg.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// expiry reads a span in days or hours, or a time.
func expiry(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return now.AddDate(0, 0, int(n)).Truncate(time.Second), err
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return now.Add(d).Truncate(time.Second), nil
	}
	return time.Parse(time.RFC3339, s)
}

const checkLong = `Check an authority document against the snapshot that it pins, and say for each
grant whether it is effective, or the refusal. The exit code is 1 when a grant
is not effective.`

func newAuthorityCheck(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Say for each grant whether it is effective",
		Long:  checkLong,
		Example: `  mcpc authority check sum.json
  mcpc authority check sum.json --json | jq '.tools[] | select(.refusal)'`,
		Args: exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.check(args[0], file) },
	}
	cmd.Flags().StringVar(&file, "snapshot", "", "read the pinned snapshot from `FILE`, not from the store")
	return cmd
}

func (a *app) check(path, snapshotFile string) error {
	doc, snap, err := a.documentAndPinned(path, snapshotFile)
	if err != nil {
		return err
	}
	verdicts := authority.Check(doc, snap, a.now(), authContext(snap.Auth))
	if err := a.printVerdicts(doc, snap, verdicts); err != nil {
		return err
	}
	for _, v := range verdicts {
		if v.Refusal != nil {
			return answered(refusal.ExitNo)
		}
	}
	return nil
}

func (a *app) printVerdicts(doc *authority.Document, snap *snapshot.Snapshot, verdicts []authority.Verdict) error {
	if a.json {
		return a.printJSON(checkDocument(verdicts))
	}
	p := a.page()
	var rows [][]string
	effective := 0
	for _, v := range verdicts {
		verdict := "effective"
		if v.Refusal != nil {
			verdict = v.Refusal.Name()
		} else {
			effective++
		}
		rows = append(rows, []string{p.safe(v.Grant.Tool), strings.Join(v.Grant.Allow, " "), verdict})
	}
	p.rows(rows)
	end := "never expires"
	if !doc.NotAfter.IsZero() {
		end = "ends " + doc.NotAfter.Format(time.RFC3339)
	}
	p.linef("%d of %s granted; snapshot %s; %s", effective, plural(len(snap.Tools), "tool"), doc.Snapshot.Short(), end)
	return p.flush()
}

func checkDocument(verdicts []authority.Verdict) []byte {
	var b bytes.Buffer
	b.WriteString(`{"mcpc":"check/1","tools":[`)
	for i, v := range verdicts {
		comma(&b, i)
		name := "null"
		if v.Refusal != nil {
			name = strconv.Quote(v.Refusal.Name())
		}
		fmt.Fprintf(&b, `{"name":%s,"effective":%t,"refusal":%s}`, strictjson.Quote(v.Grant.Tool), v.Refusal == nil, name)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// authorityBound bounds the size of an authority document, in bytes.
const authorityBound = 1 << 20

// loadAuthority reads a document that nobody but its owner can have changed.
func loadAuthority(path string) (*authority.Document, error) {
	_, doc, err := readAuthority(path)
	return doc, err
}

// readAuthority is loadAuthority with the text.
func readAuthority(path string) ([]byte, *authority.Document, error) {
	own := refusal.Own("path", path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, refusal.New(refusal.AuthorityUnreadable, own)
	}
	if writableByOthers(info) {
		return nil, nil, refusal.New(refusal.AuthorityMode, own, refusal.Own("mode", fmt.Sprintf("%04o", info.Mode().Perm()))).
			Hint("chmod go-w " + quoteWord(path))
	}
	data, err := store.ReadFile(path, authorityBound)
	if err != nil {
		return nil, nil, refusal.New(refusal.AuthorityUnreadable, own)
	}
	doc, err := authority.Parse(data)
	return data, doc, withPath(err, path)
}

// withPath says which document a refusal of the family authority is about.
func withPath(err error, path string) error {
	if r, ok := refusal.As(err); ok && strings.HasPrefix(r.Name(), "authority.") {
		return r.With(refusal.Own("path", path))
	}
	return err
}

// findAuthority returns the path of the document for a server: the flag, the configuration, or the usual place.
func (a *app) findAuthority(flag string, s *config.Server, tool string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if s.Authority != "" {
		return s.Authority, nil
	}
	if s.Name != "" {
		d, err := a.dirs()
		if err != nil {
			return "", err
		}
		if path := filepath.Join(d.Config, "authority", s.Name+".json"); fileExists(path) {
			return path, nil
		}
	}
	return "", named(refusal.New(refusal.AuthorityMissing, refusal.Own("tool", tool)).Hint(howToGrant(s, tool)), s)
}

// howToGrant is the two commands that make an authority document.
func howToGrant(s *config.Server, tool string) string {
	take := "mcpc snapshot take " + word(s)
	from := word(s)
	if s.Name == "" && s.HTTP == nil {
		take, from = "mcpc snapshot take -- "+quoteWords(s.Stdio.Command), "SNAPSHOT"
	}
	return take + "\nmcpc authority draft " + from + " --tool " + quoteWord(tool) + " --by WHO > FILE"
}

func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " ")
}

// documentAndPinned returns the document in a file and the snapshot that it pins.
func (a *app) documentAndPinned(path, snapshotFile string) (*authority.Document, *snapshot.Snapshot, error) {
	doc, err := loadAuthority(path)
	if err != nil {
		return nil, nil, err
	}
	snap, err := a.pinned(doc, snapshotFile)
	if err != nil {
		return nil, nil, err
	}
	return doc, snap, nil
}

// pinned returns the snapshot that a document pins: from the file that the flag names, else from the store.
func (a *app) pinned(doc *authority.Document, file string) (*snapshot.Snapshot, error) {
	if file != "" {
		return a.snapshotFile(file)
	}
	st, err := a.snapshots()
	if err != nil {
		return nil, err
	}
	return getSnapshot(st, doc.Snapshot)
}
