package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mcpc/internal/strictjson"
)

// request is one that a peer received, read to its end.
type request struct {
	line   string // "POST /mcp"
	rpc    string // the JSON-RPC method of its body, "" where there is none
	id     string // the JSON-RPC id, as it came
	target string // path and query
	header http.Header
	body   string
}

// reply answers one request with bytes on the connection, which is closed after it.
type reply func(p *peer, c net.Conn, r *request)

// replies are what a peer says, by the JSON-RPC method of a POST to /mcp, else by method and path ("GET /mcp").
type replies map[string]reply

// with returns the replies with others in place of some.
func (m replies) with(more replies) replies {
	all := maps.Clone(m)
	maps.Copy(all, more)
	return all
}

// peer is an HTTP server that sends bytes as they are written in the case.
type peer struct {
	origin string
	url    string // of the endpoint
	f      *field

	mu      sync.Mutex
	replies replies
	heard   []*request
	vars    []string // old, new: replaced in what is sent
}

// serve starts a peer on loopback.
func (f *field) serve(answers replies) *peer {
	f.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	f.must(err)
	f.Cleanup(func() { _ = l.Close() })
	p := &peer{f: f, origin: "http://" + l.Addr().String(), replies: answers}
	p.url = p.origin + "/mcp"
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.handle(c)
		}
	}()
	return p
}

func (p *peer) handle(c net.Conn) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r := &request{
		line: req.Method + " " + req.URL.Path, target: req.RequestURI, header: req.Header, body: string(body),
	}
	if req.Method == http.MethodPost && strings.Contains(req.Header.Get("Content-Type"), "json") {
		r.rpc = strictjson.MemberText(body, "method")
		id, _ := strictjson.Member(body, "id")
		r.id = string(id)
	}
	p.mu.Lock()
	p.heard = append(p.heard, r)
	say := p.replies[r.rpc]
	if r.rpc == "" || say == nil {
		say = p.replies[r.line]
	}
	p.mu.Unlock()
	if say == nil {
		say = status(404, "text/plain", "Not Found "+prose)
	}
	say(p, c, r)
}

// now lets the peer go on with other replies.
func (p *peer) now(answers replies) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies = answers
}

// requests returns those of one JSON-RPC method or line.
func (p *peer) requests(what string) []*request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []*request
	for _, r := range p.heard {
		if r.rpc == what || r.line == what {
			found = append(found, r)
		}
	}
	return found
}

// said returns the methods, or lines, of all requests in order.
func (p *peer) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, r := range p.heard {
		if r.rpc != "" {
			all = append(all, r.rpc)
		} else {
			all = append(all, r.line)
		}
	}
	return strings.Join(all, " ")
}

// wantSaid fails the case where the peer heard something else.
func (p *peer) wantSaid(want string) {
	p.f.Helper()
	if got := p.said(); got != want {
		p.f.Errorf("the server heard %q, want %q", got, want)
	}
}

// fill replaces $ID, $ORIGIN and the peer's own variables.
func (p *peer) fill(text string, r *request) string {
	id := r.id
	if id == "" {
		id = "null"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.NewReplacer(append([]string{"$ID", id, "$ORIGIN", p.origin}, p.vars...)...).Replace(text)
}

// raw sends these bytes.
func raw(text string) reply {
	return func(p *peer, c net.Conn, r *request) { _, _ = io.WriteString(c, p.fill(text, r)) }
}

// captured is where the raw answers are that the transport's own tests use too.
const captured = "../../internal/transport/testdata/"

// rawFile sends the bytes of a captured file, with the id of the file's answer (1 or 2) made the request's.
func rawFile(name string) reply {
	return func(p *peer, c net.Conn, r *request) {
		data, err := os.ReadFile(filepath.Join(captured, name))
		if err != nil {
			p.f.Error(err)
		}
		raw(withID(string(data)))(p, c, r)
	}
}

// withID lets the answers of a captured file be the answers to any request.
func withID(text string) string {
	return strings.NewReplacer(
		`"id": 1,`, `"id": $ID,`, `"id":1,`, `"id":$ID,`, `"id": 2,`, `"id": $ID,`, `"id":2,`, `"id":$ID,`,
	).Replace(text)
}

// status sends an answer of that status and media type.
func status(code int, kind, body string, headers ...string) reply {
	return func(p *peer, c net.Conn, r *request) {
		text := p.fill(body, r)
		var b strings.Builder
		fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nConnection: close\r\n", code, http.StatusText(code))
		if kind != "" {
			fmt.Fprintf(&b, "Content-Type: %s\r\n", kind)
		}
		for _, h := range headers {
			b.WriteString(p.fill(h, r) + "\r\n")
		}
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(text), text)
		_, _ = io.WriteString(c, b.String())
	}
}

// document sends a JSON body with status 200.
func document(body string, headers ...string) reply {
	return status(200, "application/json", body, headers...)
}

// result answers a request with a result.
func result(json string, headers ...string) reply {
	return document(`{"jsonrpc":"2.0","id":$ID,"result":`+json+`}`, headers...)
}

// failure answers a request with a JSON-RPC error.
func failure(code, rpc int) reply {
	return status(code, "application/json",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":$ID,"error":{"code":%d,"message":"%s"}}`, rpc, prose))
}

// stream sends an event stream with that body and ends it.
func stream(body string) reply {
	return raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + body)
}

// oneByOne gives one reply after the other; the last one stays.
func oneByOne(all ...reply) reply {
	var mu sync.Mutex
	next := 0
	return func(p *peer, c net.Conn, r *request) {
		mu.Lock()
		say := all[min(next, len(all)-1)]
		next++
		mu.Unlock()
		say(p, c, r)
	}
}

// slowly sends a reply in pieces of one byte.
func slowly(text string) reply {
	return func(p *peer, c net.Conn, r *request) {
		for _, b := range []byte(p.fill(text, r)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
		}
	}
}

// heldOpen sends bytes and keeps the connection until the other side ends it.
func heldOpen(text string) reply {
	return func(p *peer, c net.Conn, r *request) {
		_, _ = io.WriteString(c, p.fill(text, r))
		_, _ = io.Copy(io.Discard, c)
	}
}

// silent never answers.
func silent() reply { return heldOpen("") }

// after waits before it replies.
func after(d time.Duration, say reply) reply {
	return func(p *peer, c net.Conn, r *request) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			say(p, c, r)
		case <-p.f.Context().Done():
		}
	}
}

// reset sends bytes and then breaks the connection.
func reset(text string) reply {
	return func(p *peer, c net.Conn, r *request) {
		_, _ = io.WriteString(c, p.fill(text, r))
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
}

const (
	okText       = `{"content":[{"type":"text","text":"ok"}]}`
	discoverBody = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` +
		`"serverInfo":{"name":"s","version":"1"}}`
	plainTool = `{"name":"t","inputSchema":{"type":"object"}}`
)

// list answers tools/list with these descriptors.
func list(tools ...string) reply { return result(`{"tools":[` + strings.Join(tools, ",") + `]}`) }

// modern is a server of 2026-07-28 with these tools.
func modern(tools ...string) replies {
	if tools == nil {
		tools = []string{plainTool}
	}
	return replies{"server/discover": result(discoverBody), "tools/list": list(tools...), "tools/call": result(okText)}
}

func initialized(version string, headers ...string) reply {
	return result(`{"protocolVersion":"`+version+
		`","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`, headers...)
}

// legacy is a server of 2025-11-25 with a session.
func legacy(tools ...string) replies {
	return modern(tools...).with(replies{
		"server/discover":           failure(400, -32601),
		"initialize":                initialized("2025-11-25", "Mcp-Session-Id: abc"),
		"notifications/initialized": status(202, "", ""),
		"DELETE /mcp":               status(200, "", ""),
		"GET /mcp":                  status(405, "", ""),
	})
}

// numbered answers each request with a result made for its number, from 0.
func numbered(make func(n int) string) reply {
	var mu sync.Mutex
	n := 0
	return func(p *peer, c net.Conn, r *request) {
		mu.Lock()
		text := make(n)
		n++
		mu.Unlock()
		result(text)(p, c, r)
	}
}
