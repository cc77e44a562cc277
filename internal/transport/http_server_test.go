package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// arrived is one request as a raw server saw it.
type arrived struct {
	verb, target string
	header       http.Header
	body         string
	conn         int
}

// rawServer answers with bytes of the test's choice, so that nothing of an HTTP library tidies them up.
type rawServer struct {
	url string

	mu   sync.Mutex
	seen []arrived
}

// rawReply writes the answer to the nth request, counted from 0; it reports whether the connection stays open.
type rawReply func(n int, r arrived, w net.Conn) (keep bool)

func newRawServer(t *testing.T, reply rawReply) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + l.Addr().String() + "/mcp"}
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		open    []net.Conn
	)
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	running.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			running.Go(func() { s.serve(c, n, reply) })
		}
	})
	return s
}

func (s *rawServer) serve(c net.Conn, number int, reply rawReply) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		a := arrived{r.Method, r.RequestURI, r.Header, string(body), number}
		s.mu.Lock()
		n := len(s.seen)
		s.seen = append(s.seen, a)
		s.mu.Unlock()
		if !reply(n, a, c) {
			return
		}
	}
}

func (s *rawServer) requests() []arrived {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrived{}, s.seen...)
}

// always answers every request with the same text, and closes.
func always(raw string) rawReply { return inTurn(raw) }

// verbatim answers with exactly these bytes, and closes without saying so.
func verbatim(raw string) rawReply {
	return func(_ int, _ arrived, w net.Conn) bool {
		_, _ = io.WriteString(w, raw)
		return false
	}
}

// inTurn answers the nth request with the nth text, and the last text for good. It closes each connection and says so.
func inTurn(raws ...string) rawReply {
	return func(n int, _ arrived, w net.Conn) bool {
		_, _ = io.WriteString(w, strings.Replace(raws[min(n, len(raws)-1)], "\r\n", "\r\nConnection: close\r\n", 1))
		return false
	}
}

func rawJSON(status, body string, headers ...string) string {
	return rawBody(status, "application/json", body, headers...)
}

func rawBody(status, contentType, body string, headers ...string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s",
		status, contentType, len(body), lines(headers), body)
}

// rawStream is an event stream that ends when the connection does.
func rawStream(body string, headers ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + lines(headers) + "\r\n" + body
}

func lines(headers []string) string {
	var b strings.Builder
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String()
}

func resultOf(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }

func rawFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// dialRaw makes a carrier for a server, with small waits; edit may change the options first.
func dialRaw(t *testing.T, url string, edit func(*HTTPOptions)) *httpCarrier {
	t.Helper()
	o := HTTPOptions{Server: &config.Server{HTTP: &config.HTTP{URL: url}, Limits: config.DefaultLimits()}}
	o.Server.Limits.Shutdown = 2 * time.Second
	if edit != nil {
		edit(&o)
	}
	c, err := DialHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	h := c.(*httpCarrier)
	h.waits.retry, h.waits.retryMin = time.Millisecond, time.Millisecond
	return h
}

var (
	modern = Protocol{Version: Modern}
	legacy = Protocol{Version: Legacy, Legacy: true}
)

func exchange1(t *testing.T, c *httpCarrier, method string) (*Response, *Failure) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, err := c.Exchange(ctx, &Request{Method: method, Params: []byte(`{}`)}, nil)
	return resp, httpFailure(t, err)
}

func httpFailure(t *testing.T, err error) *Failure {
	t.Helper()
	var f *Failure
	if err != nil && !errors.As(err, &f) {
		t.Fatalf("%v is no *Failure", err)
	}
	if f != nil && f.Refusal == nil {
		t.Fatal("a failure without refusal")
	}
	return f
}

func wantRefusal(t *testing.T, f *Failure, want *refusal.Entry) {
	t.Helper()
	switch {
	case f == nil:
		t.Fatalf("no failure, want %s", want.Name)
	case f.Refusal.Entry() != want:
		t.Fatalf("%v, want %s", f.Refusal, want.Name)
	}
}

// begun is a legacy carrier in session "s1".
func begun(t *testing.T, url string, edit func(*HTTPOptions)) *httpCarrier {
	t.Helper()
	c := dialRaw(t, url, edit)
	c.Use(legacy)
	c.state.session = "s1"
	return c
}

// slowly writes a text byte by byte, each in a segment of its own.
func slowly(w io.Writer, text string) {
	for i := range len(text) {
		if _, err := w.Write([]byte{text[i]}); err != nil {
			return
		}
	}
}

func eventOf(frame string) string { return "data: " + frame + "\n\n" }

func endless(w io.Writer, unit string) {
	chunk := bytes.Repeat([]byte(unit), 4096/len(unit)+1)
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}
