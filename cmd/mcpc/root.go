package main

import (
	"github.com/spf13/cobra"

	"mcpc/internal/refusal"
)

const rootLong = `mcpc talks to MCP servers, and takes nothing they say as permission.

A discovery is kept as a snapshot: every tool descriptor, byte for byte. You
write an authority document that names the tools and arguments you allow. A
call goes through the intersection of the two, and everything else is refused
by name.

SERVER is a name from the configuration, an https:// URL, or a command line
after --:

  mcpc discover everything
  mcpc discover https://mcp.example.com/mcp
  mcpc discover --env PATH --env HOME -- npx -y some-mcp-server

The answer goes to stdout and everything else to stderr. The exit code says what
came of it: mcpc help exit-codes.`

const rootExample = `  mcpc discover everything
  mcpc snapshot take everything
  mcpc authority draft everything --tool get-sum --by ana@example.com > sum.json
  mcpc call everything get-sum a=1 b=2 --authority sum.json`

func init() { cobra.EnableCommandSorting = false } // commands are listed in the order of the work

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:               "mcpc",
		Short:             "An MCP client: what a server says is evidence, what you write is permission",
		Long:              rootLong,
		Example:           rootExample,
		Version:           version,
		Args:              unknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetVersionTemplate("mcpc {{.Version}}\n")
	root.SetUsageFunc(printUsage)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{err.Error(), cmd.CommandPath() + " --help"}
	})
	p := root.PersistentFlags()
	p.BoolVar(&a.json, "json", false, "answer with one JSON document, a refusal too")
	p.StringVar(&a.configPath, "config", "", "read the configuration `FILE` (see mcpc config path)")
	root.AddGroup(&cobra.Group{ID: "work", Title: "Commands:"}, &cobra.Group{ID: "about", Title: "About mcpc:"})
	for _, c := range []*cobra.Command{
		newDiscover(a), newSnapshot(a), newAuthority(a), newCall(a), newLogin(a), newLogout(a), newCredentials(a),
	} {
		c.GroupID = "work"
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{newConfig(a), newRefusals(a), newVersion(a)} {
		c.GroupID = "about"
		root.AddCommand(c)
	}
	root.SetHelpCommand(newHelp())
	root.SetCompletionCommandGroupID("about")
	root.SetOut(a.stdout) // which the completion command asks for when it is made
	root.AddCommand(helpTopics()...)
	root.AddCommand(newFeatures(a)...)
	return root
}

// addCompletion adds cobra's command under a name of ours. It takes hold of the output that the root has by then.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "Print a completion script for bash, zsh, fish or PowerShell"
		}
	}
}

// unknownCommand refuses words that are no command; cobra's own text would do, but its suggestions are worth a hint.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	if cmd.HasParent() {
		word = cmd.CommandPath() + " " + word
	}
	e := usageError{"there is no command " + word, cmd.CommandPath() + " --help"}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		e.hint = cmd.CommandPath() + " " + near[0] + " --help"
	}
	return e
}

// group makes a command that only holds others.
func group(use, short, long string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := unknownCommand(cmd, args); err != nil {
				return err
			}
			return cmd.Help()
		},
	}
	c.AddCommand(children...)
	return c
}

// exactly is cobra.ExactArgs with words of ours.
func exactly(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(what):
			return usage(cmd, "%s is missing", what[len(args)])
		case len(args) > len(what):
			return usage(cmd, "%s is one word too many", args[len(what)])
		}
		return nil
	}
}

// hinted adds a hint to a refusal that has none.
func hinted(err error, entry *refusal.Entry, hint string) error {
	if r, ok := refusal.As(err); ok && r.Entry() == entry && r.HintText() == "" {
		return r.Hint(hint)
	}
	return err
}
