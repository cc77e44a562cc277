package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var docs = filepath.Join("..", "..", "docs")

// TestManualDocument holds the manual pages to the commands' own words: one page for each command and topic, and none
// for what is no more.
func TestManualDocument(t *testing.T) {
	t.Parallel()
	made := map[string]string{}
	visible(tree(), func(c *cobra.Command) {
		name, text := manualPage(c)
		made[name] = text
	})
	compareFolder(t, filepath.Join(docs, "man"), made)
}

// TestCompletionDocument holds the completion scripts of four shells to what the program prints.
func TestCompletionDocument(t *testing.T) {
	t.Parallel()
	made := map[string]string{}
	for shell, name := range map[string]string{
		"bash": "mcpc.bash", "zsh": "_mcpc", "fish": "mcpc.fish", "powershell": "mcpc.ps1",
	} {
		made[name] = must(t, []string{"HOME=/nowhere"}, 0, "completion", shell)
	}
	compareFolder(t, filepath.Join(docs, "completions"), made)
}

func compareFolder(t *testing.T, folder string, made map[string]string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range made {
		compareDocument(t, filepath.Join(folder, name), text)
	}
	there, err := os.ReadDir(folder)
	if err != nil || len(made) == 0 {
		t.Fatal(err)
	}
	for _, f := range there {
		if _, ok := made[f.Name()]; !ok {
			t.Errorf("%s is of nothing that is there", filepath.Join(folder, f.Name()))
		}
	}
}

// Shells that are at hand read the scripts without a complaint.
func TestCompletionScriptsAreRead(t *testing.T) {
	t.Parallel()
	for shell, name := range map[string]string{"bash": "mcpc.bash", "zsh": "_mcpc", "fish": "mcpc.fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		script := filepath.Join(docs, "completions", name)
		if out, err := exec.CommandContext(t.Context(), path, "-n", script).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", shell, err, out)
		}
	}
}

// manualPage writes a page in the man macros: the words of the help as they are laid out there.
func manualPage(c *cobra.Command) (name, text string) {
	title, section := strings.ReplaceAll(c.CommandPath(), " ", "-"), "1"
	if isTopic(c) {
		section = "7"
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s \"\" \"mcpc\" \"mcpc manual\"\n", strings.ToUpper(title), section)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(title), roff(c.Short))
	if section == "1" {
		usage := c.UseLine()
		if c.HasAvailableSubCommands() {
			usage = c.CommandPath() + " COMMAND"
		}
		if also := c.Annotations[alsoUsed]; also != "" {
			usage += "\n" + c.CommandPath() + " " + also
		}
		verbatim(&b, "SYNOPSIS", usage)
	}
	verbatim(&b, "DESCRIPTION", c.Long)
	verbatim(&b, "FLAGS", c.LocalFlags().FlagUsages())
	verbatim(&b, "FLAGS OF EVERY COMMAND", c.InheritedFlags().FlagUsages())
	verbatim(&b, "EXAMPLES", c.Example)
	if also := seeAlso(c); also != "" {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(also))
	}
	return title + "." + section, b.String()
}

func verbatim(b *strings.Builder, heading, text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", heading)
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`)

// roff escapes a line: no character of ours is a command of the formatter.
func roff(line string) string {
	line = roffEscapes.Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}

// seeAlso names the pages above and below.
func seeAlso(c *cobra.Command) string {
	var pages []string
	if c.HasParent() {
		pages = append(pages, pageOf(c.Parent()))
	}
	for _, child := range c.Commands() {
		if !child.Hidden && child.Name() != "help" && c.Name() != "completion" {
			pages = append(pages, pageOf(child))
		}
	}
	return strings.Join(pages, ", ")
}

func isTopic(c *cobra.Command) bool { return !c.Runnable() && !c.HasSubCommands() }

func pageOf(c *cobra.Command) string {
	name, _, _ := strings.Cut(strings.ReplaceAll(c.CommandPath(), " ", "-"), "\n")
	if isTopic(c) {
		return name + "(7)"
	}
	return name + "(1)"
}

// Every page that another one names is there.
func TestManualPagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages := map[string]bool{}
	var named []string
	visible(tree(), func(c *cobra.Command) {
		pages[pageOf(c)] = true
		named = append(named, strings.Split(seeAlso(c), ", ")...)
	})
	for _, name := range slices.Compact(slices.Sorted(slices.Values(named))) {
		if !pages[name] {
			t.Errorf("there is no page %q", name)
		}
	}
}

// Where there is a formatter, it has nothing to complain of.
func TestManualIsWellFormed(t *testing.T) {
	t.Parallel()
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		return
	}
	paths, _ := filepath.Glob(filepath.Join(docs, "man", "*"))
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), mandoc, append([]string{"-T", "lint", "-W", "error"}, paths...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}
