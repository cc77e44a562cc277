package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mcpc/internal/strictjson"
)

// rule is one scripted answer: the bytes to send when a method is asked for. The first rule that fits answers; a rule
// marked once is used up by its first answer.
//
//	METHOD[:TOOL] [once] [STATUS] BODY
//
// In BODY, $ID is the request's id, $COUNT how many answers were given before, and $TIMES(N,TEXT) is TEXT N times. A
// BODY that begins with "sse " is sent as an event stream, its \n as line ends; on stdio each of its lines is a line.
// "exit N" ends the child, "hang" never answers, "cut" breaks the connection after the request was read.
type rule struct {
	method string
	tool   string
	once   bool
	status int
	body   string
}

func parseRules(text string) []rule {
	var rules []rule
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, body, _ := strings.Cut(line, " ")
		r := rule{status: 200}
		r.method, r.tool, _ = strings.Cut(name, ":")
		if rest, ok := strings.CutPrefix(body, "once "); ok {
			r.once, body = true, rest
		}
		if first, rest, ok := strings.Cut(body, " "); ok {
			if n, err := strconv.Atoi(first); err == nil {
				r.status, body = n, rest
			}
		}
		r.body = body
		rules = append(rules, r)
	}
	return rules
}

// answer returns the rule for a request, with the id filled in.
func answer(rules *[]rule, request []byte) (rule, bool) {
	method := strictjson.MemberText(request, "method")
	params, _ := strictjson.Member(request, "params")
	tool := strictjson.MemberText(params, "name")
	id, _ := strictjson.Member(request, "id")
	for i, r := range *rules {
		if r.method != method || (r.tool != "" && r.tool != tool) {
			continue
		}
		if r.once {
			*rules = append((*rules)[:i:i], (*rules)[i+1:]...)
		}
		r.body = fill(r.body, string(id))
		return r, true
	}
	return rule{}, false
}

var (
	times   = regexp.MustCompile(`\$TIMES\((\d+),([^)]*)\)`)
	answers atomic.Int64
)

// fill replaces the marks of a body.
func fill(body, id string) string {
	body = times.ReplaceAllStringFunc(body, func(mark string) string {
		m := times.FindStringSubmatch(mark)
		n, _ := strconv.Atoi(m[1])
		return strings.Repeat(m[2], n)
	})
	count := strconv.FormatInt(answers.Add(1), 10)
	return strings.NewReplacer("$ID", id, "$COUNT", count).Replace(body)
}

// fakeStdio is the command fakeserver RULES [ORPHAN]: a server that answers by its rules. It logs requests to
// RULES.log, its process number to RULES.pid and its environment to RULES.env, and writes what RULES.stderr holds to
// stderr. With ORPHAN it first starts a process that outlives it if it may, and writes the number of that to the file
// ORPHAN. Where a file RULES.stubborn is, it ends neither with its stdin nor on SIGTERM.
func fakeStdio() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	_ = os.WriteFile(os.Args[1]+".env", []byte(strings.Join(os.Environ(), "\n")+"\n"), 0o600)
	_ = os.WriteFile(os.Args[1]+".pid", []byte(strconv.Itoa(os.Getpid())), 0o600)
	if noise, err := os.ReadFile(os.Args[1] + ".stderr"); err == nil {
		_, _ = os.Stderr.Write(noise)
	}
	if len(os.Args) > 2 {
		startOrphan(os.Args[2])
	}
	_, err = os.Stat(os.Args[1] + ".stubborn")
	stubborn := err == nil
	if stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	rules := parseRules(string(text))
	log, _ := os.OpenFile(os.Args[1]+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if stubborn {
				time.Sleep(time.Minute)
			}
			return
		}
		_, _ = log.Write(line)
		answerLine(&rules, line)
	}
}

func answerLine(rules *[]rule, line []byte) {
	r, ok := answer(rules, line)
	if !ok {
		if id, has := strictjson.Member(line, "id"); has {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", id)
		}
		return
	}
	if code, ok := strings.CutPrefix(r.body, "exit "); ok {
		n, _ := strconv.Atoi(code)
		os.Exit(n)
	}
	if r.body == "cut" {
		os.Exit(0)
	}
	if stream, ok := strings.CutPrefix(r.body, "sse "); ok {
		fmt.Println(strings.ReplaceAll(stream, `\n`, "\n"))
	} else if r.body != "hang" {
		fmt.Println(r.body)
	}
}

// startOrphan starts a process that holds stdout and stderr and does nothing for a minute.
func startOrphan(file string) {
	self, _ := os.Executable()
	cmd := &exec.Cmd{Path: self, Args: []string{"sleeper"}, Stdout: os.Stdout, Stderr: os.Stderr}
	if err := cmd.Start(); err == nil {
		_ = os.WriteFile(file, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
	}
}

func init() { programs["sleeper"] = func() { time.Sleep(time.Minute) } }

// served holds the HTTP servers of the scripts by their URL.
var served sync.Map

type fakeHTTP struct {
	mu    sync.Mutex
	rules []rule
	seen  []string
	log   string
}

func (h *fakeHTTP) swap(rules []rule) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rules = rules
}

// record notes a request in the log, as one line.
func (h *fakeHTTP) record(body []byte) {
	if f, err := os.OpenFile(h.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.Write(append(body, '\n'))
		_ = f.Close()
	}
}

func (h *fakeHTTP) methods() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.seen...)
}

func (h *fakeHTTP) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	h.mu.Lock()
	if req.Method == http.MethodPost {
		h.seen = append(h.seen, strictjson.MemberText(body, "method"))
		h.record(body)
	} else {
		h.seen = append(h.seen, req.Method)
	}
	r, ok := answer(&h.rules, body)
	h.mu.Unlock()
	if !ok {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		id, has := strictjson.Member(body, "id")
		if !has {
			id = []byte("null")
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
		return
	}
	if r.body == "cut" {
		panic(http.ErrAbortHandler)
	}
	if r.body == "hang" {
		<-req.Context().Done()
		return
	}
	send(w, r)
}

func send(w http.ResponseWriter, r rule) {
	kind, body := "application/json", r.body
	if stream, ok := strings.CutPrefix(body, "sse "); ok {
		kind = "text/event-stream"
		var b bytes.Buffer
		for line := range strings.SplitSeq(stream, `\n`) {
			fmt.Fprintf(&b, "data: %s\n\n", line)
		}
		body = b.String()
	} else if page, ok := strings.CutPrefix(body, "html "); ok {
		kind, body = "text/html", page
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, body)
}
