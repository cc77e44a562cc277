package main

import (
	"time"

	"github.com/spf13/cobra"

	"mcpc/internal/authority"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/terminal"
)

const renewLong = `Print an authority document moved on to a newer snapshot of the same server.
Grants of tools that did not change are carried over as they stand. One whose
tool changed or went away is carried over, or dropped, only when it is named
with --accept; without that the first such tool is refused by name, and nothing
is printed. What an accepted tool says now goes to stderr, beside what it said.

The old document stays as it is. Without --by the new one has no reviewer and is
refused until somebody signs it.`

type renewOptions struct {
	snapshot, from string
	accept         []string
	by, expires    string
}

func newAuthorityRenew(a *app) *cobra.Command {
	var o renewOptions
	cmd := &cobra.Command{
		Use:   "renew FILE --snapshot NEW [--accept TOOL]...",
		Short: "Print the document moved on to a newer snapshot",
		Long:  renewLong,
		Example: `  mcpc authority renew sum.json --snapshot everything --by ana@example.com
  mcpc authority renew sum.json --snapshot 77ab01c2d3e4 --accept get-sum`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.renew(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.snapshot, "snapshot", "", "move on to this `SNAPSHOT`: an id, a file, or a SERVER")
	f.StringVar(&o.from, "from", "", "read the pinned snapshot from `FILE`, not the store")
	f.StringArrayVar(&o.accept, "accept", nil, "accept a `TOOL` that changed or is gone (repeatable)")
	f.StringVar(&o.by, "by", "", "sign the review as `WHO`")
	f.StringVar(&o.expires, "expires", "", "end at this `TIME`: 90d, 12h or 2027-03-01T00:00:00Z")
	_ = cmd.RegisterFlagCompletionFunc("snapshot", a.completeServer)
	return cmd
}

func (a *app) renew(cmd *cobra.Command, path string, o renewOptions) error {
	if o.snapshot == "" {
		return usage(cmd, "say with --snapshot what to move on to")
	}
	now := a.now().UTC()
	until, err := expiry(o.expires, now)
	if err != nil {
		return usage(cmd, "--expires takes 90d, 12h or a time such as 2027-03-01T00:00:00Z")
	}
	text, doc, err := readAuthority(path)
	if err != nil {
		return err
	}
	from, err := a.pinned(doc, o.from)
	if err != nil {
		return err
	}
	to, err := a.openSnapshot(cmd, o.snapshot)
	if err != nil {
		return err
	}
	next, renewals, err := authority.Renew(text, from, to, authority.RenewOptions{
		Accept: o.accept, By: o.by, Now: now, NotAfter: until,
	})
	if err != nil {
		return withPath(withRenewal(err, path, doc, o), path)
	}
	a.noteExpired(doc, until, now)
	a.readBeforeCarrying(from, to, renewals)
	return a.printJSON(next)
}

// withRenewal adds the two commands that lead on from a changed grant: one to read, one to accept.
func withRenewal(err error, path string, doc *authority.Document, o renewOptions) error {
	r, ok := refusal.As(err)
	if !ok || r.Entry() != refusal.AuthorityChangedNotNamed {
		return err
	}
	tool, _ := r.Detail("tool").(string)
	file, to := quoteWord(path), quoteWord(o.snapshot)
	old := doc.Snapshot.Short()
	if o.from != "" {
		old = quoteWord(o.from)
	}
	accept := "mcpc authority renew " + file + " --snapshot " + to
	for _, name := range append(o.accept, tool) {
		accept += " --accept " + quoteWord(name)
	}
	read := "mcpc snapshot diff " + old + " " + to + " --authority " + file
	return r.Hint(read + "\n" + accept + " --by WHO > NEXT.json")
}

// noteExpired says that a renewal does not by itself lengthen what a document allows.
func (a *app) noteExpired(doc *authority.Document, until, now time.Time) {
	if until.IsZero() && !doc.NotAfter.IsZero() && now.After(doc.NotAfter) {
		a.note("note: the document ended at %s and still does; --expires gives it another end",
			doc.NotAfter.UTC().Format(time.RFC3339))
	}
}

// readBeforeCarrying says on stderr what became of each grant, and shows what accepted tools said and say.
func (a *app) readBeforeCarrying(from, to *snapshot.Snapshot, renewals []authority.Renewal) {
	if a.json {
		return
	}
	onStderr := *a
	onStderr.stdout, onStderr.outTTY = a.stderr, a.errTTY
	p := &diffPage{page: onStderr.page(), paint: onStderr.paint()}
	var rows [][]string
	accepted := map[string]bool{}
	for _, r := range renewals {
		rows = append(rows, []string{terminal.Escape(r.Tool), fate[r.Change]})
		accepted[r.Tool] = r.Change != authority.Unchanged
	}
	p.rows(rows)
	report := snapshot.Diff(from, to)
	for _, s := range grouped(report.Changes) {
		if accepted[s.tool] {
			p.group(s, columns(s.name))
		}
	}
	_ = p.flush()
}

// fate is what a renewal does with a grant.
var fate = map[string]string{
	authority.Unchanged: "unchanged, carried over",
	authority.Changed:   "changed, accepted",
	authority.Removed:   "gone, dropped",
}
