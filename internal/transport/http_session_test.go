package transport

import (
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

func TestLegacySession(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, inTurn(
		rawJSON("200 OK", resultOf(1), "Mcp-Session-Id: s-1"),
		"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
		rawJSON("200 OK", resultOf(2), "Mcp-Session-Id: other"),
		rawJSON("404 Gone", ""),
		rawJSON("200 OK", resultOf(4), "Mcp-Session-Id: s 2"),
		rawJSON("200 OK", resultOf(5)),
		rawJSON("200 OK", resultOf(6), "Mcp-Session-Id: s-3"),
		"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n",
	))
	c := dialRaw(t, s.url, nil)
	c.Use(legacy)
	exchange1(t, c, "initialize")
	if err := c.Notify(t.Context(), &Request{Method: "notifications/initialized"}); err != nil {
		t.Fatal(err)
	}
	exchange1(t, c, "tools/list")
	_, f := exchange1(t, c, "tools/list")
	wantRefusal(t, f, refusal.TransportSessionLost)
	exchange1(t, c, "initialize") // answered with an id that is none
	exchange1(t, c, "tools/list")
	exchange1(t, c, "initialize")
	_ = c.Close()
	_ = c.Close()
	var got []string
	for _, r := range s.requests() {
		got = append(got, fmt.Sprintf("%s session=%q version=%q method=%q",
			r.verb, r.header.Get(sessionHeader), r.header.Get(versionHeader), r.header.Get("Mcp-Method")))
	}
	want := []string{
		`POST session="" version="" method=""`,
		`POST session="s-1" version="2025-11-25" method=""`,
		`POST session="s-1" version="2025-11-25" method=""`,
		`POST session="s-1" version="2025-11-25" method=""`,
		`POST session="" version="" method=""`,
		`POST session="" version="2025-11-25" method=""`,
		`POST session="" version="" method=""`,
		`DELETE session="s-3" version="2025-11-25" method=""`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestRestartForgetsTheSession(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, always(rawJSON("200 OK", resultOf(1))))
	c := begun(t, s.url, nil)
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, f := exchange1(t, c, "tools/list"); f != nil {
		t.Fatal(f)
	}
	_ = c.Close()
	if r := s.requests(); len(r) != 1 || r[0].header.Get(sessionHeader) != "" || r[0].header.Get(versionHeader) != "" {
		t.Errorf("requests %v", r)
	}
}

// TestConnectionEvidence: whether a request may have run is told apart from whether it was answered.
func TestConnectionEvidence(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String() + "/mcp"
	l.Close()
	c := dialRaw(t, gone, nil)
	_, f := exchange1(t, c, "tools/call")
	wantRefusal(t, f, refusal.TransportUnreachable)
	if f.Sent || f.Cause != CauseConnection || f.Refusal.Detail("host") != l.Addr().String() {
		t.Errorf("not reached: %+v %v", f, f)
	}
	s := newRawServer(t, func(_ int, _ arrived, w net.Conn) bool {
		_ = w.(*net.TCPConn).SetLinger(0) // the connection is reset
		return false
	})
	c = dialRaw(t, s.url, nil)
	_, f = exchange1(t, c, "tools/call")
	wantRefusal(t, f, refusal.TransportClosed)
	if !f.Sent || f.Cause != CauseConnection || f.Refusal.Detail("method") != "tools/call" {
		t.Errorf("reset: %+v", f)
	}
}

// TestSentOnce: net/http must not send a POST again by itself, not even with a header that makes it idempotent.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(n int, _ arrived, w net.Conn) bool {
		if n == 0 {
			_, _ = io.WriteString(w, rawJSON("200 OK", resultOf(1)))
		}
		return n == 0
	})
	c := dialRaw(t, s.url, func(o *HTTPOptions) {
		o.Headers = []SecretHeader{{"Idempotency-Key", config.NewSecret("k")}}
	})
	if _, f := exchange1(t, c, "tools/list"); f != nil {
		t.Fatal(f)
	}
	_, f := exchange1(t, c, "tools/call")
	wantRefusal(t, f, refusal.TransportClosed)
	seen := s.requests()
	if len(seen) != 2 || seen[0].conn != seen[1].conn {
		t.Errorf("%d requests, on connections %v", len(seen), seen)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(n int, _ arrived, w net.Conn) bool {
		_, _ = io.WriteString(w, []string{
			rawJSON("200 OK", resultOf(1)),
			"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
			rawJSON("404 No", `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"m"}}`),
			rawJSON("200 OK", resultOf(3)),
		}[n])
		return true
	})
	c := dialRaw(t, s.url, nil)
	exchange1(t, c, "a")
	_ = c.Notify(t.Context(), &Request{Method: "b"})
	exchange1(t, c, "c")
	if _, f := exchange1(t, c, "d"); f != nil {
		t.Fatal(f)
	}
	for _, r := range s.requests() {
		if r.conn != 0 {
			t.Errorf("%s came on connection %d", r.body, r.conn)
		}
	}
}
