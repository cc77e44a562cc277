package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
)

const takeLong = `Discover a server and keep what it describes in a file that is never changed.
When the same surface is kept already, that is a success that writes nothing.

The file goes to mcpc's data folder, under the name of its id. -o FILE writes it
to a new file instead, and -o - to stdout.`

type takeOptions struct {
	target
	output  string
	confirm bool
}

func newSnapshotTake(a *app) *cobra.Command {
	var o takeOptions
	cmd := &cobra.Command{
		Use:         "take SERVER",
		Short:       "Discover a server and keep the result",
		Long:        takeLong,
		Annotations: map[string]string{alsoUsed: "[flags] -- COMMAND [ARG]..."},
		Example: `  mcpc snapshot take everything
  mcpc snapshot take https://mcp.example.com/mcp -o docs.snapshot.json
  mcpc snapshot take --env PATH -- node server.js`,
		ValidArgsFunction: a.completeServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.oneServer(cmd, args, o.target)
			if err != nil {
				return err
			}
			return named(a.takeSnapshot(cmd.Context(), s, o), s)
		},
	}
	a.addTarget(cmd, &o.target)
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write to a new `FILE`, or - for stdout; store nothing")
	cmd.Flags().BoolVar(&o.confirm, "confirm", false, "list twice, each time on a new connection, and compare")
	return cmd
}

func (a *app) takeSnapshot(ctx context.Context, s *config.Server, o takeOptions) error {
	d, err := a.discover(ctx, s, true)
	if err != nil {
		return err
	}
	if o.confirm {
		again, err := a.discover(ctx, s, false)
		if err != nil {
			return err
		}
		if again.ID != d.ID {
			return refusal.New(refusal.SnapshotUnstable)
		}
	}
	switch o.output {
	case "":
		return a.storeSnapshot(d.Snapshot)
	case "-":
		return a.printJSON(d.Encode())
	}
	return a.writeSnapshot(d.Snapshot, o.output)
}

func (a *app) storeSnapshot(snap *snapshot.Snapshot) error {
	st, err := a.snapshots()
	if err != nil {
		return err
	}
	path, isNew, err := st.Put(snap.ID, snap.Encode())
	if err != nil {
		return err
	}
	if !isNew {
		// The file that is there is what a later call will trust, so it is looked at now.
		if snap, err = getSnapshot(st, snap.ID); err != nil {
			return err
		}
	}
	return a.taken(snap, path, isNew)
}

func (a *app) writeSnapshot(snap *snapshot.Snapshot, path string) error {
	if err := store.WriteExclusive(path, snap.Encode(), 0o444); err != nil {
		return err
	}
	return a.taken(snap, path, true)
}

func (a *app) taken(snap *snapshot.Snapshot, path string, isNew bool) error {
	if a.json {
		return a.printJSON(takenDocument(snap, path, isNew, false))
	}
	p := a.page()
	if isNew {
		p.linef("%s  %s  new", snap.ID.Short(), counts(snap))
		p.line(p.safe(path))
	} else {
		p.linef("%s  unchanged since %s", snap.ID.Short(), snap.Recorded.At.Local().Format("2006-01-02 15:04"))
	}
	return p.flush()
}

// takenDocument is the taken/1 document; a list adds the server and the time, and has nothing new.
func takenDocument(snap *snapshot.Snapshot, path string, isNew, listed bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"mcpc":"taken/1","id":%q,"path":%s,`, snap.ID, strictjson.Quote(path))
	if listed {
		fmt.Fprintf(&b, `"server":%s,"at":%q,"protocol":%q,`, snap.Server.AppendJSON(nil), snap.Recorded.At.Format("2006-01-02T15:04:05Z"), snap.Protocol)
	} else {
		fmt.Fprintf(&b, `"new":%t,`, isNew)
	}
	fmt.Fprintf(&b, `"tools":%d,"rejected":%d}`, len(snap.Tools), len(snap.Rejected))
	return b.Bytes()
}
