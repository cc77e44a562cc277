package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcpc/internal/config"
)

// memoryBeside is what a process may hold besides three times the limit that stops an attack.
const memoryBeside = 16 << 20

// measuredMain is main.go of a mcpc that leaves behind what the system says of it.
const measuredMain = `package main

import (
	"context"
	"os"
)

func main() {
	code := run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	status, _ := os.ReadFile("/proc/self/status")
	_ = os.WriteFile(os.Getenv("HOME")+"/status", status, 0o600)
	os.Exit(code)
}
`

// buildMeasured builds mcpc with that main. (What the system tells a parent of its child begins with the size of the
// parent, so the child has to tell it.)
func buildMeasured(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	own, err := filepath.Abs("main.go")
	if err != nil {
		t.Fatal(err)
	}
	replaced := filepath.Join(dir, "main.go")
	overlay, _ := json.Marshal(map[string]map[string]string{"Replace": {own: replaced}})
	for name, text := range map[string]string{"main.go": measuredMain, "overlay.json": string(overlay)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "mcpc")
	build := exec.Command("go", "build", "-o", program, "-overlay", filepath.Join(dir, "overlay.json"), ".")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return program
}

// peak runs the program and returns how it ended, with its largest resident size in bytes.
func (f *field) peak(args ...string) (refusal string, bytesHeld int64) {
	f.Helper()
	cmd := exec.CommandContext(f.Context(), f.measured, append([]string{"--json"}, args...)...)
	cmd.Env = f.environ
	var stdout bytes.Buffer
	stderr := &watched{person: f.person}
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		f.Fatal(err)
	}
	if name := regexp.MustCompile(`"refusal":"([^"]*)"`).FindStringSubmatch(stderr.String()); name != nil {
		refusal = name[1]
	}
	held := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindStringSubmatch(f.read("status"))
	if held == nil {
		f.Fatal("no peak")
	}
	n, err := strconv.ParseInt(held[1], 10, 64)
	f.must(err)
	return refusal, n << 10
}

// TestMemoryOfEndlessStreams measures what a process holds at most while a peer sends without an end.
func TestMemoryOfEndlessStreams(t *testing.T) {
	t.Parallel()
	program := buildMeasured(t)
	l := config.DefaultLimits()
	x := "x"
	attacks := []struct {
		name, want string
		limit      int64
		play       func(f *field) (string, int64)
	}{
		{"a stdio line", "limit.frame", l.FrameBytes, func(f *field) (string, int64) {
			script := modernChild().with("tools/list", "out {", "again "+strings.Repeat(x, 4096))
			f.child(script, nil, `"limits":{"shutdown_ms":300}`)
			return f.peak("discover", "s")
		}},
		{"an event", "limit.frame", l.FrameBytes, attacked("tools/list", flood(streamHeader+"data: {", x))},
		{"lines of one event", "limit.frame", l.FrameBytes, attacked("tools/list", flood(streamHeader, "data: xxxxxxx\n"))},
		{"a JSON body", "limit.frame", l.FrameBytes, attacked("tools/list", flood(jsonHeader+"{", x))},
		{"an error body", "transport.status", l.FrameBytes, attacked("tools/list",
			flood("HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n{", x))},
		{"gzip", "limit.frame", l.FrameBytes, attacked("tools/list", bomb())},
		{"resource metadata", "limit.document", l.DocumentBytes, signInAttacked(func(w *world) {
			w.mcp.change(replies{pathForm: flood(jsonHeader+"{", x)})
		})},
		{"server metadata", "limit.document", l.DocumentBytes, signInAttacked(func(w *world) {
			w.as.change(replies{serverForm: flood(jsonHeader+"{", x)})
		})},
		{"a registration", "limit.document", l.DocumentBytes, signInAttacked(func(w *world) {
			w.as.change(replies{"POST /register": flood(jsonHeader+"{", x)})
		})},
		{"a token", "limit.document", l.DocumentBytes, signInAttacked(func(w *world) {
			w.as.change(replies{"POST /token": flood(jsonHeader+"{", x)})
		})},
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			f := newField(t)
			f.measured = program
			refusal, held := a.play(f)
			if refusal != a.want {
				t.Errorf("ends with %q, want %q", refusal, a.want)
			}
			if most := 3*a.limit + memoryBeside; held > most {
				t.Errorf("held %d KiB, more than %d KiB", held>>10, most>>10)
			}
			t.Logf("%d KiB of %d KiB", held>>10, (3*a.limit+memoryBeside)>>10)
		})
	}
}

func attacked(method string, say reply) func(f *field) (string, int64) {
	return func(f *field) (string, int64) {
		f.http(f.serve(modern().with(replies{method: say})).url, "")
		return f.peak("discover", "s")
	}
}

func signInAttacked(change func(*world)) func(f *field) (string, int64) {
	return func(f *field) (string, int64) {
		w := f.world(nil, nil)
		change(w)
		return f.peak("login", "s", "--no-browser")
	}
}
