package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

const importLong = `Read the servers of another program's configuration and print a new one for
mcpc: Claude Desktop, Claude Code, Cursor, VS Code, the Gemini CLI and Codex
(TOML). Comments, trailing commas, a byte order mark, UTF-16 and members that
stand there twice are taken as those programs take them.

Commands, URLs and the names of variables are kept. No value that could be a
secret is: neither a variable's or header's value, nor an argument that looks
like one. What is dropped goes to stderr, by its place in the file and never by
value.

The exit code is 1 when the file names servers and none could be kept.`

func newConfigImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Print a configuration made from another program's",
		Long:  importLong,
		Example: `  mcpc config import ~/.cursor/mcp.json > config.json
  mcpc config import ~/.codex/config.toml --json | jq .dropped`,
		Args: exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.importConfig(args[0]) },
	}
}

func (a *app) importConfig(path string) error {
	data, err := store.ReadFile(path, config.MaxBytes+1) // one more, so that Import names the limit
	if err != nil {
		return refusal.New(refusal.ConfigUnreadable, refusal.Own("path", path))
	}
	im, err := config.Import(data, path)
	if err != nil {
		return err
	}
	for _, d := range im.Dropped {
		a.note("dropped %s: %s", terminal.Escape(whole(d.Pointer)), terminal.Escape(d.Reason))
	}
	a.note("%s of %s kept", plural(im.Servers, "server"), im.Kind)
	text := im.Config
	if a.json {
		text = importDocument(im)
	}
	if err := a.printJSON(text); err != nil || im.Servers > 0 || len(im.Dropped) == 0 {
		return err
	}
	return answered(refusal.ExitNo)
}

func whole(pointer string) string {
	if pointer == "" {
		return "(anywhere)"
	}
	return pointer
}

// importDocument is the imported/1 document.
func importDocument(im *config.Imported) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"mcpc\":\"imported/1\",\"from\":%s,\"servers\":%d,\n\"config\":%s,\n\"dropped\":[",
		strictjson.Quote(im.Kind), im.Servers, bytes.TrimSpace(im.Config))
	for i, d := range im.Dropped {
		comma(&b, i)
		fmt.Fprintf(&b, "\n{\"pointer\":%s,\"reason\":%s}", strictjson.Quote(d.Pointer), strictjson.Quote(d.Reason))
	}
	b.WriteString("]}")
	return b.Bytes()
}
