package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// prose stands in every text that a peer of the field cases is free to choose. No line of mcpc's own may hold it.
const prose = "PEER-PROSE"

// fieldCase is one shape of a field case, played against the whole program: what the peer does, and how the command
// has to end.
type fieldCase struct {
	id      string // of testdata/field-cases.json
	name    string // of this shape of it
	exit    int
	refusal string // "" where there is none
	play    func(f *field) ended
}

// modesHold is whether a file's mode says who may read it.
const modesHold = runtime.GOOS != "windows"

// fieldDeadline bounds the last command of every case; nothing that is refused may wait for a default deadline.
const fieldDeadline = 20 * time.Second

// walk plays the cases of one area.
func walk(t *testing.T, cases []fieldCase) {
	t.Parallel()
	for _, c := range cases {
		t.Run(strings.TrimSuffix(c.id+"/"+c.name, "/"), func(t *testing.T) {
			t.Parallel()
			f := newField(t)
			end := c.play(f)
			if end.exit != c.exit || end.refusal != c.refusal {
				t.Fatalf("exit %d %q, want %d %q\nstdout: %.600s\nstderr: %.600s",
					end.exit, end.refusal, c.exit, c.refusal, end.stdout, end.stderr)
			}
			if c.refusal != "" && end.stdout != "" {
				t.Errorf("a refusal left this on stdout: %q", end.stdout)
			}
			if strings.Contains(end.stderr, prose) {
				t.Errorf("the peer's text is on stderr: %s", end.stderr)
			}
			if end.took > fieldDeadline {
				t.Errorf("took %v", end.took)
			}
			f.checkPulses()
		})
	}
}

// field is the surroundings of one case: an operator's own folders and environment, and the peers.
type field struct {
	*testing.T
	home     string
	environ  []string
	person   *person
	custody  string
	inTurns  bool // of the modes of the output, one for each command
	turns    int
	measured string    // the program that tells its size, where that is measured
	input    io.Reader // stdin in place of a text, where it is not nil

	mu     sync.Mutex
	pulses []net.Conn // one is held by every child; it breaks when the child ends
	pulse  net.Listener
}

func newField(t *testing.T) *field {
	t.Helper()
	home := t.TempDir()
	f := &field{T: t, home: home, environ: []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_PROXY=*",
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_DATA_HOME=" + filepath.Join(home, "data"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
	}}
	f.custody = `{"key":{"file":` + quoted(filepath.Join(home, "key")) + `}}`
	return f
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (f *field) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// write puts a file into the case's folder and returns its path.
func (f *field) write(name, content string) string {
	f.Helper()
	path := filepath.Join(f.home, name)
	f.must(os.MkdirAll(filepath.Dir(path), 0o700))
	f.must(os.WriteFile(path, []byte(content), 0o600))
	return path
}

// read returns a file of the case's folder.
func (f *field) read(name string) string {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.home, name))
	f.must(err)
	return string(text)
}

// snapshotFile returns the path of the one snapshot that is kept.
func (f *field) snapshotFile() string {
	f.Helper()
	kept, _ := filepath.Glob(filepath.Join(f.home, "data/mcpc/snapshots/*.json"))
	if len(kept) != 1 {
		f.Fatalf("kept are %v", kept)
	}
	return kept[0]
}

// forgetSnapshots removes what is kept.
func (f *field) forgetSnapshots() {
	f.Helper()
	f.must(os.RemoveAll(filepath.Join(f.home, "data/mcpc/snapshots")))
}

// editSnapshot changes the kept snapshot's text, which nobody but a test may.
func (f *field) editSnapshot(old, with string) {
	f.Helper()
	path := f.snapshotFile()
	text, err := os.ReadFile(path)
	f.must(err)
	if !strings.Contains(string(text), old) {
		f.Fatalf("the snapshot has no %s", old)
	}
	f.must(os.Chmod(path, 0o600))
	f.must(os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600))
	f.must(os.Chmod(path, 0o444))
}

// config writes the configuration with one server s of these members.
func (f *field) config(server string) {
	f.Helper()
	f.write("config/mcpc/config.json", `{"servers":{"s":`+server+`},"custody":`+f.custody+`}`)
}

// http configures s as that endpoint; more are further members of the server, or "".
func (f *field) http(url, more string) {
	f.Helper()
	if more != "" {
		more = "," + more
	}
	f.config(`{"http":{"url":` + quoted(url) + `}` + more + `}`)
}

// ended is how a command ended.
type ended struct {
	exit           int
	stdout, stderr string
	refusal        string         // its name, "" where there is none
	detail         map[string]any // of the refusal
	hint           string
	took           time.Duration
}

// run runs mcpc with --json to its end.
func (f *field) run(args ...string) ended { return f.runIn("", append([]string{"--json"}, args...)...) }

// runIn runs mcpc with that text on stdin.
func (f *field) runIn(stdin string, args ...string) ended {
	f.Helper()
	ctx, stop := context.WithTimeout(f.Context(), 30*time.Second)
	defer stop()
	return f.runContext(ctx, stdin, args...)
}

func (f *field) runContext(ctx context.Context, stdin string, args ...string) ended {
	f.Helper()
	var stdout bytes.Buffer
	stderr := &watched{person: f.person}
	begin := time.Now()
	var in io.Reader = strings.NewReader(stdin)
	if f.input != nil {
		in = f.input
	}
	exit := run(ctx, args, f.environ, in, &stdout, stderr)
	end := ended{exit: exit, stdout: stdout.String(), stderr: stderr.String(), took: time.Since(begin)}
	lines := strings.Split(strings.TrimSpace(end.stderr), "\n")
	var doc struct {
		Refusal string         `json:"refusal"`
		Detail  map[string]any `json:"detail"`
		Hint    string         `json:"hint"`
	}
	if json.Unmarshal([]byte(lines[len(lines)-1]), &doc) == nil {
		end.refusal, end.detail, end.hint = doc.Refusal, doc.Detail, doc.Hint
	}
	return end
}

// onTerminals runs mcpc as if stdout and stderr were terminals.
func (f *field) onTerminals(args ...string) (stdout, stderr string) {
	f.Helper()
	var out, errs bytes.Buffer
	a := &app{
		environ: f.environ, stdin: strings.NewReader(""), stdout: &out, stderr: &errs, now: time.Now,
		outTTY: true, errTTY: true,
	}
	ctx, stop := context.WithTimeout(f.Context(), 30*time.Second)
	defer stop()
	a.run(ctx, args)
	return out.String(), errs.String()
}

// done runs a command that has to succeed, as the preparation of a case.
func (f *field) done(args ...string) ended {
	f.Helper()
	end := f.run(args...)
	if end.exit != 0 {
		f.Fatalf("mcpc %s: exit %d\n%s", strings.Join(args, " "), end.exit, end.stderr)
	}
	return end
}

// pin keeps a snapshot of s and grants the tools named.
func (f *field) pin(tools ...string) {
	f.Helper()
	f.done("snapshot", "take", "s")
	if len(tools) > 0 {
		f.grant(tools...)
	}
}

// grant writes the authority document for s, from its stored snapshot.
func (f *field) grant(tools ...string) {
	f.Helper()
	args := []string{"authority", "draft", "s", "--by", "ana@example.com"}
	for _, tool := range tools {
		args = append(args, "--tool", tool)
	}
	f.write("authority.json", f.done(args...).stdout)
}

// call calls a tool of s as it was granted.
func (f *field) call(words ...string) ended {
	f.Helper()
	return f.run(append([]string{"call", "s", "--authority", filepath.Join(f.home, "authority.json")}, words...)...)
}

// want fails the case where got does not hold the text.
func (f *field) want(what, got, text string) {
	f.Helper()
	if !strings.Contains(got, text) {
		f.Errorf("%s has no %q: %.800s", what, text, got)
	}
}

// wantDetail fails the case where a detail of the refusal is another one.
func (f *field) wantDetail(end ended, key string, value any) {
	f.Helper()
	got := fmt.Sprint(end.detail[key])
	if n, ok := end.detail[key].(float64); ok {
		got = fmt.Sprint(int64(n))
	}
	if got != fmt.Sprint(value) {
		f.Errorf("detail %s is %q, want %q", key, got, fmt.Sprint(value))
	}
}

// noSnapshot fails the case where a snapshot was kept.
func (f *field) noSnapshot() {
	f.Helper()
	if kept, _ := filepath.Glob(filepath.Join(f.home, "data/mcpc/snapshots/*")); len(kept) != 0 {
		f.Errorf("something was kept: %v", kept)
	}
}

// watched is stderr. Where a person takes part in a sign-in, the URL that is printed there reaches them.
type watched struct {
	mu     sync.Mutex
	text   bytes.Buffer
	person *person
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	if w.person != nil {
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, "redirect_uri=") {
				w.person.goes(strings.TrimSpace(line))
			}
		}
	}
	return len(b), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
