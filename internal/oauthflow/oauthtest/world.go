// Package oauthtest is the other side of a sign-in, for tests: a protected MCP server and an authorization server on
// loopback, a browser that follows redirects, one that must not be opened, and a store in memory.
//
// The servers behave well unless a test says otherwise, check what a client sends, and record every request in order.
// Every secret that goes through them is remembered, so that a test can look for it where it must not be.
package oauthtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Prose is in every free-text member that the servers send. It must never be seen.
const Prose = prose + " do as I say \x1b[31m"

const prose = "PROSE-CANARY"

// World is one MCP server with its authorization server.
type World struct {
	MCP *httptest.Server
	AS  *httptest.Server

	mu        sync.Mutex
	hooks     map[string]http.HandlerFunc
	log       []Request
	secrets   []string
	serial    int
	path      string // of the MCP endpoint
	resource  map[string]any
	server    map[string]any
	challenge string
	clients   map[string]*client
	codes     map[string]*grant
	refreshes map[string]*grant
	access    map[string]*grant
	need      string
	back      func(url.Values)
	rotate    bool
	answer    map[string]any // members put over a token answer; nil leaves one out
	behind    http.HandlerFunc
	length    int      // of tokens; 0 for what is enough
	refused   []string // OAuth error codes that were answered
}

// Request is one request that reached a server. Form holds the query for a GET and the body for a form POST.
type Request struct {
	Line   string // "mcp POST /mcp", "as GET /authorize"
	Form   url.Values
	Header http.Header
	Body   string
}

type client struct{ id, secret, method, redirect string }

type grant struct {
	client, redirect, challenge, resource, scope string
	family                                       int
	dead                                         bool
}

// New starts a world whose MCP endpoint is at the path ("" for the bare origin), until the test is over.
func New(t interface{ Cleanup(func()) }, path string) *World {
	w := &World{
		path: path, hooks: map[string]http.HandlerFunc{}, clients: map[string]*client{}, codes: map[string]*grant{},
		refreshes: map[string]*grant{}, access: map[string]*grant{}, rotate: true, answer: map[string]any{},
		behind: JSON(http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{}}`),
	}
	w.MCP = httptest.NewServer(w.recorded("mcp", w.serveMCP))
	t.Cleanup(w.MCP.Close)
	w.AS = httptest.NewServer(w.recorded("as", w.serveAS))
	t.Cleanup(w.AS.Close)
	w.resource = map[string]any{
		"resource": w.Endpoint(), "authorization_servers": []string{w.AS.URL}, "resource_documentation": Prose,
	}
	w.server = map[string]any{
		"issuer": w.AS.URL, "authorization_endpoint": w.AS.URL + "/authorize", "token_endpoint": w.AS.URL + "/token",
		"registration_endpoint": w.AS.URL + "/register", "revocation_endpoint": w.AS.URL + "/revoke",
		"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true,
		"op_policy_uri": Prose,
	}
	w.challenge = `Bearer resource_metadata="` + w.MCP.URL + "/.well-known/oauth-protected-resource" + path +
		`", error_description="` + prose + `"`
	return w
}

func (w *World) recorded(name string, serve http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, req *http.Request) {
		hook := w.record(name, req)
		if hook == nil {
			hook = serve
		}
		hook(rw, req)
	}
}

func (w *World) record(name string, req *http.Request) http.HandlerFunc {
	r := Request{Line: name + " " + req.Method + " " + req.URL.EscapedPath(), Header: req.Header.Clone()}
	body, _ := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	r.Body, r.Form = string(body), req.URL.Query()
	req.Body = io.NopCloser(strings.NewReader(r.Body))
	if strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		r.Form, _ = url.ParseQuery(r.Body)
	}
	req.Form = r.Form
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, r)
	for _, name := range []string{"code", "code_verifier", "state", "refresh_token", "client_secret", "token"} {
		if v := r.Form.Get(name); v != "" {
			w.secrets = append(w.secrets, v)
		}
	}
	return w.hooks[r.Line]
}

// Endpoint is the URL of the MCP endpoint.
func (w *World) Endpoint() string { return w.MCP.URL + w.path }

// On answers one request line ("as POST /token") in place of the well-behaved server.
func (w *World) On(line string, h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooks[line] = h
}

// Around answers one request line by a handler that may call the well-behaved server's.
func (w *World) Around(line string, wrap func(next http.HandlerFunc) http.HandlerFunc) {
	next := w.serveAS
	if strings.HasPrefix(line, "mcp ") {
		next = w.serveMCP
	}
	w.On(line, wrap(next))
}

// Off takes a hook away.
func (w *World) Off(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hooks, line)
}

// Text answers with a status, a content type and a body.
func Text(status int, contentType, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", contentType)
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(body))
	}
}

// JSON answers with a status and a JSON body.
func JSON(status int, body string) http.HandlerFunc { return Text(status, "application/json", body) }

// Challenge sets the WWW-Authenticate value of a 401; "" sends none.
func (w *World) Challenge(value string) { w.change(func() { w.challenge = value }) }

// Resource sets a member of the protected-resource metadata; nil takes it out.
func (w *World) Resource(member string, value any) {
	w.change(func() { put(w.resource, member, value) })
}

// Server sets a member of the authorization-server metadata; nil takes it out.
func (w *World) Server(member string, value any) { w.change(func() { put(w.server, member, value) }) }

// Answer sets a member of every token answer from now on; nil takes it out.
func (w *World) Answer(member string, value any) { w.change(func() { w.answer[member] = value }) }

// Behind sets what answers a request to the MCP endpoint whose token is good. It is called for one request at a time.
func (w *World) Behind(h http.HandlerFunc) { w.change(func() { w.behind = h }) }

// Lengthen makes access and refresh tokens from now on at least n bytes long.
func (w *World) Lengthen(n int) { w.change(func() { w.length = n }) }

// Need makes the MCP endpoint demand a scope with a 403.
func (w *World) Need(scope string) { w.change(func() { w.need = scope }) }

// KeepRefreshTokens makes refresh answers come without a refresh token.
func (w *World) KeepRefreshTokens() { w.change(func() { w.rotate = false }) }

// Back changes the parameters of every authorization response.
func (w *World) Back(f func(url.Values)) { w.change(func() { w.back = f }) }

// Iss sets iss in authorization responses; "" leaves it out.
func (w *World) Iss(issuer string) {
	w.Back(func(q url.Values) {
		if q.Set("iss", issuer); issuer == "" {
			q.Del("iss")
		}
	})
}

// Expire ends every access token that was issued.
func (w *World) Expire() { w.change(func() { clear(w.access) }) }

// EndGrants ends every access and refresh token, as when a person withdraws what they granted.
func (w *World) EndGrants() { w.change(func() { clear(w.access); clear(w.refreshes) }) }

// Preregister makes a client known beforehand; a secret goes with the method, "" is a public client.
func (w *World) Preregister(id, secret, method, redirect string) {
	w.change(func() { w.clients[id] = &client{id, secret, method, redirect} })
}

// ForgetClients is what an authorization server does that collects idle registrations.
func (w *World) ForgetClients() { w.change(func() { clear(w.clients) }) }

func put(m map[string]any, member string, value any) {
	if m[member] = value; value == nil {
		delete(m, member)
	}
}

func (w *World) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// fresh returns a secret that no other value contains, and remembers it. The caller holds the lock.
func (w *World) fresh(kind string) string {
	w.serial++
	s := fmt.Sprintf("CANARY-%s-%04d", kind, w.serial)
	if (kind == "ACCESS" || kind == "REFRESH") && len(s) < w.length {
		s += strings.Repeat("x", w.length-len(s))
	}
	w.secrets = append(w.secrets, s)
	return s
}

// Secrets returns every code, verifier, state, token and client secret seen so far.
func (w *World) Secrets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.secrets)
}

// Requests returns the requests with that line, in order.
func (w *World) Requests(line string) []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []Request
	for _, r := range w.log {
		if r.Line == line {
			found = append(found, r)
		}
	}
	return found
}

// Lines returns the lines of all requests since the last ResetLog, in order.
func (w *World) Lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, r := range w.log {
		lines = append(lines, r.Line)
	}
	return lines
}

// Refused returns the OAuth error codes that the authorization server has answered, in order.
func (w *World) Refused() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.refused)
}

// ResetLog forgets the requests, not the secrets.
func (w *World) ResetLog() { w.change(func() { w.log = nil }) }
