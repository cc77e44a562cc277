package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

func TestRawAnswers(t *testing.T) {
	t.Parallel()
	const call = "tools/call"
	rows := map[string]struct {
		id       int64
		refusal  *refusal.Entry
		status   int
		code     int64
		bearer   bool
		unusable bool
		cause    string
	}{
		"401-basic-and-bearer.http":           {id: 1, refusal: refusal.OAuthLoginRequired, status: 401, bearer: true},
		"401-none.http":                       {id: 1, refusal: refusal.OAuthLoginRequired, status: 401},
		"403-bare.http":                       {id: 1, refusal: refusal.TransportMethodRefused, status: 403},
		"403-stepup.http":                     {id: 2, refusal: refusal.OAuthLoginRequired, status: 403, bearer: true},
		"batch-array.http":                    {id: 2, refusal: refusal.ProtocolBatch, status: 200},
		"call-400-32020.http":                 {id: 2, refusal: refusal.ProtocolError, status: 400, code: -32020},
		"discover-400-32004-draft.http":       {id: 1, refusal: refusal.ProtocolError, status: 400, code: -32004},
		"discover-400-32022-legacy-list.http": {id: 1, refusal: refusal.ProtocolError, status: 400, code: -32022},
		"discover-400-idnull-version.http":    {id: 1, refusal: refusal.ProtocolError, status: 400, code: -32000},
		"discover-404-text.http":              {id: 1, refusal: refusal.TransportStatus, status: 404},
		"discover-405-idnull.http":            {id: 1, refusal: refusal.ProtocolError, status: 405, code: -32000},
		"discover-406-stringid.http":          {id: 1, refusal: refusal.ProtocolError, status: 406, code: -32600},
		"html-502.http":                       {id: 2, refusal: refusal.TransportStatus, status: 502, cause: CauseStatus},
		"session-400.http":                    {id: 2, refusal: refusal.ProtocolError, status: 400, code: -32000},
		"session-404.http":                    {id: 2, refusal: refusal.ProtocolError, status: 404, code: -32001},
		"discover-200-32601.http":             {id: 1},
	}
	names, err := filepath.Glob("testdata/http/*.http")
	if err != nil || len(names) != len(rows) {
		t.Fatalf("%d files and %d rows, error %v", len(names), len(rows), err)
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, always(rawFile(t, "http/"+name)))
			c := dialRaw(t, s.url, nil)
			c.Use(modern)
			c.lastID = row.id - 1
			resp, f := exchange1(t, c, call)
			if row.refusal == nil {
				if f != nil || resp.Err == nil || resp.Err.Code != -32601 || resp.Status != 200 {
					t.Fatalf("got %+v and %v", resp, f)
				}
				return
			}
			wantRefusal(t, f, row.refusal)
			var code int64
			if f.RPC != nil {
				code = f.RPC.Code
			}
			if f.Status != row.status || code != row.code || f.Bearer != row.bearer || f.Unusable != row.unusable ||
				f.Cause != row.cause {
				t.Errorf("got %+v (code %d)", f, code)
			}
			if strings.Contains(f.Error(), "prose") || strings.Contains(f.Error(), "example.com") {
				t.Errorf("the peer's text is in %v", f)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	rpc := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-5,"message":"m"}}` }
	rows := []struct {
		name, raw string
		legacy    bool
		want      *refusal.Entry
		rpc       bool
		cause     string
		retry     any
	}{
		{"429", rawJSON("429 Slow", "", "Retry-After: 17"), false, refusal.TransportStatus, false, "", int64(17)},
		{"429 date", rawJSON("429 Slow", "", "Retry-After: Tue, 01 Dec 2026 00:00:00 GMT"), false, refusal.TransportStatus, false, "", nil},
		{"429 sign", rawJSON("429 Slow", "", "Retry-After: -1"), false, refusal.TransportStatus, false, "", nil},
		{"500", rawJSON("500 Oops", "{}"), false, refusal.TransportStatus, false, "", nil},
		{"500 with error", rawJSON("500 Oops", rpc("1")), false, refusal.TransportStatus, true, "", nil},
		{"503", rawJSON("503 Busy", "", "Retry-After: 3"), false, refusal.TransportStatus, false, CauseStatus, int64(3)},
		{"503 with error", rawJSON("503 Busy", rpc("1")), false, refusal.TransportStatus, true, "", nil},
		{"504", rawBody("504 Late", "text/html", "<html>"), false, refusal.TransportStatus, false, CauseStatus, nil},
		{"524", rawBody("524 Late", "text/html", "<html>"), false, refusal.TransportStatus, false, CauseStatus, nil},
		{"error of another request", rawJSON("400 Bad", rpc("7")), false, refusal.TransportStatus, false, "", nil},
		{"error without id", rawJSON("400 Bad", `{"jsonrpc":"2.0","error":{"code":-5,"message":"m"}}`), false, refusal.ProtocolError, true, "", nil},
		{"400 in a session", rawFile(t, "http/session-400.http"), true, refusal.TransportSessionLost, true, "", nil},
		{"404 in a session", rawFile(t, "http/session-404.http"), true, refusal.TransportSessionLost, true, "", nil},
		{"404 text in a session", rawFile(t, "http/discover-404-text.http"), true, refusal.TransportSessionLost, false, "", nil},
		{"400 for this request in a session", rawJSON("400 Bad", rpc("1")), true, refusal.ProtocolError, true, "", nil},
		{"405 in a session", rawJSON("405 No", ""), true, refusal.TransportStatus, false, "", nil},
		{"301", "HTTP/1.1 301 Moved\r\nLocation: /mcp/\r\nContent-Length: 0\r\n\r\n", false, refusal.TransportRedirect, false, "", nil},
		{"304", "HTTP/1.1 304 Same\r\n\r\n", false, refusal.TransportRedirect, false, "", nil},
		{"bad location", "HTTP/1.1 302 Moved\r\nLocation: http://[::bad\r\nContent-Length: 0\r\n\r\n", false, refusal.TransportRedirect, false, "", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, always(row.raw))
			c := dialRaw(t, s.url, nil)
			if c.Use(modern); row.legacy {
				c = begun(t, s.url, nil)
			}
			_, f := exchange1(t, c, "tools/list")
			wantRefusal(t, f, row.want)
			if (f.RPC != nil) != row.rpc || f.Cause != row.cause || f.Refusal.Detail("retry_after") != row.retry || f.Status == 0 {
				t.Errorf("got %+v with retry after %v", f, f.Refusal.Detail("retry_after"))
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestAnswerBodies is about what may stand in an answer of status 2xx.
func TestAnswerBodies(t *testing.T) {
	t.Parallel()
	ok := resultOf(1)
	rows := []struct {
		name, raw string
		want      *refusal.Entry // nil for success
		unusable  bool
	}{
		{"json", rawJSON("200 OK", ok), nil, false},
		{"case and charset", rawBody("200 OK", `Application/JSON;charset="UTF-8"`, ok), nil, false},
		{"folded twice", rawBody("200 OK", "application/json, application/json", ok), nil, false},
		{"folded with parameter", rawBody("200 OK", `application/json; x="a,b", application/json`, ok), nil, false},
		{"two lines", rawBody("200 OK", "application/json", ok, "Content-Type: application/json"), nil, false},
		{"folded unlike", rawBody("200 OK", "application/json, text/html", ok), refusal.TransportContentType, true},
		{"201", rawJSON("201 Made", ok), nil, false},
		{"html", rawBody("200 OK", "text/html; charset=utf-8", "<html>"), refusal.TransportContentType, true},
		{"no type", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", refusal.TransportContentType, true},
		{"202", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", refusal.TransportContentType, true},
		{"204", "HTTP/1.1 204 None\r\n\r\n", refusal.TransportContentType, true},
		{"empty", rawJSON("200 OK", ""), refusal.TransportContentType, true},
		{"blank", rawJSON("200 OK", " \r\n"), refusal.TransportContentType, true},
		{"{}", rawJSON("200 OK", "{}"), refusal.ProtocolMessage, true},
		{"html as json", rawJSON("200 OK", "<html>"), refusal.ProtocolFrame, true},
		{"two values", rawJSON("200 OK", ok+ok), refusal.ProtocolFrame, true},
		{"duplicate member", rawJSON("200 OK", `{"jsonrpc":"2.0","id":1,"result":{},"result":{"a":1}}`), refusal.ProtocolFrame, true},
		{"case variant", rawJSON("200 OK", `{"jsonrpc":"2.0","id":1,"Result":{}}`), refusal.ProtocolMessage, true},
		{"notification", rawJSON("200 OK", `{"jsonrpc":"2.0","method":"notifications/x"}`), refusal.ProtocolMessage, true},
		{"batch", rawJSON("200 OK", "["+ok+"]"), refusal.ProtocolBatch, false},
		{"another id", rawJSON("200 OK", resultOf(2)), refusal.ProtocolID, false},
		{"id as string", rawJSON("200 OK", `{"jsonrpc":"2.0","id":"1","result":{}}`), refusal.ProtocolID, false},
		{"cut off", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n" + ok, refusal.TransportClosed, false},
		{"br", rawJSON("200 OK", ok, "Content-Encoding: br"), refusal.TransportContentEncoding, false},
		{"gzip", rawJSON("200 OK", squeeze(ok), "Content-Encoding: gzip"), nil, false},
		{"identity", rawJSON("200 OK", ok, "Content-Encoding: identity"), nil, false},
		{"gzip that is none", rawJSON("200 OK", ok, "Content-Encoding: gzip"), refusal.TransportClosed, false},
		{"gzip stream", rawStream(squeeze(eventOf(ok)), "Content-Encoding: gzip"), nil, false},
		{"batch in a stream", rawStream(eventOf("[" + ok + "]")), refusal.ProtocolBatch, false},
		{"another id in a stream", rawStream(eventOf(resultOf(9)) + eventOf(ok)), refusal.ProtocolID, false},
		{"no JSON in a stream", rawStream(eventOf("hello") + eventOf(ok)), refusal.ProtocolFrame, true},
		{"endpoint event alone", rawStream(rawFile(t, "sse/endpoint-legacy.sse")), refusal.TransportClosed, false},
		{"empty stream", rawStream(""), refusal.TransportClosed, false},
		{"request in a modern stream", rawStream(eventOf(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) + eventOf(ok)), refusal.ProtocolServerRequest, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, always(row.raw))
			c := dialRaw(t, s.url, nil)
			c.Use(modern)
			resp, f := exchange1(t, c, "tools/list")
			if row.want == nil {
				if f != nil || string(resp.Result) != "{}" {
					t.Fatalf("got %v and %v", resp, f)
				}
				return
			}
			wantRefusal(t, f, row.want)
			if f.Unusable != row.unusable || !f.Sent {
				t.Errorf("got %+v", f)
			}
			if row.want == refusal.TransportClosed && f.Cause != CauseConnection {
				t.Errorf("cause %q", f.Cause)
			}
		})
	}
}

func squeeze(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

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
	s := newRawServer(t, inTurn(rawStream(rawFile(t, "sse/server-request-midcall.sse")),
		"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n")) // that a reply is refused must not matter
	c := begun(t, s.url, nil)
	c.lastID = 1
	if _, f := exchange1(t, c, "tools/call"); f != nil {
		t.Fatal(f)
	}
	var replies []string
	for _, r := range s.requests()[1:] {
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

func TestModernRequest(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, always(rawJSON("200 OK", resultOf(1), "Mcp-Session-Id: never")))
	c := dialRaw(t, s.url, func(o *HTTPOptions) {
		o.Headers = []SecretHeader{{"X-Api-Key", config.NewSecret("k1")}, {"accept", config.NewSecret("*/*")}}
	})
	c.Use(modern)
	req := &Request{
		Method: "tools/call", Name: "zoek/café", Params: []byte(`{"a":1}`),
		Headers: []HeaderField{{"Mcp-Param-Region", "us-west1"}, {"Mcp-Param-Empty", ""}},
	}
	if _, err := c.Exchange(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	want := arrived{verb: "POST", target: "/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":1}}`, header: http.Header{
		"Accept":               {"application/json, text/event-stream"},
		"Accept-Encoding":      {"gzip"},
		"Content-Type":         {"application/json"},
		"Content-Length":       {"63"},
		"User-Agent":           {"mcpc"},
		"Mcp-Protocol-Version": {Modern},
		"Mcp-Method":           {"tools/call"},
		"Mcp-Name":             {"=?base64?em9lay9jYWbDqQ==?="},
		"Mcp-Param-Region":     {"us-west1"},
		"Mcp-Param-Empty":      {""},
		"X-Api-Key":            {"k1"},
	}}
	got := s.requests()[0]
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(arrived{})); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if _, f := exchange1(t, c, "tools/list"); f == nil || s.requests()[1].header.Get(sessionHeader) != "" {
		t.Error("a modern request carries a session id")
	}
	_ = c.Close()
	if n := len(s.requests()); n != 2 {
		t.Errorf("%d requests; a modern server gets no DELETE", n)
	}
}

func TestParameterHeadersCannotBecomeOthers(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, always(rawJSON("200 OK", resultOf(1))))
	for _, field := range []HeaderField{{"Authorization", "x"}, {"Mcp-Param-a b", "x"}, {"Mcp-Param-A", "x\r\ny: z"}} {
		c := dialRaw(t, s.url, nil)
		c.Use(modern)
		_, err := c.Exchange(t.Context(), &Request{Method: "tools/call", Headers: []HeaderField{field}}, nil)
		wantRefusal(t, httpFailure(t, err), refusal.Internal)
	}
	if n := len(s.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestLegacySession(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, inTurn(
		rawJSON("200 OK", resultOf(1), "Mcp-Session-Id: s-1"),
		"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
		rawJSON("200 OK", resultOf(2), "Mcp-Session-Id: other"),
		rawJSON("404 Gone", ""),
		rawJSON("200 OK", resultOf(4), "Mcp-Session-Id: s 2"),
		rawJSON("200 OK", resultOf(5), "Mcp-Session-Id: s-3"),
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

func TestNotificationAnswers(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, raw string
		want      *refusal.Entry
	}{
		{"202", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", nil},
		{"204", "HTTP/1.1 204 None\r\n\r\n", nil},
		{"200 empty", rawJSON("200 OK", ""), nil},
		{"200 null", rawJSON("200 OK", "null"), nil},
		{"200 {}", rawJSON("200 OK", "{}"), nil},
		{"200 id null", rawJSON("200 OK", `{"jsonrpc":"2.0","id":null}`), nil},
		{"200 html", rawBody("200 OK", "text/html", "<html>"), nil},
		{"200 large", rawBody("200 OK", "text/plain", strings.Repeat("x", 1<<20)), nil},
		{"400", rawJSON("400 Bad", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}`), refusal.ProtocolNotAccepted},
		{"405", rawJSON("405 No", ""), refusal.ProtocolNotAccepted},
		{"403", rawJSON("403 No", ""), refusal.TransportMethodRefused},
		{"401", rawJSON("401 No", ""), refusal.OAuthLoginRequired},
		{"500", rawJSON("500 Oops", ""), refusal.TransportStatus},
		{"307", "HTTP/1.1 307 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n", refusal.TransportRedirect},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, always(row.raw))
			c := dialRaw(t, s.url, nil)
			c.Use(legacy)
			f := httpFailure(t, c.Notify(t.Context(), &Request{Method: "notifications/initialized"}))
			if row.want != nil {
				wantRefusal(t, f, row.want)
			} else if f != nil {
				t.Fatal(f)
			}
			if body := s.requests()[0].body; body != `{"jsonrpc":"2.0","method":"notifications/initialized"}` {
				t.Errorf("sent %s", body)
			}
		})
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
		{"nothing new", []string{primed, rawStream("")}, legacy, []string{"", "e1", "e1", "e1", "e1", "e1"}, refusal.TransportClosed},
		{"busy for good", []string{primed, busy}, legacy, []string{"", "e1", "e1", "e1", "e1", "e1"}, refusal.TransportClosed},
		{"redirect", []string{primed, "HTTP/1.1 302 Moved\r\nLocation: /x\r\n\r\n"}, legacy, []string{"", "e1"}, refusal.TransportClosed},
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
				if i > 0 && (r.verb != "GET" || r.body != "" || r.header.Get("Accept") != streamType || r.header.Get(versionHeader) != Legacy) {
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
				ctx, cancel = context.WithTimeout(ctx, 60*time.Millisecond)
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
			if row.deadline && (f.Refusal.Detail("limit") != int64(60) || f.Refusal.Detail("method") != row.method) {
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
