package transport

import (
	"compress/gzip"
	"io"
	"net"
	"strings"
	"testing"

	"mcpc/internal/refusal"
)

func TestFrameLimit(t *testing.T) {
	t.Parallel()
	const limit = 4096
	body := func(n int) string {
		head, tail := `{"jsonrpc":"2.0","id":1,"result":{"a":"`, `"}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	sent := func(raw string) rawReply { return always(raw) }
	rows := []struct {
		name  string
		reply rawReply
		fails bool
	}{
		{"json max-1", sent(rawJSON("200 OK", body(limit-1))), false},
		{"json max", sent(rawJSON("200 OK", body(limit))), false},
		{"json max+1", sent(rawJSON("200 OK", body(limit+1))), true},
		{"event max-1", sent(rawStream(eventOf(body(limit - 1)))), false},
		{"event max", sent(rawStream(eventOf(body(limit)))), false},
		{"event max+1", sent(rawStream(eventOf(body(limit + 1)))), true},
		{"json endless", func(_ int, _ arrived, w net.Conn) bool {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\":\"")
			endless(w, "x")
			return false
		}, true},
		{"event endless", func(_ int, _ arrived, w net.Conn) bool {
			_, _ = io.WriteString(w, rawStream("data: "))
			endless(w, "x")
			return false
		}, true},
		{"gzip bomb", func(_ int, _ arrived, w net.Conn) bool {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n")
			z := gzip.NewWriter(w)
			endless(z, " ")
			return false
		}, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, row.reply)
			c := dialRaw(t, s.url, func(o *HTTPOptions) { o.Server.Limits.FrameBytes = limit })
			_, f := exchange1(t, c, "tools/call")
			if !row.fails {
				if f != nil {
					t.Fatal(f)
				}
				return
			}
			wantRefusal(t, f, refusal.LimitFrame)
			if f.Refusal.Detail("limit") != int64(limit) || !f.Sent || f.Status != 200 {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// TestErrorBodyLimit: an error body without an end is no error, and the status is still told.
func TestErrorBodyLimit(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(_ int, _ arrived, w net.Conn) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 404 Gone\r\nContent-Type: application/json\r\n\r\n")
		endless(w, " ")
		return false
	})
	c := dialRaw(t, s.url, func(o *HTTPOptions) { o.Server.Limits.FrameBytes = 4096 })
	_, f := exchange1(t, c, "server/discover")
	wantRefusal(t, f, refusal.TransportStatus)
}

func TestEventLimit(t *testing.T) {
	t.Parallel()
	note := eventOf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`)
	for n, want := range map[int]*refusal.Entry{3: nil, 4: nil, 5: refusal.LimitEvents} {
		s := newRawServer(t, always(rawStream(strings.Repeat(note, n-1)+eventOf(resultOf(1)))))
		c := dialRaw(t, s.url, func(o *HTTPOptions) { o.Server.Limits.Events = 4 })
		count := 0
		_, err := c.Exchange(t.Context(), &Request{Method: "tools/call"}, func(Notification) { count++ })
		if f := httpFailure(t, err); want != nil {
			wantRefusal(t, f, want)
		} else if f != nil || count != n-1 {
			t.Errorf("%d messages: %v, %d notifications", n, f, count)
		}
	}
}

func TestHeaderLimit(t *testing.T) {
	t.Parallel()
	const limit = 2048
	body := resultOf(1)
	raw := func(n int) string {
		head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: "
		return head + strings.Repeat("x", n-len(head)-4) + "\r\n\r\n" + body
	}
	for name, row := range map[string]struct {
		reply rawReply
		fails bool
	}{
		"max-1": {verbatim(raw(limit - 1)), false},
		"max":   {verbatim(raw(limit)), false},
		"max+1": {verbatim(raw(limit + 1)), true},
		"endless": {func(_ int, _ arrived, w net.Conn) bool {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\n")
			endless(w, "X: y\r\n")
			return false
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, row.reply)
			c := dialRaw(t, s.url, func(o *HTTPOptions) { o.Server.Limits.HeaderBytes = limit })
			_, f := exchange1(t, c, "tools/list")
			if row.fails {
				wantRefusal(t, f, refusal.LimitHeaders)
			} else if f != nil {
				t.Fatal(f)
			}
		})
	}
}
