package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
)

const snapshotLong = `A snapshot is one discovery, kept: every tool descriptor with its exact bytes,
verified on every read and never edited. Its id names the surface; taking the
same surface again gives the same id.

SNAPSHOT is an id (12 hex digits of it suffice), a file, or a SERVER, which
means the newest stored snapshot of that server.`

func newSnapshot(a *app) *cobra.Command {
	return group("snapshot", "Keep what a server describes, and look at what was kept", snapshotLong,
		newSnapshotTake(a), newSnapshotList(a), newSnapshotShow(a), newSnapshotVerify(a),
		newSnapshotDiff(a), newSnapshotWatch(a))
}

func (a *app) snapshots() (store.Snapshots, error) {
	d, err := a.dirs()
	return store.Snapshots{Dir: filepath.Join(d.Data, "snapshots")}, err
}

// looksLikeID reports whether a word is an identifier, or the beginning of one, as snapshot commands print it.
func looksLikeID(word string) bool {
	digits := strings.TrimPrefix(word, "sha256:")
	return len(digits) >= 12 && len(digits) <= 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// openSnapshot finds and verifies the snapshot that a word names.
func (a *app) openSnapshot(cmd *cobra.Command, name string) (*snapshot.Snapshot, error) {
	switch {
	case looksLikeID(name):
		return a.storedSnapshot(name)
	case !strings.Contains(name, "://") && (strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".json")):
		return a.snapshotFile(name)
	}
	s, err := a.server(cmd, name, nil, target{})
	if err != nil {
		return nil, err
	}
	return a.newestSnapshot(s)
}

func (a *app) storedSnapshot(prefix string) (*snapshot.Snapshot, error) {
	st, err := a.snapshots()
	if err != nil {
		return nil, err
	}
	id, err := st.Resolve(prefix)
	if err != nil {
		return nil, hinted(err, refusal.SnapshotMissing, "mcpc snapshot list")
	}
	return getSnapshot(st, id)
}

func getSnapshot(st store.Snapshots, id strictjson.Digest) (*snapshot.Snapshot, error) {
	data, err := st.Get(id, snapshotBound)
	if err != nil {
		return nil, hinted(err, refusal.SnapshotMissing, "mcpc snapshot list")
	}
	return parseAs(data, id)
}

// snapshotBound bounds the reading of snapshot files: the largest that any configuration could have written.
var snapshotBound = largest("snapshot_bytes")

func largest(member string) int64 {
	for _, l := range config.Table {
		if l.Member == member {
			return l.Max
		}
	}
	panic("no limit " + member)
}

// parseAs verifies a document and that it is the one asked for.
func parseAs(data []byte, id strictjson.Digest) (*snapshot.Snapshot, error) {
	snap, err := parseSnapshot(data)
	if err == nil && snap.ID != id {
		return nil, refusal.New(refusal.SnapshotAltered, refusal.Hash("snapshot", id), refusal.Own("pointer", "/id"))
	}
	return snap, err
}

func parseSnapshot(data []byte) (*snapshot.Snapshot, error) {
	l := config.DefaultLimits()
	l.SnapshotBytes = snapshotBound
	return snapshot.Parse(data, l)
}

func (a *app) snapshotFile(path string) (*snapshot.Snapshot, error) {
	data, err := store.ReadFile(path, snapshotBound)
	var large *store.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, refusal.New(refusal.LimitSnapshot, refusal.Num("limit", snapshotBound))
	case err != nil:
		return nil, refusal.New(refusal.SnapshotMissing, refusal.Own("snapshot", path))
	}
	snap, err := parseSnapshot(data)
	if r, ok := refusal.As(err); ok && strings.HasPrefix(r.Name(), "snapshot.") {
		return nil, r.With(refusal.Own("path", path))
	}
	return snap, err
}

// newestSnapshot returns the stored snapshot of a server that was recorded last.
func (a *app) newestSnapshot(s *config.Server) (*snapshot.Snapshot, error) {
	id, err := identity(s)
	if err != nil {
		return nil, err
	}
	st, err := a.snapshots()
	if err != nil {
		return nil, err
	}
	stored, err := st.List()
	if err != nil {
		return nil, err
	}
	var newest *snapshot.Snapshot
	for _, f := range stored {
		snap, err := getSnapshot(st, f.ID)
		if err != nil || !snap.Server.Equal(id) {
			continue // another server's, or a file that `snapshot verify` will name
		}
		if newest == nil || snap.Recorded.At.After(newest.Recorded.At) {
			newest = snap
		}
	}
	if newest == nil {
		return nil, named(refusal.New(refusal.SnapshotMissing).Hint("mcpc snapshot take "+word(s)), s)
	}
	return newest, nil
}

func newSnapshotList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the stored snapshots",
		Long: `List the stored snapshots: id, time, protocol, number of tools and server. Each
is verified as it is read; one that is not as it was written is named on stderr.`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return a.listSnapshots() },
	}
}

func (a *app) listSnapshots() error {
	st, err := a.snapshots()
	if err != nil {
		return err
	}
	stored, err := st.List()
	if err != nil {
		return err
	}
	rows := [][]string{{"SNAPSHOT", "TAKEN", "PROTOCOL", "TOOLS", "SERVER"}}
	var docs []string
	p := a.page()
	for _, f := range stored {
		snap, err := getSnapshot(st, f.ID)
		if err != nil {
			a.note("%s %s", f.ID.Short(), refusal.From(err).Error())
			continue
		}
		at := snap.Recorded.At.Local().Format("2006-01-02 15:04")
		rows = append(rows, []string{f.ID.Short(), at, snap.Protocol, fmt.Sprint(len(snap.Tools)), p.safe(serverText(snap.Server))})
		docs = append(docs, string(takenDocument(snap, f.Path, false, true)))
	}
	if a.json {
		return a.printJSON([]byte("[" + strings.Join(docs, ",\n") + "]"))
	}
	if len(rows) > 1 {
		p.rows(rows)
	}
	return p.flush()
}

func newSnapshotShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show SNAPSHOT [TOOL]",
		Short: "Show a snapshot, or one tool of it to read",
		Long: `Show what a snapshot holds, or one tool of it in full, to be read before it is
granted. Annotations are shown as the server sent them and never acted on.

SNAPSHOT is an id (12 hex digits of it suffice), a file, or a SERVER, which
means the newest stored snapshot of that server. With --json it is the file byte
for byte, or the entry of the one tool.`,
		Example: `  mcpc snapshot show everything
  mcpc snapshot show everything get-sum
  mcpc snapshot show 3f9c2e0a51d7 --json | jq .`,
		ValidArgsFunction: a.completeSnapshotTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return usage(cmd, "give SNAPSHOT, or SNAPSHOT and TOOL")
			}
			snap, err := a.openSnapshot(cmd, args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return a.showSnapshot(snap)
			}
			return a.showTool(snap, args[0], args[1])
		},
	}
}

func newSnapshotVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [SNAPSHOT]",
		Short: "Verify a snapshot, or all that are stored",
		Long: `Read a snapshot strictly and recompute every digest in it, and its id. Without
SNAPSHOT that is done for every stored one. The exit code is 3 when a file is
not as it was written.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(cmd, "%s is one word too many", args[1])
			}
			return nil
		},
		ValidArgsFunction: a.completeSnapshot,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.verifyAll()
			}
			snap, err := a.openSnapshot(cmd, args[0])
			if err != nil {
				return err
			}
			return a.verified([]*snapshot.Snapshot{snap})
		},
	}
}

func (a *app) verifyAll() error {
	st, err := a.snapshots()
	if err != nil {
		return err
	}
	stored, err := st.List()
	if err != nil {
		return err
	}
	var good []*snapshot.Snapshot
	var first error
	for _, f := range stored {
		snap, err := getSnapshot(st, f.ID)
		if err == nil {
			good = append(good, snap)
			continue
		}
		a.note("%s %s", f.ID.Short(), refusal.From(err).Error())
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return first
	}
	return a.verified(good)
}

func (a *app) verified(snaps []*snapshot.Snapshot) error {
	if a.json {
		var docs []string
		for _, s := range snaps {
			docs = append(docs, fmt.Sprintf(`{"id":%q,"tools":%d,"rejected":%d}`, s.ID, len(s.Tools), len(s.Rejected)))
		}
		return a.printJSON([]byte(`{"mcpc":"verified/1","snapshots":[` + strings.Join(docs, ",") + `]}`))
	}
	p := a.page()
	for _, s := range snaps {
		p.linef("%s  %s  as written", s.ID.Short(), counts(s))
	}
	return p.flush()
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
