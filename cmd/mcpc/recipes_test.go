package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpc/internal/strictjson"
)

// recipe NAME.sh writes the script of docs/recipes.md whose first line is "# NAME.sh …" to that file.
func init() {
	commands["recipe"] = recipeScript
	programs["jq"] = smallJQ
	programs["mail"] = func() {
		body, _ := io.ReadAll(os.Stdin)
		text := strings.Join(os.Args[1:], " ") + "\n" + string(body)
		if err := os.WriteFile("mail.txt", []byte(text), 0o600); err != nil {
			os.Exit(1)
		}
	}
}

var recipeBlock = regexp.MustCompile("(?ms)^```sh\n(# (\\w+\\.sh)\\b.*?)^```$")

func recipes() (map[string]string, error) {
	page, err := os.ReadFile(filepath.Join(here, "..", "..", "docs", "recipes.md"))
	if err != nil {
		return nil, err
	}
	scripts := map[string]string{}
	for _, m := range recipeBlock.FindAllStringSubmatch(string(page), -1) {
		scripts[m[2]] = m[1]
	}
	if n := strings.Count(string(page), "```sh\n"); n != len(scripts) || n == 0 {
		return nil, fmt.Errorf("%d scripts have a name, of %d", len(scripts), n)
	}
	return scripts, nil
}

// here is the package's folder, in which tests start.
var here, _ = os.Getwd()

func recipeScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: recipe NAME.sh")
	}
	scripts, err := recipes()
	ts.Check(err)
	if scripts[args[0]] == "" {
		ts.Fatalf("docs/recipes.md has no script %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(scripts[args[0]]), 0o600))
}

func TestEveryRecipeIsRun(t *testing.T) {
	t.Parallel()
	scripts, err := recipes()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, script := range transcripts(t) {
		all.WriteString(script)
	}
	for name := range scripts {
		if !strings.Contains(all.String(), "recipe "+name+"\n") || !strings.Contains(all.String(), " sh "+name) {
			t.Errorf("no transcript runs %s", name)
		}
	}
}

// smallJQ is jq where there is one, and else as much of it as the recipes use.
func smallJQ() {
	self, _ := exec.LookPath("jq")
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, "jq")
		if info, err := os.Stat(path); err != nil || path == self || info.IsDir() {
			continue
		}
		cmd := exec.Command(path, os.Args[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(exit.ExitCode())
		}
		return
	}
	if err := jqIn(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "jq:", err)
		os.Exit(2)
	}
}

// jqIn understands -n --arg NAME VALUE TEMPLATE, -r PATH and -c 'select(.A == "B") | PATH'.
func jqIn(args []string, in io.Reader, out io.Writer) error {
	if args[0] == "-n" {
		template := strings.NewReplacer("$"+args[2], string(strictjson.Quote(args[3])), "{q:", `{"q":`, " limit:", `"limit":`)
		_, err := fmt.Fprintln(out, template.Replace(args[4]))
		return err
	}
	if len(args) > 2 {
		f, err := os.Open(args[2])
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	filter := regexp.MustCompile(`^(?:select\(\.(\w+) == "(\w+)"\) \| )?\.([\w.\[\]]+)$`).FindStringSubmatch(args[1])
	if filter == nil {
		return fmt.Errorf("%s is too much", args[1])
	}
	docs := []string{string(text)}
	if args[0] == "-c" {
		docs = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	path := strings.NewReplacer("[", ".", "]", "").Replace(filter[3])
	for _, doc := range docs {
		if filter[1] != "" && strictjson.MemberText([]byte(doc), filter[1]) != filter[2] {
			continue
		}
		if value, ok := memberAt([]byte(doc), path); ok {
			fmt.Fprintln(out, value)
		}
	}
	return nil
}
