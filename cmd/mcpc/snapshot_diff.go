package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/authority"
	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

const diffLong = `Compare two snapshots in full: what was added, removed and changed, by its place
in the document, with the old and the new value whole. Text is escaped, and code
points that do not show are named. Annotations are shown and never judged.

OLD and NEW are snapshots as everywhere (an id, a file, or a SERVER for its
newest stored one), or live:SERVER, which discovers the server now and keeps
nothing. The live side can be a command line: ... diff OLD live: -- COMMAND.

With --authority the tools that the document grants are marked.

The exit code is 0 when both are the same surface and 1 when they differ. What
is in no digest (order, server info, time to live, sign-in, bounds) is listed
apart and does not make a difference.`

type diffOptions struct {
	target
	authority string
}

func newSnapshotDiff(a *app) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two snapshots, or one with the server as it is now",
		Long:  diffLong,
		Example: `  mcpc snapshot diff everything live:everything
  mcpc snapshot diff 3f9c2e0a51d7 live:everything --authority sum.json
  mcpc snapshot diff old.json new.json --json | jq '.changes[].pointer'`,
		ValidArgsFunction: a.completeDiff,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.diff(cmd, args, o) },
	}
	a.addTarget(cmd, &o.target)
	cmd.Flags().StringVar(&o.authority, "authority", "", "mark the tools that the document `FILE` grants")
	return cmd
}

// side is one of the two things that are compared.
type side struct {
	snap *snapshot.Snapshot
	live bool
}

func (a *app) diff(cmd *cobra.Command, args []string, o diffOptions) error {
	words, command := splitDash(cmd, args)
	if err := exactly("OLD", "NEW")(cmd, words); err != nil {
		return err
	}
	if len(command) > 0 == !slices.Contains(words, livePrefix) {
		return usage(cmd, "a command line after -- goes with live: and no name, once")
	}
	var doc *authority.Document
	if o.authority != "" {
		var err error
		if doc, err = loadAuthority(o.authority); err != nil {
			return err
		}
	}
	old, err := a.side(cmd, words[0], command, o.target)
	if err != nil {
		return err
	}
	now, err := a.side(cmd, words[1], command, o.target)
	if err != nil {
		return err
	}
	a.notePin(doc, o.authority, old, now)
	return a.printDiff(old, now, doc)
}

const livePrefix = "live:"

func (a *app) side(cmd *cobra.Command, name string, command []string, t target) (side, error) {
	from, live := strings.CutPrefix(name, livePrefix)
	if !live {
		snap, err := a.openSnapshot(cmd, name)
		return side{snap: snap}, err
	}
	if from != "" {
		command, t = nil, target{}
	}
	s, err := a.server(cmd, from, command, t)
	if err != nil {
		return side{}, err
	}
	d, err := a.discover(cmd.Context(), s, true)
	if err != nil {
		return side{}, named(err, s)
	}
	return side{d.Snapshot, true}, nil
}

// notePin says when a document is about neither side: its marks are then by name alone.
func (a *app) notePin(doc *authority.Document, path string, old, now side) {
	if doc != nil && doc.Snapshot != old.snap.ID && doc.Snapshot != now.snap.ID {
		a.note("note: %s pins another snapshot, %s; tools are marked by name", terminal.Escape(path), doc.Snapshot.Short())
	}
}

func (a *app) printDiff(old, now side, doc *authority.Document) error {
	report := snapshot.Diff(old.snap, now.snap)
	grants := grantedNames(doc)
	var err error
	if a.json {
		err = a.printJSON(diffDocument(&report, doc, grants))
	} else {
		p := &diffPage{page: a.page(), paint: a.paint(), grants: grants}
		p.sides(old, now)
		p.report(&report)
		err = p.flush()
	}
	if err == nil && !report.Same() {
		err = answered(refusal.ExitNo)
	}
	return err
}

func grantedNames(doc *authority.Document) (names []string) {
	if doc == nil {
		return nil
	}
	for _, g := range doc.Tools {
		names = append(names, g.Tool)
	}
	return names
}

// diffDocument is the diff/1 document; with an authority document it names that, and the granted tools that differ.
func diffDocument(report *snapshot.Report, doc *authority.Document, grants []string) []byte {
	b := report.AppendJSON(nil)
	if doc == nil {
		return b
	}
	b = append(b[:len(b)-1], `,"authority":`...)
	b = append(strictjson.AppendQuote(b, string(doc.Digest)), `,"granted":`...)
	return append(append(b, quoteList(affected(report, grants))...), '}')
}

// affected returns the granted tools that differ, in the order of the records.
func affected(report *snapshot.Report, grants []string) []string {
	names := []string{}
	for _, name := range report.Tools() {
		if slices.Contains(grants, name) {
			names = append(names, name)
		}
	}
	return names
}

// candidate is what mcpc snapshot take would keep now.
func (a *app) candidate(ctx context.Context, s *config.Server) (*snapshot.Snapshot, error) {
	d, err := a.discover(ctx, s, true)
	if err != nil {
		return nil, err
	}
	return d.Snapshot, nil
}
