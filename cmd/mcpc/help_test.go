package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the documents that are compared")

// visible calls f with every command that help lists, the topics among them, in the order of the lists.
func visible(c *cobra.Command, f func(*cobra.Command)) {
	if c.Hidden || c.Name() == "help" || c.HasParent() && c.Parent().Name() == "completion" {
		return
	}
	f(c)
	for _, child := range c.Commands() {
		visible(child, f)
	}
}

// TestHelpDocument holds what every command says of itself to one page, so that a change to it is seen as a whole.
func TestHelpDocument(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	visible(tree(), func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		if !c.Runnable() { // a topic
			words = append([]string{"help"}, words...)
		} else {
			words = append(words, "--help")
		}
		var out, stderr bytes.Buffer
		code := run(t.Context(), words, []string{"HOME=/nowhere"}, strings.NewReader(""), &out, &stderr)
		if code != 0 || stderr.Len() > 0 {
			t.Errorf("mcpc %v: exit %d, %s", words, code, stderr.String())
		}
		if c.Name() == "completion" {
			return // cobra's own words
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("mcpc %v: %d columns: %s", words, n, line)
			}
		}
		all.WriteString("$ mcpc " + strings.Join(words, " ") + "\n" + out.String() + "\n")
	})
	path := filepath.Join("testdata", "help.txt")
	if *update {
		if err := os.WriteFile(path, all.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(all.Bytes(), want) {
		t.Error("the help is not as testdata/help.txt has it; go test ./cmd/mcpc -run TestHelpDocument -update writes it")
	}
}
