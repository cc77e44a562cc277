package main

import (
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/authority"
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

// completeHTTPServer offers the servers that one can sign in to.
func (a *app) completeHTTPServer(_ *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	c, err := a.loadConfig()
	if err != nil || len(args) > 0 {
		return nil, noFiles
	}
	return slices.DeleteFunc(a.serverNames(), func(name string) bool { return c.Servers[name].HTTP == nil }), noFiles
}

// completeSnapshot offers what can stand for a snapshot: servers, ids and, where none of these fits, files.
func (a *app) completeSnapshot(_ *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	names := a.serverNames()
	if st, err := a.snapshots(); err == nil {
		stored, _ := st.List()
		for _, s := range stored {
			names = append(names, s.ID.Short())
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

func (a *app) completeSnapshotTool(
	cmd *cobra.Command, args []string, _ string,
) (completions, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.completeSnapshot(cmd, nil, "")
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

// completeCall offers servers, then the tools that may be called, then the arguments of the one that is named.
func (a *app) completeCall(cmd *cobra.Command, args []string, word string) (completions, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.serverNames(), noFiles
	}
	snap, tools := a.callable(cmd, args[0])
	name, words := cmd.Flag("tool").Value.String(), args[1:]
	if name == "" {
		if len(words) == 0 {
			return tools, noFiles
		}
		name, words = words[0], words[1:]
	}
	if strings.Contains(word, "=@") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return argumentKeys(snap, name, words), noFiles | cobra.ShellCompDirectiveNoSpace
}

func (a *app) completeCallTool(cmd *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, noFiles
	}
	_, tools := a.callable(cmd, args[0])
	return tools, noFiles
}

// callable returns the snapshot that a call to a server would use and the tools granted of it; and where no authority
// document is found, the newest snapshot with all its tools.
func (a *app) callable(cmd *cobra.Command, name string) (*snapshot.Snapshot, completions) {
	if s, err := a.server(cmd, name, nil, target{}); err == nil {
		path, err := a.findAuthority(cmd.Flag("authority").Value.String(), s, "")
		if err == nil {
			return a.grantedBy(path, cmd.Flag("snapshot").Value.String())
		}
	}
	snap := a.local(cmd, name)
	return snap, toolNames(snap)
}

func (a *app) grantedBy(path, snapshotFile string) (*snapshot.Snapshot, completions) {
	doc, snap, err := a.documentAndPinned(path, snapshotFile)
	if err != nil || snap.ID != doc.Snapshot {
		return nil, nil
	}
	var names completions
	for _, g := range doc.Tools {
		if _, ok := snap.Tool(g.Tool); ok && plain(g.Tool) && slices.Contains(g.Allow, authority.Invoke) {
			names = append(names, g.Tool)
		}
	}
	return snap, names
}

func argumentKeys(snap *snapshot.Snapshot, tool string, words []string) completions {
	if snap == nil {
		return nil
	}
	t, ok := snap.Tool(tool)
	if !ok {
		return nil
	}
	var keys completions
	for _, arg := range t.Describe().Arguments {
		if plain(arg.Name) && !given(words, arg.Name) {
			keys = append(keys, arg.Name+"=")
		}
	}
	return keys
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
