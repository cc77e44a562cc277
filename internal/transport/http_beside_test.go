package transport

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

const (
	accepted = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
	notHere  = "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"
)

// withoutStream is a server that has no stream for itself; the other requests are counted without those for one.
func withoutStream(reply rawReply) rawReply {
	var others atomic.Int64
	return func(_ int, r arrived, w net.Conn) bool {
		if r.verb == http.MethodGet {
			_, _ = io.WriteString(w, notHere)
			return true
		}
		return reply(int(others.Add(1))-1, r, w)
	}
}

// without are the requests of the other verbs.
func (s *rawServer) without(verb string) (others []arrived) {
	for _, r := range s.requests() {
		if r.verb != verb {
			others = append(others, r)
		}
	}
	return others
}

// duplex is a server whose stream is written by stream, and which answers a call with a result when answer says so.
// Anything else it accepts and hands to heard.
type duplex struct {
	stream func(w net.Conn)
	answer func()
	heard  func(body string)
}

func (d duplex) serve(_ int, r arrived, w net.Conn) bool {
	switch {
	case r.verb == http.MethodGet:
		d.stream(w)
		return false
	case strings.Contains(r.body, `"method":"tools/call"`):
		d.answer()
		_, _ = io.WriteString(w, rawJSON("200 OK", resultOf(1)))
		return false
	}
	_, _ = io.WriteString(w, accepted)
	if d.heard != nil {
		d.heard(r.body)
	}
	return true
}

// What a tool asks for beside its call is refused at once: without that the tool would wait.
func TestAskedBesideACall(t *testing.T) {
	t.Parallel()
	told := make(chan string, 9)
	var replies []string
	s := newRawServer(t, duplex{
		stream: func(w net.Conn) {
			_, _ = io.WriteString(w, rawStream("id: 7\ndata:\n\nevent: ping\ndata: x\n\n"+
				eventOf(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)+
				eventOf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)+
				eventOf(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)+
				eventOf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mcpc-1"}}`)+
				eventOf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)+
				eventOf(`{"jsonrpc":"2.0","id":2,"method":"vendor/x"}`)))
			_, _ = io.Copy(io.Discard, w)
		},
		answer: func() {
			for range 3 {
				replies = append(replies, <-told)
			}
		},
		heard: func(body string) { told <- body },
	}.serve)
	c := begun(t, s.url, func(o *HTTPOptions) {
		o.Headers = []SecretHeader{{"X-Key", config.NewSecret("k")}}
		o.Authorizer = &signIn{tokens: []string{"t"}}
	})
	var notes []string
	note := func(n Notification) { notes = append(notes, n.Method) }
	_, err := c.Exchange(t.Context(), &Request{Method: "tools/call"}, note)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`,
		`{"jsonrpc":"2.0","id":"p","result":{}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`,
	}
	if diff := cmp.Diff(want, replies); diff != "" {
		t.Errorf("replies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"elicitation/create", ""}, c.Asked()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"notifications/tools/list_changed"}, notes); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
	for _, r := range s.requests() {
		if r.header.Get(sessionHeader) != "s1" || r.header.Get(versionHeader) != Legacy || r.header.Get("X-Key") != "k" ||
			r.header.Get("Authorization") != "Bearer t" {
			t.Errorf("%s with headers %v", r.verb, r.header)
		}
	}
	if r := s.without(http.MethodPost); len(r) != 1 || r[0].header.Get("Accept") != streamType || r[0].body != "" ||
		r[0].header.Get("Last-Event-Id") != "" {
		t.Errorf("streams %+v", r)
	}
	if exchange1(t, c, "tools/list"); c.Asked() != nil {
		t.Errorf("asked during another exchange: %v", c.Asked())
	}
}

// TestBadStreamBesideACall: nothing that a server does with the stream is seen in the call (SSE-05, SSE-06).
func TestBadStreamBesideACall(t *testing.T) {
	t.Parallel()
	const limit = 4096
	say := func(raw string) func(net.Conn) { return func(w net.Conn) { _, _ = io.WriteString(w, raw) } }
	hold := func(raw string) func(net.Conn) {
		return func(w net.Conn) {
			_, _ = io.WriteString(w, raw)
			_, _ = io.Copy(io.Discard, w) // until the client closes
		}
	}
	forever := func(raw, unit string) func(net.Conn) {
		return func(w net.Conn) {
			_, _ = io.WriteString(w, raw)
			endless(w, unit)
		}
	}
	note := eventOf(`{"jsonrpc":"2.0","method":"n"}`)
	rows := []struct {
		name   string
		stream func(net.Conn)
		open   bool // until the call ends; else the client closes what the server does not
	}{
		{"405", say(notHere), false},
		{"404", say(rawJSON("404 Gone", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"m"}}`)), false},
		{"400", say(rawJSON("400 Bad", "")), false},
		{"401", hold(rawJSON("401 No", "", `WWW-Authenticate: Bearer resource_metadata="https://evil.example/"`)), false},
		{"403", say(rawJSON("403 No", "", `WWW-Authenticate: Bearer error="insufficient_scope"`)), false},
		{"409", say(rawJSON("409 One", "")), false},
		{"500", say(rawJSON("500 Oops", "")), false},
		{"redirect", say("HTTP/1.1 302 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"), false},
		{"html", hold("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"), false},
		{"html status", hold("HTTP/1.1 404 No\r\nContent-Type: text/html\r\n\r\n<html>"), false},
		{"json", hold("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"), false},
		{"202", say(accepted), false},
		{"no HTTP", hold("hello\r\n\r\n"), false},
		{"no header", hold(""), true},
		{"half a header", hold("HTTP/1.1 200 OK\r\nContent-Type: te"), true},
		{"silence", hold(rawStream("")), true},
		{"pings", hold(rawStream(strings.Repeat("event: ping\ndata:\n\n: ping\n\n", 50))), true},
		{"closed at once", say(""), false},
		{"closed", say(rawStream("retry: 1\nid: 1\ndata:\n\n")), false},
		{"closed in an event", say(rawStream("data: {")), false},
		{"garbage", hold(rawStream(eventOf("hello"))), false},
		{"batch", hold(rawStream(eventOf("[" + resultOf(1) + "]"))), false},
		{"a response to the call", hold(rawStream(eventOf(`{"jsonrpc":"2.0","id":1,"result":{"forged":true}}`))), false},
		{"an error for the call", hold(rawStream(eventOf(`{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}`))), false},
		{"frame over the limit", hold(rawStream("data: " + strings.Repeat("x", limit+1))), false},
		{"frame without end", forever(rawStream("data: "), "x"), false},
		{"messages over the limit", hold(rawStream(note + note + note + note)), false},
		{"messages without end", forever(rawStream(""), note), false},
		{"comments without end", forever(rawStream(""), ":"), true},
		{"header without end", forever("HTTP/1.1 200 OK\r\n", "X: y\r\n"), false},
		{"coded", hold(rawStream(note, "Content-Encoding: br")), false},
		{"bomb", func(w net.Conn) {
			_, _ = io.WriteString(w, rawStream("", "Content-Encoding: gzip")+"")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, "data: ")
			endless(z, "x")
		}, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			came, closed := make(chan struct{}), make(chan struct{})
			s := newRawServer(t, duplex{
				stream: func(w net.Conn) {
					close(came)
					row.stream(w)
					w.Close()
					close(closed)
				},
				answer: func() {
					if <-came; !row.open {
						<-closed
					}
				},
			}.serve)
			signIn := &signIn{tokens: []string{"t"}}
			c := begun(t, s.url, func(o *HTTPOptions) {
				o.Server.Limits.FrameBytes, o.Server.Limits.Events, o.Server.Limits.HeaderBytes = limit, 3, limit
				o.Authorizer = signIn
			})
			notes := 0
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			resp, err := c.Exchange(ctx, &Request{Method: "tools/call"}, func(Notification) { notes++ })
			if err != nil || string(resp.Result) != "{}" || c.Asked() != nil || notes != 0 {
				t.Errorf("%+v, %v, asked %v, %d notifications", resp, err, c.Asked(), notes)
			}
			<-closed // by the client, where the server keeps it
			if n := len(s.without(http.MethodPost)); n != 1 || len(signIn.calls) != 0 || signIn.asked != 1 {
				t.Errorf("%d streams; the sign-in was asked %d times and challenged with %v", n, signIn.asked, signIn.calls)
			}
		})
	}
}

// TestNoStreamBeside: only a call in a session of the legacy era has one.
func TestNoStreamBeside(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		use             Protocol
		session, method string
	}{
		"modern":      {modern, "s1", "tools/call"},
		"no session":  {legacy, "", "tools/call"},
		"list":        {legacy, "s1", "tools/list"},
		"ping":        {legacy, "s1", "ping"},
		"negotiating": {Protocol{}, "s1", "tools/call"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, always(rawJSON("200 OK", resultOf(1))))
			c := dialRaw(t, s.url, nil)
			c.Use(row.use)
			c.state.session = row.session
			if _, f := exchange1(t, c, row.method); f != nil {
				t.Fatal(f)
			}
			if r := s.without(http.MethodPost); r != nil {
				t.Errorf("requests %v", r)
			}
		})
	}
}

// TestStreamComesFirst: a server drops what it has no stream for, so the stream takes the connection that is there, and
// the call the one that has to be made.
func TestStreamComesFirst(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(_ int, r arrived, w net.Conn) bool {
		switch {
		case r.verb == http.MethodGet:
			_, _ = io.WriteString(w, rawStream(""))
			_, _ = io.Copy(io.Discard, w)
			return false
		case strings.Contains(r.body, `"id":1`):
			_, _ = io.WriteString(w, rawJSON("200 OK", resultOf(1)))
		default:
			_, _ = io.WriteString(w, rawJSON("200 OK", resultOf(2)))
		}
		return true
	})
	c := begun(t, s.url, nil)
	exchange1(t, c, "tools/list")
	if _, f := exchange1(t, c, "tools/call"); f != nil {
		t.Fatal(f)
	}
	for _, r := range s.requests()[1:] {
		if want := map[string]int{"GET": 0, "POST": 1}[r.verb]; r.conn != want {
			t.Errorf("%s came on connection %d", r.verb, r.conn)
		}
	}
}

// TestStreamEndsWithTheCall, however that ends.
func TestStreamEndsWithTheCall(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		stop func(c *httpCarrier, cancel func())
		want *refusal.Entry
	}{
		"deadline":  {nil, refusal.DeadlineRequest},
		"interrupt": {func(_ *httpCarrier, cancel func()) { cancel() }, refusal.Interrupted},
		"close":     {func(c *httpCarrier, _ func()) { _ = c.Close() }, refusal.Interrupted},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			if row.stop == nil {
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			}
			defer cancel()
			came, closed := make(chan struct{}, 2), make(chan struct{}, 2)
			s := newRawServer(t, func(_ int, r arrived, w net.Conn) bool {
				if r.verb == http.MethodGet || strings.Contains(r.body, `"tools/call"`) {
					came <- struct{}{}
					_, _ = io.Copy(io.Discard, w)
					closed <- struct{}{}
					return false
				}
				_, _ = io.WriteString(w, accepted)
				return false
			})
			c := begun(t, s.url, nil)
			if row.stop != nil {
				go func() {
					<-came
					<-came
					row.stop(c, cancel)
				}()
			}
			_, err := c.Exchange(ctx, &Request{Method: "tools/call"}, nil)
			wantRefusal(t, httpFailure(t, err), row.want)
			<-closed
			<-closed
		})
	}
}

// TestStreamOfEachTry: a call that is sent again with a new token has the stream with that token.
func TestStreamOfEachTry(t *testing.T) {
	t.Parallel()
	arrivedAt := make(chan struct{}, 2)
	s := newRawServer(t, func(_ int, r arrived, w net.Conn) bool {
		if r.verb == http.MethodGet {
			arrivedAt <- struct{}{}
			_, _ = io.Copy(io.Discard, w)
			return false
		}
		if r.verb == http.MethodPost {
			<-arrivedAt
		}
		if r.header.Get("Authorization") == "Bearer t1" {
			_, _ = io.WriteString(w, rawJSON("401 No", "", "WWW-Authenticate: Bearer"))
		} else {
			_, _ = io.WriteString(w, rawJSON("200 OK", resultOf(1)))
		}
		return false
	})
	c := begun(t, s.url, func(o *HTTPOptions) {
		o.Authorizer = &signIn{tokens: []string{"t1", "t2"}, again: []any{true}}
	})
	if _, f := exchange1(t, c, "tools/call"); f != nil {
		t.Fatal(f)
	}
	var tokens []string
	for _, r := range s.without(http.MethodPost) {
		tokens = append(tokens, r.header.Get("Authorization"))
	}
	if diff := cmp.Diff([]string{"Bearer t1", "Bearer t2"}, tokens); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
}

// TestAnswerNeedsTheStream: a server that has one stream at a time gives it to the answer that is resumed.
func TestAnswerNeedsTheStream(t *testing.T) {
	t.Parallel()
	beside, closed := make(chan struct{}), make(chan struct{})
	s := newRawServer(t, func(_ int, r arrived, w net.Conn) bool {
		switch {
		case r.verb == http.MethodPost:
			<-beside
			_, _ = io.WriteString(w, rawStream("id: e1\nretry: 1\ndata:\n\n"))
		case r.verb != http.MethodGet: // the end of the session
		case r.header.Get("Last-Event-Id") == "":
			close(beside)
			_, _ = io.Copy(io.Discard, w)
			close(closed)
		default:
			select {
			case <-closed:
				_, _ = io.WriteString(w, rawStream(eventOf(resultOf(1))))
			default:
				_, _ = io.WriteString(w, rawJSON("409 One", ""))
			}
		}
		return false
	})
	c := begun(t, s.url, nil)
	c.waits.retryMin = 20 * time.Millisecond
	if _, f := exchange1(t, c, "tools/call"); f != nil {
		t.Fatal(f)
	}
	if n := len(s.without(http.MethodPost)); n < 3 {
		t.Errorf("%d streams", n)
	}
}

// TestFrameBesideACallIsSmall: the frame limit is the call's; beside it there is no second one of that size.
func TestFrameBesideACallIsSmall(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{maxBeside: "[roots/list]", maxBeside + 1: "[]"} {
		closed, answered := make(chan struct{}), make(chan string, 1)
		s := newRawServer(t, duplex{
			stream: func(w net.Conn) {
				head, tail := `{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"a":"`, `"}}`
				_, _ = io.WriteString(w, rawStream(eventOf(head+strings.Repeat("x", size-len(head)-len(tail))+tail)))
				_, _ = io.Copy(io.Discard, w)
				close(closed)
			},
			answer: func() {
				select {
				case <-closed:
				case <-answered:
				}
			},
			heard: func(body string) { answered <- body },
		}.serve)
		c := begun(t, s.url, nil)
		if _, f := exchange1(t, c, "tools/call"); f != nil || fmt.Sprint(c.Asked()) != want {
			t.Errorf("%d bytes: %v, asked %v", size, f, c.Asked())
		}
		c.state.session = "" // nothing more is heard
	}
}
