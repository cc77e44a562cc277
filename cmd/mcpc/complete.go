package main

import (
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
)

// Completion reads local files only: the configuration and the stored snapshots. It never starts or reaches a server.
// Names that would not be safe on a command line are not offered.

type completions = []cobra.Completion

const noFiles = cobra.ShellCompDirectiveNoFileComp

func (a *app) completeServer(_ *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return a.serverNames(), noFiles
}

func (a *app) serverNames() completions {
	c, err := a.loadConfig()
	if err != nil {
		return nil
	}
	var names completions
	for name := range c.Servers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// local returns the newest stored snapshot that a word names, or nil.
func (a *app) local(cmd *cobra.Command, name string) *snapshot.Snapshot {
	snap, err := a.openSnapshot(cmd, name)
	if err != nil {
		return nil
	}
	return snap
}

// completeDiff offers servers as they were kept, and for NEW as they are now too.
func (a *app) completeDiff(_ *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, noFiles
	}
	names := a.serverNames()
	for _, name := range a.serverNames() {
		names = append(names, livePrefix+name)
	}
	return names, cobra.ShellCompDirectiveDefault
}

func (a *app) completeSnapshotTool(cmd *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.serverNames(), noFiles
	case 1:
		return toolNames(a.local(cmd, args[0])), noFiles
	}
	return nil, noFiles
}

func (a *app) completeFlagTool(cmd *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, noFiles
	}
	return toolNames(a.local(cmd, args[0])), noFiles
}

func (a *app) completeCall(cmd *cobra.Command, args []string, word string) (completions, cobra.ShellCompDirective) {
	if len(args) < 2 {
		return a.completeSnapshotTool(cmd, args, word)
	}
	if i := strings.Index(word, "=@"); i > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	snap := a.local(cmd, args[0])
	if snap == nil {
		return nil, noFiles
	}
	t, ok := snap.Tool(args[1])
	if !ok {
		return nil, noFiles
	}
	var keys completions
	for _, arg := range t.Describe().Arguments {
		if key := arg.Name + "="; plain(arg.Name) && !given(args[2:], arg.Name) {
			keys = append(keys, key)
		}
	}
	return keys, noFiles | cobra.ShellCompDirectiveNoSpace
}

func given(words []string, key string) bool {
	for _, w := range words {
		if strings.HasPrefix(w, key+"=") || strings.HasPrefix(w, key+":=") {
			return true
		}
	}
	return false
}

func toolNames(snap *snapshot.Snapshot) completions {
	if snap == nil {
		return nil
	}
	var names completions
	for i := range snap.Tools {
		if plain(snap.Tools[i].Name) {
			names = append(names, snap.Tools[i].Name)
		}
	}
	return names
}

// plain reports whether a name can stand on a command line as it is.
func plain(name string) bool {
	return name != "" && name[0] != '-' && quoteWord(name) == name && !strings.Contains(name, "=")
}

func completeRefusal(_ *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	var names completions
	for _, e := range refusal.All() {
		names = append(names, e.Name)
	}
	return names, noFiles
}
