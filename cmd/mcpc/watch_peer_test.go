package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpc/internal/strictjson"
)

// restless is a server whose tools change while it is listened to.
type restless struct {
	legacy bool

	mu        sync.Mutex
	tools     string
	listening chan chan string // gets a channel per stream; what is sent there goes out, and closing it ends the stream
}

func newRestless(t *testing.T, legacy bool) (*restless, string) {
	t.Helper()
	r := &restless{legacy: legacy, listening: make(chan chan string, 8)}
	r.becomes(`{"name":"one","inputSchema":{"type":"object"}}`)
	srv := httptest.NewServer(r)
	t.Cleanup(srv.CloseClientConnections)
	t.Cleanup(srv.Close)
	return r, srv.URL + "/mcp"
}

func (r *restless) becomes(tools string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools = tools
}

func (r *restless) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodGet && r.legacy {
		r.stream(w, req, "")
		return
	}
	body, _ := io.ReadAll(req.Body)
	id, _ := strictjson.Member(body, "id")
	method := strictjson.MemberText(body, "method")
	r.mu.Lock()
	tools := r.tools
	r.mu.Unlock()
	result := ""
	switch {
	case method == "tools/list":
		result = `{"resultType":"complete","tools":[` + tools + `]}`
	case method == "server/discover" && !r.legacy:
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	case method == "initialize" && r.legacy:
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},` +
			`"serverInfo":{"name":"r","version":"1"}}`
		w.Header().Set("Mcp-Session-Id", "s1")
	case method == "subscriptions/listen" && !r.legacy:
		r.stream(w, req, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",`+
			`"params":{"notifications":{"toolsListChanged":true}}}`)
		return
	case id == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if result == "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

const listChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

func (r *restless) stream(w http.ResponseWriter, req *http.Request, first string) {
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(s string) {
		if s != "" {
			fmt.Fprintf(w, "data: %s\n\n", s)
		}
		w.(http.Flusher).Flush()
	}
	say(first)
	out := make(chan string, 1000)
	r.listening <- out
	for {
		select {
		case s, ok := <-out:
			if !ok {
				return
			}
			say(s)
		case <-req.Context().Done():
			return
		}
	}
}

// watcher is a mcpc snapshot watch under way.
type watcher struct {
	t       *testing.T
	environ []string
	cancel  context.CancelFunc
	lines   chan string
	stderr  overheard
	code    chan int
}

// overheard is what a program writes while a test reads it.
type overheard struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // holds one when something came
}

func (o *overheard) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.text.Write(b)
}

func (o *overheard) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// wait waits until the text holds these words.
func (o *overheard) wait(t *testing.T, words string) {
	t.Helper()
	for end := time.After(20 * time.Second); !strings.Contains(o.String(), words); {
		select {
		case <-o.more:
		case <-end:
			t.Fatalf("%q does not come after %s", words, o.String())
		}
	}
}

func privateEnviron(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	return []string{
		"HOME=" + dir, "XDG_CONFIG_HOME=" + dir + "/config", "XDG_DATA_HOME=" + dir + "/data",
		"XDG_STATE_HOME=" + dir + "/state", "NO_PROXY=*", "PATH=" + os.Getenv("PATH"),
	}
}

func newWatcher(t *testing.T, environ []string, args ...string) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{t: t, environ: environ, cancel: cancel, lines: make(chan string, 100), code: make(chan int, 1)}
	w.stderr.more = make(chan struct{}, 1)
	out, in := io.Pipe()
	go func() {
		defer close(w.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			w.lines <- s.Text()
		}
	}()
	go func() {
		code := run(ctx, append([]string{"snapshot", "watch"}, args...), environ, nil, in, &w.stderr)
		_ = in.Close()
		w.code <- code
	}()
	t.Cleanup(cancel)
	return w
}

// next returns the next line, which must hold all of the words.
func (w *watcher) next(words ...string) string {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		for _, word := range words {
			if !ok || !strings.Contains(line, word) {
				w.t.Fatalf("%q does not hold %q", line, word)
			}
		}
		return line
	case <-time.After(20 * time.Second):
		w.t.Fatalf("no line with %q", words)
	}
	return ""
}

// end interrupts the watch, which must end cleanly and with nothing more to say.
func (w *watcher) end() {
	w.t.Helper()
	w.cancel()
	if code := <-w.code; code != 130 {
		w.t.Errorf("exit code %d; %s", code, w.stderr.String())
	}
	for line := range w.lines {
		w.t.Errorf("a line too many: %s", line)
	}
}

// must runs a command and returns its stdout.
func must(t *testing.T, environ []string, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, environ, strings.NewReader(""), &out, &errs); code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, out.String(), errs.String())
	}
	return out.String()
}

// Everything is swapped under the surface in use, and the surface in use stays what it was: the stored file, the
// publishable set, and what a call is checked against.
func TestWatchChangesNothing(t *testing.T) {
	t.Parallel()
	for _, legacy := range []bool{false, true} {
		t.Run(fmt.Sprint("legacy ", legacy), func(t *testing.T) {
			t.Parallel()
			r, url := newRestless(t, legacy)
			environ := privateEnviron(t)
			must(t, environ, 0, "snapshot", "take", url)
			document := filepath.Join(t.TempDir(), "a.json")
			draft := must(t, environ, 0, "authority", "draft", url, "--tool", "one", "--by", "ana@example.com")
			if err := os.WriteFile(document, []byte(draft), 0o600); err != nil {
				t.Fatal(err)
			}
			before := everything(t, environ)
			surface := must(t, environ, 0, "authority", "surface", document)

			w := newWatcher(t, environ, url, "--authority", document, "--json")
			w.next(`"event":"watching"`)
			stream := <-r.listening
			r.becomes(`{"name":"one","description":"Other","inputSchema":{"type":"object"}},` +
				`{"name":"two","inputSchema":{"type":"object"}}`)
			for range 200 {
				stream <- listChanged
			}
			w.next(`"event":"changed"`, `"changed":1,"added":1,"removed":0`, `"tools":["one","two"],"granted":["one"]`)
			r.becomes(`{"name":"one","inputSchema":{"type":"object"}}`)
			stream <- listChanged
			w.next(`"event":"same"`)
			r.becomes("")
			close(stream) // and nobody says that the tools are gone
			w.next(`"event":"dropped","at"`, `"retry_ms":`)
			w.next(`"event":"watching"`)
			w.next(`"event":"changed"`, `"removed":1`)
			if after := everything(t, environ); after != before {
				t.Errorf("the files changed:\n%s\n%s", before, after)
			}
			if got := must(t, environ, 0, "authority", "surface", document); got != surface {
				t.Errorf("the surface changed:\n%s", got)
			}
			w.end()
			if w.stderr.String() != "" {
				t.Errorf("stderr: %s", w.stderr.String())
			}
			must(t, environ, 0, "authority", "check", document)
			must(t, environ, 1, "snapshot", "diff", url, "live:"+url)
		})
	}
}

// everything is the names and contents of all files that belong to mcpc.
func everything(t *testing.T, environ []string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(strings.TrimPrefix(environ[0], "HOME="), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(p)
			fmt.Fprintf(&all, "%s %s\n", p, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestWatchForPeople(t *testing.T) {
	t.Parallel()
	r, url := newRestless(t, false)
	environ := privateEnviron(t)
	must(t, environ, 0, "snapshot", "take", url)
	w := newWatcher(t, environ, url)
	w.next("  watching  ", "  1 tool in use")
	stream := <-r.listening
	r.becomes(`{"name":"two","inputSchema":{"type":"object"}}`)
	stream <- listChanged
	w.next("  changed   ", "  0 changed, 1 added, 1 removed")
	close(stream)
	w.stderr.wait(t, "mcpc: listening again\n")
	w.end()
	for _, want := range []string{
		"mcpc: to read a change: mcpc snapshot diff ", " live:" + url + "\n",
		"mcpc: the stream ended (transport.closed: ", "; opening it again in ",
	} {
		if !strings.Contains(w.stderr.String(), want) {
			t.Errorf("%q is not in %s", want, w.stderr.String())
		}
	}
}

// A server without the feature is refused by name, and so is a watch of what nobody keeps.
func TestWatchRefusals(t *testing.T) {
	t.Parallel()
	deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if strictjson.MemberText(body, "method") == "subscriptions/listen" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		(&restless{tools: `{"name":"one","inputSchema":{"type":"object"}}`}).ServeHTTP(w, req)
	}))
	t.Cleanup(deaf.Close)
	environ := privateEnviron(t)
	fails := func(want string, code int, args ...string) {
		t.Helper()
		w := newWatcher(t, environ, args...)
		for line := range w.lines {
			t.Errorf("printed %s", line)
		}
		if got := <-w.code; got != code || !strings.Contains(w.stderr.String(), want) {
			t.Errorf("%v: exit code %d, %s", args, got, w.stderr.String())
		}
	}
	fails("hint: mcpc snapshot take "+deaf.URL, 2, deaf.URL)
	must(t, environ, 0, "snapshot", "take", deaf.URL)
	_, other := newRestless(t, false)
	must(t, environ, 0, "snapshot", "take", other)
	fails("feature.listen", 3, deaf.URL)
	fails("snapshot.other_server", 3, deaf.URL, "--snapshot", other)
	fails("SERVER is missing", 2)
}
