package transport

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/refusal"
)

func TestStreamFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/sse/*.sse")
	if err != nil || len(paths) != 9 {
		t.Fatalf("%d files, error %v", len(paths), err)
	}
	fails := map[string]*refusal.Entry{
		"no-final-blank.sse":  refusal.TransportClosed,
		"endpoint-legacy.sse": refusal.TransportClosed,
	}
	for _, path := range paths {
		name := filepath.Base(path)
		for how, write := range map[string]func(io.Writer, string){
			"whole":    func(w io.Writer, s string) { _, _ = io.WriteString(w, s) },
			"one byte": slowly,
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				s := newRawServer(t, func(n int, _ arrived, w net.Conn) bool {
					if n > 0 {
						_, _ = io.WriteString(w, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
						return false
					}
					write(w, rawStream(rawFile(t, "sse/"+name)))
					return false
				})
				c := dialRaw(t, s.url, nil)
				c.Use(legacy)
				c.lastID = 1
				resp, f := exchange1(t, c, "tools/call")
				if want := fails[name]; want != nil {
					wantRefusal(t, f, want)
					return
				}
				if f != nil || !bytes.Contains(resp.Result, []byte(`"content"`)) {
					t.Fatalf("got %v and %v", resp, f)
				}
			})
		}
	}
}

func TestServerRequestsInALegacyStream(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, withoutStream(inTurn(rawStream(rawFile(t, "sse/server-request-midcall.sse")),
		"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"))) // that a reply is refused must not matter
	c := begun(t, s.url, nil)
	c.lastID = 1
	if _, f := exchange1(t, c, "tools/call"); f != nil {
		t.Fatal(f)
	}
	var replies []string
	for _, r := range s.without(http.MethodGet)[1:] {
		replies = append(replies, r.body)
		if r.header.Get(sessionHeader) != "s1" || r.header.Get(versionHeader) != Legacy || r.verb != "POST" {
			t.Errorf("reply with headers %v", r.header)
		}
	}
	want := []string{
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`,
		`{"jsonrpc":"2.0","id":"e1","error":{"code":-32601,"message":"Method not found"}}`,
		`{"jsonrpc":"2.0","id":"p1","result":{}}`,
	}
	if diff := cmp.Diff(want, replies); diff != "" {
		t.Errorf("replies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"roots/list", "elicitation/create"}, c.Asked()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// TestHeldOpen: what a server holds open after it has said enough delays nothing (TERM-06).
func TestHeldOpen(t *testing.T) {
	t.Parallel()
	held := func(raw string) rawReply {
		return func(_ int, _ arrived, w net.Conn) bool {
			_, _ = io.WriteString(w, raw)
			_, _ = io.Copy(io.Discard, w) // until the client closes
			return false
		}
	}
	stream := newRawServer(t, held(rawStream(eventOf(resultOf(1)))))
	c := dialRaw(t, stream.url, nil)
	c.Use(modern)
	start := time.Now()
	if _, f := exchange1(t, c, "tools/call"); f != nil {
		t.Fatal(f)
	}
	_ = c.Close()

	status := newRawServer(t, held("HTTP/1.1 404 Gone\r\nContent-Type: text/html\r\n\r\n<html>"))
	c = dialRaw(t, status.url, nil)
	c.waits.errorBody = 10 * time.Millisecond
	_, f := exchange1(t, c, "tools/list")
	wantRefusal(t, f, refusal.TransportStatus)

	note := newRawServer(t, held(rawStream("")))
	c = dialRaw(t, note.url, nil)
	if err := c.Notify(t.Context(), &Request{Method: "notifications/initialized"}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	primed := rawStream("id: e1\nretry: 2\ndata:\n\n")
	rest := rawStream("id: e2\n" + eventOf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`))
	busy := "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
	no := "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"
	last := rawStream(eventOf(resultOf(1)))
	rows := []struct {
		name    string
		answers []string
		use     Protocol
		want    []string // Last-Event-ID of each request
		refusal *refusal.Entry
	}{
		{"to the end", []string{primed, rest, busy, last}, legacy, []string{"", "e1", "e2", "e2"}, nil},
		{"modern", []string{primed, last}, modern, []string{""}, refusal.TransportClosed},
		{"no id", []string{rawStream(""), last}, legacy, []string{""}, refusal.TransportClosed},
		{"refused", []string{primed, no, last}, legacy, []string{"", "e1"}, refusal.TransportClosed},
		{
			"nothing new",
			[]string{primed, rawStream("")},
			legacy,
			[]string{"", "e1", "e1", "e1", "e1", "e1"},
			refusal.TransportClosed,
		},
		{
			"busy for good",
			[]string{primed, busy},
			legacy,
			[]string{"", "e1", "e1", "e1", "e1", "e1"},
			refusal.TransportClosed,
		},
		{
			"redirect",
			[]string{primed, "HTTP/1.1 302 Moved\r\nLocation: /x\r\n\r\n"},
			legacy,
			[]string{"", "e1"},
			refusal.TransportClosed,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, inTurn(row.answers...))
			c := dialRaw(t, s.url, nil)
			c.Use(row.use)
			_, f := exchange1(t, c, "tools/call")
			if row.refusal != nil {
				wantRefusal(t, f, row.refusal)
				if !f.Sent || f.Cause != CauseConnection {
					t.Errorf("got %+v", f)
				}
			} else if f != nil {
				t.Fatal(f)
			}
			var ids []string
			for i, r := range s.requests() {
				ids = append(ids, r.header.Get("Last-Event-ID"))
				if i > 0 && (r.verb != "GET" || r.body != "" || r.header.Get("Accept") != streamType ||
					r.header.Get(versionHeader) != Legacy) {
					t.Errorf("request %d: %+v", i, r)
				}
			}
			if diff := cmp.Diff(row.want, ids); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEnded: the end of the caller's context, seen by both.
func TestEnded(t *testing.T) {
	t.Parallel()
	const patience = time.Second // long enough for the request to arrive on a slow machine
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	rows := []struct {
		name, method string
		use          Protocol
		deadline     bool
		bodies       int
	}{
		{"modern deadline", "tools/call", modern, true, 1},
		{"modern interrupt", "tools/call", modern, false, 1},
		{"legacy deadline", "tools/call", legacy, true, 2},
		{"legacy interrupt", "tools/call", legacy, false, 2},
		{"initialize", "initialize", legacy, true, 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			closed := make(chan struct{})
			s := newRawServer(t, func(n int, _ arrived, w net.Conn) bool {
				if n > 0 {
					_, _ = io.WriteString(w, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
					return false
				}
				_, _ = io.WriteString(w, rawStream(": wait\n\n"))
				if !row.deadline {
					cancel()
				}
				_, _ = io.Copy(io.Discard, w)
				close(closed)
				return false
			})
			if row.deadline {
				ctx, cancel = context.WithTimeout(ctx, patience)
				defer cancel()
			}
			c := dialRaw(t, s.url, nil)
			c.Use(row.use)
			_, err := c.Exchange(ctx, &Request{Method: row.method}, nil)
			f := httpFailure(t, err)
			want, cause := refusal.Interrupted, CauseInterrupted
			if row.deadline {
				want, cause = refusal.DeadlineRequest, CauseDeadline
			}
			wantRefusal(t, f, want)
			if f.Cause != cause || !f.Sent {
				t.Errorf("got %+v", f)
			}
			limit, _ := f.Refusal.Detail("limit").(int64) // what was left when the exchange began
			if row.deadline && (limit < 1 || limit > patience.Milliseconds() || f.Refusal.Detail("method") != row.method) {
				t.Errorf("got %v", f)
			}
			<-closed
			seen := s.requests()
			if len(seen) != row.bodies || row.bodies == 2 && seen[1].body != cancelled {
				t.Errorf("requests %+v", seen)
			}
		})
	}
}

func TestCloseEndsAnExchange(t *testing.T) {
	t.Parallel()
	arrivedOnce := make(chan struct{})
	s := newRawServer(t, func(n int, _ arrived, w net.Conn) bool {
		if n == 0 {
			close(arrivedOnce)
			_, _ = io.Copy(io.Discard, w)
		}
		return false
	})
	c := dialRaw(t, s.url, nil)
	c.Use(modern)
	go func() {
		<-arrivedOnce
		_ = c.Close()
	}()
	_, f := exchange1(t, c, "tools/call")
	wantRefusal(t, f, refusal.Interrupted)
}
