package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func init() { commands["paste"] = pasteHints }

var hintLine = regexp.MustCompile(`(?m)^mcpc: hint: ((?:mcpc|chmod) .*)$`)

// pasteHints is the command paste [CODE]...: it gives each command among the hints of the last stderr to a shell, as
// somebody would who pastes it, and requires the exit codes; 0 for those that are not named.
func pasteHints(ts *testscript.TestScript, neg bool, args []string) {
	hints := hintLine.FindAllStringSubmatch(ts.ReadFile("stderr"), -1)
	if neg || len(hints) == 0 || len(args) > len(hints) {
		ts.Fatalf("%d hints to paste", len(hints))
	}
	for i, hint := range hints {
		want := "0"
		if i < len(args) {
			want = args[i]
		}
		exitsScript(ts, false, []string{want, "sh", "-c", hint[1]})
	}
}

// A hint is a remark, or a command that there is. What a command is made of beyond its literal beginning is held by the
// transcripts that paste it.
func TestHintsNameCommands(t *testing.T) {
	t.Parallel()
	root, seen := tree(), 0
	for _, text := range hintTexts(t) {
		for line := range strings.SplitSeq(text, "\n") {
			words := strings.Fields(line)
			if len(words) == 0 || words[0] != "mcpc" {
				if strings.Contains(line, "mcpc ") {
					if i := strings.Index(line, "mcpc "); root.CommandPath() != "" && isCommand(line[i:]) {
						t.Errorf("a command in the middle of a line: %q", line)
					}
				}
				continue
			}
			seen++
			c, rest, err := root.Find(words[1:])
			if err != nil || c == root || c.Hidden {
				t.Errorf("%q is no command", line)
				continue
			}
			for _, w := range rest {
				name, isFlag := strings.CutPrefix(w, "--")
				if isFlag && name != "" && c.Flag(name) == nil && c.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%q: %s has no flag --%s", line, c.CommandPath(), name)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("saw %d commands in hints", seen)
	}
}

// isCommand reports whether text that begins with mcpc goes on with a command's name.
func isCommand(text string) bool {
	words := strings.Fields(text)
	c, _, err := tree().Find(words[1:min(2, len(words))])
	return err == nil && c.HasParent()
}

// hintTexts returns the literal beginnings of what the program gives as hints.
func hintTexts(t *testing.T) (texts []string) {
	t.Helper()
	for _, folder := range []string{".", filepath.Join("..", "..", "internal")} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch fun := call.Fun.(type) {
				case *ast.SelectorExpr:
					if fun.Sel.Name == "Hint" && len(call.Args) == 1 {
						texts = append(texts, literal(call.Args[0]))
					}
				case *ast.Ident:
					if fun.Name == "hinted" && len(call.Args) == 3 {
						texts = append(texts, literal(call.Args[2]))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// literal is the text of an expression up to its first part that is no literal.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		left := literal(e.X)
		if _, whole := e.X.(*ast.BasicLit); whole {
			return left + literal(e.Y)
		}
		return left
	}
	return ""
}
