package main

import (
	"github.com/spf13/cobra"

	"mcpc/internal/authority"
)

const surfaceLong = `Print what may be published: one JSON document with the tools that the authority
document grants to publish, each descriptor byte for byte as it was pinned, with
the id of the snapshot and the digest of the document. Equal input gives equal
bytes, so a consumer can compare and sign them.

A grant that is not effective refuses the whole: a surface is never silently
smaller than what was reviewed.`

func newAuthoritySurface(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "surface FILE",
		Short: "Print the publishable set, for a consumer",
		Long:  surfaceLong,
		Example: `  mcpc authority surface sum.json > published.json
  mcpc authority surface sum.json | jq -r '.tools[].name'`,
		Args: exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.surface(args[0], file) },
	}
	cmd.Flags().StringVar(&file, "snapshot", "", "read the pinned snapshot from `FILE`, not from the store")
	return cmd
}

func (a *app) surface(path, snapshotFile string) error {
	doc, snap, err := a.documentAndPinned(path, snapshotFile)
	if err != nil {
		return err
	}
	text, err := authority.Surface(doc, snap, a.now(), authContext(snap.Auth))
	if err != nil {
		return withPath(err, path)
	}
	return a.printJSON(text)
}
