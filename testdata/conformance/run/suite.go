package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suite is the official suite as npm installed it.
type suite struct {
	home, node, script, version string
}

// check is what the suite found in one place.
type check struct {
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Message string          `json:"errorMessage"`
	Details json.RawMessage `json:"details"`
}

// typed is one command of the driver's, with how it ended.
type typed struct {
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Refusal string `json:"refusal"`
}

// scenario is one scenario at one revision.
type scenario struct {
	name    string
	scored  bool
	reason  string // why it is not scored, in the suite's word
	checks  []check
	typed   []typed
	told    string // what the driver wrote to stderr
	verdict string // set by judge
}

// set is what one revision requires, in the suite's order.
type set struct {
	revision  string
	scenarios []scenario
}

func (s *suite) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.node, append([]string{s.script}, args...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1",
		"MCPC="+filepath.Join(s.home, "mcpc"), "FOLLOWER="+filepath.Join(s.home, "browser"))
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs everything that the suite has for a client at one revision. The suite's exit code says less than its files.
func (s *suite) run(revision string) (set, error) {
	found := set{revision: revision}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	listed, err := s.command(ctx, "list", "--requirements", revision).Output()
	if err != nil {
		return found, fmt.Errorf("listing the requirements of %s: %w", revision, err)
	}
	found.scenarios = required(listed)
	results := filepath.Join(s.home, revision)
	out, err := s.command(ctx, "client", "--requirements", revision, "--command", filepath.Join(s.home, "driver"),
		"--timeout", "120000", "--output-dir", results).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return found, fmt.Errorf("running the requirements of %s: %w\n%s", revision, errors.Join(err, ctx.Err()), out)
	}
	return found, found.collect(results)
}

var (
	scoredLine   = regexp.MustCompile(`^  - (\S+)$`)
	reasonLine   = regexp.MustCompile(`^  (\S+) \(\d+\):$`)
	unscoredLine = regexp.MustCompile(`^    - (\S+) \[client\]$`)
)

// required reads the suite's listing: the scored scenarios stand under a title, the others under a reason.
func required(listing []byte) (scenarios []scenario) {
	client, reason := false, ""
	for lines := bufio.NewScanner(bytes.NewReader(listing)); lines.Scan(); {
		line := lines.Text()
		if strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " ") {
			client = strings.HasPrefix(line, "Client scenarios")
		}
		if m := reasonLine.FindStringSubmatch(line); m != nil {
			reason = m[1]
		}
		if m := scoredLine.FindStringSubmatch(line); m != nil && client {
			scenarios = append(scenarios, scenario{name: m[1], scored: true})
		}
		if m := unscoredLine.FindStringSubmatch(line); m != nil {
			scenarios = append(scenarios, scenario{name: m[1], reason: reason})
		}
	}
	return scenarios
}

// stamped is how the suite names the folder of a scenario's results.
var stamped = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z$`)

// collect reads the results. A scenario without any, and results without a scenario, are failures of this program.
func (s *set) collect(results string) error {
	left := map[string]bool{}
	for i := range s.scenarios {
		left[s.scenarios[i].name] = true
	}
	err := filepath.WalkDir(results, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		folder := filepath.Dir(path)
		name, err := filepath.Rel(results, stamped.ReplaceAllString(folder, ""))
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		i := slices.IndexFunc(s.scenarios, func(c scenario) bool { return c.name == name })
		if i < 0 || !left[name] {
			return fmt.Errorf("results of %s, which is not required once at %s", name, s.revision)
		}
		delete(left, name)
		return s.scenarios[i].read(folder)
	})
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("no results of %d scenarios at %s: %v", len(left), s.revision, left)
	}
	return err
}

func (c *scenario) read(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "checks.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &c.checks); err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(folder, "stdout.txt"))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(log) {
		var t typed
		if err := json.Unmarshal(line, &t); err != nil {
			return fmt.Errorf("%s: the driver's log: %w", c.name, err)
		}
		c.typed = append(c.typed, t)
	}
	told, err := os.ReadFile(filepath.Join(folder, "stderr.txt"))
	c.told = string(told)
	return err
}
