package oauth

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long another program may take. A busy machine starts a browser slowly.
const patience = 90 * time.Second

// provider is the authorization server, in a process of its own.
type provider struct {
	t      *testing.T
	issuer string
	stdin  io.Writer
	lines  chan event
}

// event is one thing that the provider says.
type event struct {
	Event, Issuer, Prompt, Grant, Scope, Resource, Method, Error string
}

const protectedClient = "station:a secret of one run"

func startProvider(t *testing.T) *provider {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "provider.mjs", protectedClient)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var grumbling bytes.Buffer
	cmd.Stderr = &grumbling
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, stdin: stdin, lines: make(chan event, 1000)}
	go func() {
		defer close(p.lines)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			var e event
			if json.Unmarshal(in.Bytes(), &e) == nil {
				p.lines <- e
			}
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the provider's stderr:\n%s", grumbling.String())
		}
	})
	p.issuer = p.next().Issuer
	return p
}

func (p *provider) next() event {
	p.t.Helper()
	select {
	case e, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the provider has ended")
		}
		return e
	case <-time.After(patience):
		p.t.Fatal("the provider does not answer")
	}
	return event{}
}

// order gives an order and returns what happened since the last one.
func (p *provider) order(line string) []event {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
	var happened []event
	for {
		e := p.next()
		if e.Event == "done" {
			return happened
		}
		happened = append(happened, e)
	}
}

// news returns what happened since the last order, each as one line of words.
func (p *provider) news() []string {
	p.t.Helper()
	var lines []string
	for _, e := range p.order("news") {
		lines = append(lines, strings.Join(strings.Fields(e.Event+" "+e.Prompt+" "+e.Grant+" "+e.Error), " "))
	}
	return lines
}

// startServer starts the protected server and returns its URL.
func startServer(t *testing.T, issuer string) string {
	t.Helper()
	args := []string{"-http", "127.0.0.1:0", "-issuer", issuer, "-client", protectedClient}
	cmd := exec.CommandContext(t.Context(), demoserver, args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context has ended it by then
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// seen is what the person at the browser saw.
type seen struct {
	Pages      []string // of the provider, in order
	Asked      string   // on the consent page
	Outside    []string // hosts that its pages asked for; the browser reaches none
	Requests   []string // of the last page
	Complaints []string // on its console
	Title      string
	Heading    string
	Text       string
	Lang       string
	Scripts    int
	Outer      int // elements with src or href
	Overflows  bool
	Colours    map[string][][3]string // light and dark: element, ink, ground
	Carried    string                 // the callback's address
	Trouble    string
}

// person reports what browsers saw.
type person struct {
	t       *testing.T
	url     string
	reports chan seen
}

func newPerson(t *testing.T) *person {
	p := &person{t: t, reports: make(chan seen, 10)}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		var s seen
		if err := json.NewDecoder(req.Body).Decode(&s); err != nil {
			s.Trouble = "the report cannot be read"
		}
		p.reports <- s
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	return p
}

// command is the value of $BROWSER for a person who does that.
func (p *person) command(do string) string {
	p.t.Helper()
	script, err := filepath.Abs("signin.mjs")
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.Join([]string{"node", script, do}, " ")
}

// environment is what the command needs besides.
func (p *person) environment() []string {
	return []string{"REPORT=" + p.url, "PICTURES=" + os.Getenv("PICTURES")}
}

// browse opens a URL as a person would who was given it.
func (p *person) browse(do, url string) {
	p.t.Helper()
	words := append(strings.Fields(p.command(do)), url)
	cmd := exec.CommandContext(p.t.Context(), words[0], words[1:]...)
	cmd.Env = append(os.Environ(), p.environment()...)
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("the browser: %v", err)
	}
}

func (p *person) saw() seen {
	p.t.Helper()
	select {
	case s := <-p.reports:
		if s.Trouble != "" {
			p.t.Fatalf("the browser: %s; pages %v", s.Trouble, s.Pages)
		}
		return s
	case <-time.After(patience):
		p.t.Fatal("the browser reports nothing")
	}
	return seen{}
}

// sawNothing requires that no browser was opened.
func (p *person) sawNothing() {
	p.t.Helper()
	if len(p.reports) > 0 {
		p.t.Fatal("a browser was opened")
	}
}

// desk is where mcpc runs: folders of its own, one server named station.
type desk struct {
	t             *testing.T
	home, browser string
	person        *person
}

func newDesk(t *testing.T, server string, who *person) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir(), person: who}
	if err := os.MkdirAll(filepath.Join(d.home, "mcpc"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := `{"servers":{"station":{"http":{"url":"` + server + `"}}},"custody":{"key":{"env":"CUSTODY_KEY"}}}`
	d.write("mcpc/config.json", config)
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.home, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = d.home
	path := filepath.Dir(mcpc) + string(filepath.ListSeparator) + os.Getenv("PATH")
	cmd.Env = append(d.person.environment(), "PATH="+path, "HOME="+d.home,
		"XDG_CONFIG_HOME="+d.home, "XDG_DATA_HOME="+d.home, "XDG_STATE_HOME="+d.home, "BROWSER="+d.browser,
		"CUSTODY_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	return cmd
}

// run runs one command line, as a person would paste it.
func (d *desk) run(line string) (stdout, stderr string, exit int) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 2*patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := d.command(ctx, "sh", "-c", line)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		d.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (d *desk) succeed(line string) string {
	d.t.Helper()
	stdout, stderr, exit := d.run(line)
	if exit != 0 {
		d.t.Fatalf("%s: exit %d\n%s", line, exit, stderr)
	}
	return stdout
}

// refused runs a command that must end with that code and refusal, and returns its hint.
func (d *desk) refused(line string, exit int, refusal string) string {
	d.t.Helper()
	stdout, stderr, got := d.run(line)
	name, hint, _ := strings.Cut(strings.TrimPrefix(stderr, "mcpc: "), "\n")
	if got != exit || !strings.HasPrefix(name, refusal+": ") || stdout != "" {
		d.t.Fatalf("%s: exit %d, wanted %d and %s\n%s%s", line, got, exit, refusal, stdout, stderr)
	}
	return strings.TrimSuffix(strings.TrimPrefix(hint, "mcpc: hint: "), "\n")
}
