package transport

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

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
		{
			"429 date", rawJSON("429 Slow", "", "Retry-After: Tue, 01 Dec 2026 00:00:00 GMT"), false,
			refusal.TransportStatus, false, "", nil,
		},
		{"429 sign", rawJSON("429 Slow", "", "Retry-After: -1"), false, refusal.TransportStatus, false, "", nil},
		{"500", rawJSON("500 Oops", "{}"), false, refusal.TransportStatus, false, "", nil},
		{"500 with error", rawJSON("500 Oops", rpc("1")), false, refusal.TransportStatus, true, "", nil},
		{"503", rawJSON("503 Busy", "", "Retry-After: 3"), false, refusal.TransportStatus, false, CauseStatus, int64(3)},
		{"503 with error", rawJSON("503 Busy", rpc("1")), false, refusal.TransportStatus, true, "", nil},
		{"504", rawBody("504 Late", "text/html", "<html>"), false, refusal.TransportStatus, false, CauseStatus, nil},
		{"524", rawBody("524 Late", "text/html", "<html>"), false, refusal.TransportStatus, false, CauseStatus, nil},
		{"error of another request", rawJSON("400 Bad", rpc("7")), false, refusal.TransportStatus, false, "", nil},
		{
			"error without id", rawJSON("400 Bad", `{"jsonrpc":"2.0","error":{"code":-5,"message":"m"}}`), false,
			refusal.ProtocolError, true, "", nil,
		},
		{"400 in a session", rawFile(t, "http/session-400.http"), true, refusal.TransportSessionLost, true, "", nil},
		{"404 in a session", rawFile(t, "http/session-404.http"), true, refusal.TransportSessionLost, true, "", nil},
		{
			"404 text in a session", rawFile(t, "http/discover-404-text.http"), true, refusal.TransportSessionLost,
			false, "", nil,
		},
		{"400 for this request in a session", rawJSON("400 Bad", rpc("1")), true, refusal.ProtocolError, true, "", nil},
		{"405 in a session", rawJSON("405 No", ""), true, refusal.TransportStatus, false, "", nil},
		{
			"301", "HTTP/1.1 301 Moved\r\nLocation: /mcp/\r\nContent-Length: 0\r\n\r\n", false,
			refusal.TransportRedirect, false, "", nil,
		},
		{"304", "HTTP/1.1 304 Same\r\n\r\n", false, refusal.TransportRedirect, false, "", nil},
		{
			"bad location", "HTTP/1.1 302 Moved\r\nLocation: http://[::bad\r\nContent-Length: 0\r\n\r\n", false,
			refusal.TransportRedirect, false, "", nil,
		},
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
			if (f.RPC != nil) != row.rpc || f.Cause != row.cause || f.Status == 0 ||
				f.Refusal.Detail("retry_after") != row.retry {
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
		{
			"folded unlike, json last", rawBody("200 OK", "text/html, application/json", ok),
			refusal.TransportContentType, true,
		},
		{"html", rawBody("200 OK", "text/html; charset=utf-8", "<html>"), refusal.TransportContentType, true},
		{"no type", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", refusal.TransportContentType, true},
		{"202", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", refusal.TransportContentType, true},
		{"204", "HTTP/1.1 204 None\r\n\r\n", refusal.TransportContentType, true},
		{"empty", rawJSON("200 OK", ""), refusal.TransportContentType, true},
		{"blank", rawJSON("200 OK", " \r\n"), refusal.TransportContentType, true},
		{"{}", rawJSON("200 OK", "{}"), refusal.ProtocolMessage, true},
		{"html as json", rawJSON("200 OK", "<html>"), refusal.ProtocolFrame, true},
		{"two values", rawJSON("200 OK", ok+ok), refusal.ProtocolFrame, true},
		{
			"duplicate member", rawJSON("200 OK", `{"jsonrpc":"2.0","id":1,"result":{},"result":{"a":1}}`),
			refusal.ProtocolFrame, true,
		},
		{"case variant", rawJSON("200 OK", `{"jsonrpc":"2.0","id":1,"Result":{}}`), refusal.ProtocolMessage, true},
		{"notification", rawJSON("200 OK", `{"jsonrpc":"2.0","method":"notifications/x"}`), refusal.ProtocolMessage, true},
		{"batch", rawJSON("200 OK", "["+ok+"]"), refusal.ProtocolBatch, false},
		{"another id", rawJSON("200 OK", resultOf(2)), refusal.ProtocolID, false},
		{"id as string", rawJSON("200 OK", `{"jsonrpc":"2.0","id":"1","result":{}}`), refusal.ProtocolID, false},
		{
			"cut off", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n" + ok,
			refusal.TransportClosed, false,
		},
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
		{
			"request in a modern stream", rawStream(eventOf(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) + eventOf(ok)),
			refusal.ProtocolServerRequest, false,
		},
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
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":1}}`
	want := arrived{verb: "POST", target: "/mcp", body: body, header: http.Header{
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
		{
			"400", rawJSON("400 Bad", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}`),
			refusal.ProtocolNotAccepted,
		},
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
