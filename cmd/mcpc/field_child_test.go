package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mcpc/internal/strictjson"
)

// A test binary that is started with this word is a stdio server by its script, and runs no tests.
const childWord = "field-child"

func init() {
	if len(os.Args) > 2 && os.Args[1] == childWord {
		child(os.Args[2], os.Args[3])
	}
}

// childScript is what a child does when it is started, and at each method. A step is
//
//	out TEXT    writes TEXT to stdout, $ID replaced by the request's id
//	errtext T   writes T to stderr
//	err N       writes N bytes to stderr
//	pages       what follows are not steps but the results, one for each time that this is asked
//	fill N      answers with a result of some more bytes than N
//	again TEXT  writes TEXT for as long as anybody reads
//	erragain    the same to stderr
//	env         answers with the names and values that the child sees
//	wait MS     waits
//	hear        waits for one more line
//	exit N      ends
//	die N       ends the first child only; later ones pass over it
//	deaf        from now on ignores the end of stdin
type childScript map[string][]string

// atStart is the method of the steps that come before anything is read.
const atStart = "start"

// child configures s as a child with that script; more are further members of the server, or "".
func (f *field) child(script childScript, env []string, more string) {
	f.Helper()
	if more != "" {
		more = "," + more
	}
	argv, _ := json.Marshal(f.childCommand(script))
	if env == nil {
		env = []string{}
	}
	names, _ := json.Marshal(env)
	f.config(`{"stdio":{"command":` + string(argv) + `,"env":` + string(names) + `}` + more + `}`)
}

// childCommand is the command line of a child with that script.
func (f *field) childCommand(script childScript) []string {
	f.Helper()
	exe, err := os.Executable()
	f.must(err)
	text, err := json.Marshal(script)
	f.must(err)
	return []string{exe, childWord, f.write("child.json", string(text)), f.listenForPulses()}
}

// listenForPulses accepts the connection that each child holds as long as it lives.
func (f *field) listenForPulses() string {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pulse != nil {
		return f.pulse.Addr().String()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	f.must(err)
	f.pulse = l
	f.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.pulses = append(f.pulses, c)
			f.mu.Unlock()
		}
	}()
	return l.Addr().String()
}

// checkPulses fails the case where a child outlived its command.
func (f *field) checkPulses() {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.pulses {
		_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
		_, err := c.Read(make([]byte, 1))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			f.Error("a child outlived its command")
		}
		_ = c.Close()
	}
	f.pulses = nil
}

// children returns how many were started so far.
func (f *field) children() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pulses)
}

func child(path, pulse string) {
	conn, err := net.Dial("tcp", pulse)
	if err != nil {
		os.Exit(98)
	}
	defer conn.Close()
	text, err := os.ReadFile(path)
	var script childScript
	if err != nil || json.Unmarshal(text, &script) != nil {
		os.Exit(97)
	}
	if len(os.Args) > 4 {
		_ = os.WriteFile(path+".argv", []byte(os.Args[4]), 0o600)
	}
	c := &playedChild{script: script, path: path, in: bufio.NewReaderSize(os.Stdin, 1<<20), pages: map[string]int{}}
	c.play(atStart, "")
	for {
		line := c.hear()
		id, _ := strictjson.Member(line, "id")
		c.play(strictjson.MemberText(line, "method"), string(id))
	}
}

type playedChild struct {
	script childScript
	path   string
	deaf   bool
	in     *bufio.Reader
	pages  map[string]int
}

// hear returns the next line of stdin. At its end the child ends too, or is deaf and stays.
func (c *playedChild) hear() []byte {
	line, err := c.in.ReadBytes('\n')
	if err != nil && c.deaf {
		select {}
	}
	if err != nil {
		os.Exit(0)
	}
	c.log(line)
	return line
}

func (c *playedChild) log(line []byte) {
	if f, err := os.OpenFile(c.path+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.Write(line)
		_ = f.Close()
	}
}

// heardByChild returns the lines that the children of the case received.
func (f *field) heardByChild() string {
	text, _ := os.ReadFile(filepath.Join(f.home, "child.json.log"))
	return string(text)
}

func (c *playedChild) play(method, id string) {
	steps, ok := c.script[method]
	if len(steps) > 0 && steps[0] == "pages" {
		steps = c.page(method, steps[1:])
	}
	if !ok && id != "" {
		steps = []string{`out {"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"` + prose + `"}}` + "\n"}
	}
	for _, step := range steps {
		word, rest, _ := strings.Cut(step, " ")
		n, _ := strconv.Atoi(rest)
		switch word {
		case "out":
			_, _ = io.WriteString(os.Stdout, strings.ReplaceAll(rest, "$ID", id))
		case "err":
			_, _ = io.WriteString(os.Stderr, strings.Repeat("e", n))
		case "fill":
			out := bufio.NewWriterSize(os.Stdout, 1<<16)
			_, _ = out.WriteString(`{"jsonrpc":"2.0","id":` + id + `,"result":{"x":"`)
			for range n {
				if out.WriteByte('x') != nil {
					os.Exit(96)
				}
			}
			_, _ = out.WriteString("\"}}\n")
			_ = out.Flush()
		case "again", "erragain":
			for again(word, rest) {
			}
		case "errtext":
			_, _ = io.WriteString(os.Stderr, rest)
		case "env":
			seen, _ := json.Marshal(os.Environ())
			_, _ = io.WriteString(os.Stdout, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[],"structuredContent":`+
				string(seen)+"}}\n")
		case "wait":
			time.Sleep(time.Duration(n) * time.Millisecond)
		case "hear":
			c.hear()
		case "exit":
			os.Exit(n)
		case "die":
			if f, err := os.OpenFile(c.path+".died", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				_ = f.Close()
				os.Exit(n)
			}
		case "deaf":
			c.deaf = true
		}
	}
}

// page returns the steps for the next result of a list.
func (c *playedChild) page(method string, results []string) []string {
	n := c.pages[method]
	c.pages[method]++
	return says(results[min(n, len(results)-1)])
}

// again writes a text, and returns whether that went well.
func again(word, text string) bool {
	out := os.Stdout
	if word == "erragain" {
		out = os.Stderr
	}
	_, err := io.WriteString(out, strings.Repeat(text, 1+4096/len(text)))
	return err == nil
}

// says is the step that answers with a result.
func says(result string) []string {
	return []string{`out {"jsonrpc":"2.0","id":$ID,"result":` + result + "}\n"}
}

// modernChild is a stdio server of 2026-07-28 with these tools.
func modernChild(tools ...string) childScript {
	if tools == nil {
		tools = []string{plainTool}
	}
	return childScript{
		"server/discover": says(discoverBody),
		"tools/list":      says(`{"tools":[` + strings.Join(tools, ",") + `]}`),
		"tools/call":      says(okText),
	}
}

// legacyChild is a stdio server of 2025-11-25 with these tools.
func legacyChild(tools ...string) childScript {
	s := modernChild(tools...)
	delete(s, "server/discover")
	s["initialize"] = says(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
		`"serverInfo":{"name":"s","version":"1"}}`)
	s["notifications/initialized"] = []string{}
	return s
}

// with returns the script with other steps for some methods.
func (s childScript) with(method string, steps ...string) childScript {
	s[method] = steps
	return s
}

// browserWord makes a test binary a browser: it writes down its arguments and goes where the URL leads.
const browserWord = "field-browser"

func init() {
	if len(os.Args) > 2 && os.Args[1] == browserWord {
		argv, _ := json.Marshal(os.Args[3:])
		_ = os.WriteFile(os.Args[2], argv, 0o600)
		u, err := url.Parse(os.Args[3])
		if err != nil {
			os.Exit(1)
		}
		resp, err := http.Get(callback(u.Query(), url.Values{"code": {"CODE"}}))
		if err != nil {
			os.Exit(1)
		}
		_ = resp.Body.Close()
		os.Exit(0)
	}
}

// browser sets $BROWSER to a program that writes its arguments to argv.json.
func (f *field) browser() string {
	f.Helper()
	exe, err := os.Executable()
	f.must(err)
	choice := exe + " " + browserWord + " " + filepath.Join(f.home, "argv.json")
	f.environ = append(f.environ, "BROWSER="+choice)
	return choice
}

// programWord makes a test binary mcpc, for what only a process of its own can show.
const programWord = "field-mcpc"

func init() {
	if len(os.Args) > 1 && os.Args[1] == programWord {
		os.Exit(run(context.Background(), os.Args[2:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
}

func (f *field) executable() string {
	f.Helper()
	exe, err := os.Executable()
	f.must(err)
	return exe
}
