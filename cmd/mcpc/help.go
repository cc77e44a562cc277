package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// alsoUsed is the annotation with a command's second form, that of a server given as a command line.
const alsoUsed = "also used as"

// printUsage prints how a command is used; cobra's help puts the command's own words above it. Every line fits into 80
// columns, which a test holds.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	} else {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if also := cmd.Annotations[alsoUsed]; also != "" {
		fmt.Fprintf(&b, "  %s %s\n", cmd.CommandPath(), also)
	}
	section(&b, "Examples:", cmd.Example)
	if groups := cmd.Groups(); len(groups) > 0 {
		for _, g := range groups {
			section(&b, g.Title, listed(cmd, func(c *cobra.Command) bool { return c.IsAvailableCommand() && c.GroupID == g.ID }))
		}
	} else {
		section(&b, "Commands:", listed(cmd, (*cobra.Command).IsAvailableCommand))
	}
	section(&b, "Help topics:", listed(cmd, (*cobra.Command).IsAdditionalHelpTopicCommand))
	section(&b, "Flags:", cmd.LocalFlags().FlagUsages())
	section(&b, "Flags of every command:", cmd.InheritedFlags().FlagUsages())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help says more.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// newHelp is the help command; a topic that does not exist is a mistake, and the exit code says so.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "Help about a command or a topic",
		GroupID: "about",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, noFiles
			}
			var names completions
			for _, c := range about.Commands() {
				if !c.Hidden {
					names = append(names, c.Name())
				}
			}
			return names, noFiles
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{"there is no help about " + strings.Join(args, " "), "mcpc help"}
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func section(b *strings.Builder, title, text string) {
	if text = strings.TrimRight(text, " \n"); text != "" {
		fmt.Fprintf(b, "\n%s\n%s\n", title, text)
	}
}

// listed is the subcommands of a kind, one a line.
func listed(cmd *cobra.Command, is func(*cobra.Command) bool) string {
	width := 0
	for _, c := range cmd.Commands() {
		if is(c) {
			width = max(width, len(c.Name()))
		}
	}
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if is(c) {
			fmt.Fprintf(&b, "  %s   %s\n", pad(c.Name(), width), c.Short)
		}
	}
	return b.String()
}
