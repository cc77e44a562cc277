package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mcpc/internal/refusal"
)

// leaves calls f with every command that does something, hidden ones too.
func leaves(c *cobra.Command, f func(*cobra.Command)) {
	for _, child := range c.Commands() {
		leaves(child, f)
	}
	if c.Runnable() && !c.HasSubCommands() {
		f(c)
	}
}

func tree() *cobra.Command {
	root := newRoot(&app{stdout: io.Discard, stderr: io.Discard})
	root.InitDefaultHelpCmd()
	addCompletion(root)
	return root
}

// transcripts returns the scripts by file name, without the files in them.
func transcripts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	scripts := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		scripts[filepath.Base(f)] = script
	}
	return scripts
}

func TestEveryCommandHasTranscript(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, script := range transcripts(t) {
		all.WriteString(script)
	}
	n := 0
	leaves(tree(), func(c *cobra.Command) {
		n++
		words := strings.TrimPrefix(c.CommandPath(), "mcpc ")
		run := regexp.MustCompile(`(?m)\b(exec|exits \d+)( \S+)* mcpc( --json| --config \S+)* ` + words + `\b`)
		if !run.MatchString(all.String()) {
			t.Errorf("no transcript runs %s", c.CommandPath())
		}
	})
	if n < 20 {
		t.Fatalf("%d commands were looked for", n)
	}
}

func TestEveryExitCodeHasTranscript(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, script := range transcripts(t) {
		all.WriteString("\n" + script)
	}
	for _, code := range []int{
		refusal.ExitNo, refusal.ExitUsage, refusal.ExitRefused, refusal.ExitSignIn, refusal.ExitPeer, refusal.ExitInterrupted,
	} {
		if !strings.Contains(all.String(), "\nexits "+strconv.Itoa(code)+" ") {
			t.Errorf("no transcript ends a command with exit code %d", code)
		}
	}
}

// Whatever a transcript is about, it also reads what a script would read.
func TestEveryTranscriptReadsJSON(t *testing.T) {
	t.Parallel()
	reads := regexp.MustCompile(`(?m)^(\[\w+\] )?json (stdout|stderr)\b`)
	for name, script := range transcripts(t) {
		if !strings.Contains(script, "--json") || !reads.MatchString(script) {
			t.Errorf("%s reads no JSON document", name)
		}
	}
}
