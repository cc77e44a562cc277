// Package layout holds the shape of the repository by tests: which package may import which, what the binary may not
// contain, and what no file may mention. It has no code of its own and nothing imports it.
package layout

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// mayImport is every package under internal and what it may import of mcpc. A package that is not here fails the test,
// so whoever adds one says where it stands.
var mayImport = map[string][]string{
	"refusal":    {},
	"strictjson": {},
	"terminal":   {},
	"spelling":   {},
	"config":     {"refusal", "spelling", "strictjson"},
	"transport":  {"config", "refusal", "strictjson"},
	"negotiate":  {"transport", "config", "refusal", "strictjson"},
	"schema":     {"refusal", "strictjson"},
	"snapshot":   {"config", "refusal", "strictjson", "terminal"},
	"arguments":  {"snapshot", "schema", "transport", "refusal", "spelling", "strictjson"},
	"authority":  {"snapshot", "schema", "refusal", "spelling", "strictjson"},
	"store":      {"config", "refusal", "strictjson"},
	"oauthflow":  {"store", "transport", "config", "refusal", "strictjson"},

	// For tests alone.
	"oauthflow/oauthtest": {"oauthflow", "store"},
	"vectors":             {},
}

// decides are the packages that decide without I/O, clock or network: their answers follow from their inputs.
var decides = []string{"snapshot", "authority", "arguments", "schema", "strictjson", "refusal"}

// outside are the imports that would let them reach further.
var outside = []string{"net", "net/http", "os", "os/exec", "os/signal", "io/ioutil", "syscall", "math/rand", "math/rand/v2", "crypto/rand"}

// files returns the slash-separated paths of the repository's own files.
func files(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // gone between listing and looking
			}
			return err
		}
		switch d.Name() {
		case ".git", "node_modules", "bin", "dist":
			if d.IsDir() {
				return filepath.SkipDir
			}
		}
		if d.Type().IsRegular() {
			rel, err := filepath.Rel(root, p)
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("found only %d files under %s", len(out), root)
	}
	return out
}

// imports returns what the non-test files of each folder under internal import, on every platform.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, name := range files(t) {
		if !strings.HasPrefix(name, "internal/") || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.Contains(name, "/testdata/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(name)), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimPrefix(path.Dir(name), "internal/")
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			out[pkg] = append(out[pkg], imported)
		}
	}
	return out
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	all := imports(t)
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("internal/%s has no place in the layout: add it to mayImport and to docs/layout.md", pkg)
			continue
		}
		for _, imported := range all[pkg] {
			own, ok := strings.CutPrefix(imported, "mcpc/")
			if ok && !slices.Contains(allowed, strings.TrimPrefix(own, "internal/")) {
				t.Errorf("internal/%s imports %s", pkg, imported)
			}
		}
	}
	for pkg := range mayImport {
		if _, ok := all[pkg]; !ok && pkg != "refusal" {
			t.Errorf("internal/%s is in the layout and not on disk", pkg)
		}
	}
}

func TestWhatDecidesReachesNothing(t *testing.T) {
	t.Parallel()
	all := imports(t)
	for _, pkg := range decides {
		for _, imported := range all[pkg] {
			if slices.Contains(outside, imported) {
				t.Errorf("internal/%s imports %s: it decides from its arguments alone", pkg, imported)
			}
		}
	}
}

// The SDK is a peer in the tests. Of its client nothing may be in the binary, where it would be a second way to read a
// frame; oauthex, which parses OAuth documents, is the part that is used (docs/decisions/0002).
func TestBinaryHoldsNoSecondClient(t *testing.T) {
	t.Parallel()
	forbidden := []string{
		"github.com/modelcontextprotocol/go-sdk/mcp",
		"github.com/modelcontextprotocol/go-sdk/jsonrpc",
		"github.com/modelcontextprotocol/go-sdk/auth",
		"encoding/gob", // a format whose bytes are not the same twice has no place near a digest
		"net/rpc",
		"github.com/santhosh-tekuri/jsonschema/v6", // compiles its own schemas at every start (docs/decisions/0006)
		"testing",
	}
	deps := goList(t, "-deps", "./cmd/mcpc")
	if !slices.Contains(deps, "mcpc/internal/transport") {
		t.Fatalf("go list -deps does not know the transport: %d packages", len(deps))
	}
	for _, dep := range deps {
		if slices.Contains(forbidden, dep) {
			t.Errorf("the binary contains %s", dep)
		}
	}
}

// Every direct dependency has its reason written down, and no reason outlives its dependency.
func TestEveryDirectDependencyHasAReason(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(root, "docs/decisions/0003-direct-dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	required, direct := modules(t), directModules(t)
	for _, module := range direct {
		if !strings.Contains(doc, "`"+module+"`") {
			t.Errorf("%s is a direct dependency without a reason in 0003", module)
		}
	}
	for line := range strings.Lines(doc) {
		if module, ok := strings.CutPrefix(line, "| `"); ok {
			if module, _, _ = strings.Cut(module, "`"); !slices.Contains(required, module) {
				t.Errorf("0003 gives a reason for %s, which go.mod does not require", module)
			}
		}
	}
}

// directModules are the modules that a package of this one imports, tests and programs included, whatever go.mod calls
// indirect.
func directModules(t *testing.T) []string {
	t.Helper()
	imported := map[string]bool{}
	for _, name := range files(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(name)), nil, parser.ImportsOnly)
		if err != nil {
			continue // a test vector may be no Go at all
		}
		for _, spec := range f.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			imported[p] = true
		}
	}
	var direct []string
	for _, module := range modules(t) {
		for p := range imported {
			if p == module || strings.HasPrefix(p, module+"/") {
				direct = append(direct, module)
				break
			}
		}
	}
	if len(direct) < 5 {
		t.Fatalf("found only %d direct dependencies", len(direct))
	}
	return direct
}

// modules are those that go.mod requires.
func modules(t *testing.T) []string {
	t.Helper()
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal([]byte(goOutput(t, "mod", "edit", "-json")), &mod); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range mod.Require {
		out = append(out, r.Path)
	}
	return out
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	return strings.Fields(goOutput(t, append([]string{"list"}, args...)...))
}

func goOutput(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = io.Writer(&stderr)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
