package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"mcpc/internal/strictjson"
)

// person takes part in a sign-in: consents at the authorization endpoint, and follows the way back.
type person struct {
	f     *field
	back  func(q url.Values) []string // the URLs to go to, in order; nil for the honest one
	dials string                      // the address that every host resolves to; "" for its own

	mu    sync.Mutex
	asked []url.Values // the authorization requests
	pages []string     // what the callback answered
	ways  sync.WaitGroup
}

// goes sends the person on their way.
func (p *person) goes(authorization string) { p.ways.Go(func() { p.visit(authorization) }) }

// told returns what the callback answered, when every way has come to its end.
func (p *person) told() []string {
	p.ways.Wait()
	return slices.Clone(p.pages)
}

func (p *person) visit(authorization string) {
	u, err := url.Parse(authorization)
	if err != nil {
		p.f.Error(err)
		return
	}
	q := u.Query()
	p.mu.Lock()
	p.asked = append(p.asked, q)
	back := p.back
	p.mu.Unlock()
	if back == nil {
		back = func(q url.Values) []string { return []string{callback(q, url.Values{"code": {"CODE"}})} }
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if _, port, err := net.SplitHostPort(address); err == nil && p.dials != "" {
			address = p.dials + ":" + port
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	for _, target := range back(q) {
		resp, err := client.Get(target)
		if err != nil {
			continue // the listener may be gone by now
		}
		page, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		p.mu.Lock()
		p.pages = append(p.pages, string(page))
		p.mu.Unlock()
	}
}

// callback is the redirect URI of a request with its state and more parameters.
func callback(q, more url.Values) string {
	params := url.Values{"state": {q.Get("state")}}
	maps.Copy(params, more)
	return q.Get("redirect_uri") + "?" + params.Encode()
}

// comesBack lets the person come back with these parameters besides the state.
func comesBack(more url.Values) func(url.Values) []string {
	return func(q url.Values) []string { return []string{callback(q, more)} }
}

func (p *person) requests() []url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// world is a protected MCP server with its authorization server, and a person who signs in.
type world struct {
	*field
	mcp, as *peer

	tokens sync.Mutex
	valid  map[string]bool // access tokens that the MCP server takes
	issued int
}

const (
	pathForm   = "GET /.well-known/oauth-protected-resource/mcp"
	rootForm   = "GET /.well-known/oauth-protected-resource"
	serverForm = "GET /.well-known/oauth-authorization-server"
	openIDForm = "GET /.well-known/openid-configuration"
	resourceOK = `{"resource":"$ORIGIN/mcp","authorization_servers":["$AS"],"scopes_supported":["read"]}`
	bearerOK   = `WWW-Authenticate: Bearer resource_metadata="$ORIGIN/.well-known/oauth-protected-resource/mcp"`
)

// serverDocument is authorization-server metadata with some members changed; null takes one out.
func serverDocument(change string) reply {
	doc := map[string]any{
		"issuer": "$ORIGIN", "authorization_endpoint": "$ORIGIN/authorize", "token_endpoint": "$ORIGIN/token",
		"registration_endpoint": "$ORIGIN/register", "code_challenge_methods_supported": []string{"S256"},
		"response_types_supported": []string{"code"}, "service_documentation": prose,
	}
	var more map[string]any
	if err := json.Unmarshal([]byte(change), &more); err != nil {
		panic(err)
	}
	for k, v := range more {
		if doc[k] = v; v == nil {
			delete(doc, k)
		}
	}
	text, _ := json.Marshal(doc)
	return document(strings.ReplaceAll(string(text), `\u0026`, "&"))
}

// resourceDocument is protected-resource metadata for that resource.
func resourceDocument(resource string) reply {
	return document(`{"resource":"` + resource + `","authorization_servers":["$AS"],"resource_name":"` + prose + `"}`)
}

// world makes both servers and configures the MCP server as s; the replies stand in place of the usual ones.
func (f *field) world(mcp, as replies) *world {
	f.Helper()
	w := &world{field: f, valid: map[string]bool{}}
	protected := replies{pathForm: document(resourceOK)}
	for method, say := range modern() {
		protected[method] = w.guarded(say)
	}
	w.as = f.serve(replies{
		serverForm: serverDocument(`{}`), "POST /register": registers, "POST /token": w.issues(3600),
	}.with(as))
	w.mcp = f.serve(protected.with(mcp))
	w.mcp.vars = []string{"$AS", w.as.origin}
	w.as.vars = []string{"$MCP", w.mcp.origin}
	f.person = &person{f: f}
	w.http(w.mcp.url, "")
	return w
}

// guarded answers requests with a valid token and challenges the others.
func (w *world) guarded(say reply) reply { return w.guardedBy(say, bearerOK) }

func (w *world) guardedBy(say reply, challenge ...string) reply {
	return func(p *peer, c net.Conn, r *request) {
		token, _ := strings.CutPrefix(r.header.Get("Authorization"), "Bearer ")
		w.tokens.Lock()
		ok := w.valid[token]
		w.tokens.Unlock()
		if !ok {
			status(401, "text/plain", prose, challenge...)(p, c, r)
			return
		}
		say(p, c, r)
	}
}

// challenges makes the MCP server answer every request without a token like this.
func (w *world) challenges(lines ...string) *world {
	w.mcp.mu.Lock()
	defer w.mcp.mu.Unlock()
	for method, say := range modern() {
		w.mcp.replies[method] = w.guardedBy(say, lines...)
	}
	return w
}

// registers accepts a client as it asks.
func registers(p *peer, c net.Conn, r *request) {
	uris, _ := strictjson.Member([]byte(r.body), "redirect_uris")
	status(201, "application/json", `{"client_id":"client-1","redirect_uris":`+string(uris)+`,"client_name":"`+prose+
		`"}`)(p, c, r)
}

// issues gives a fresh pair of tokens with that life in seconds; the refresh token rotates.
func (w *world) issues(life int) reply {
	return func(p *peer, c net.Conn, r *request) {
		w.tokens.Lock()
		w.issued++
		n := w.issued
		w.valid[fmt.Sprintf("AT%d", n)] = true
		w.tokens.Unlock()
		document(fmt.Sprintf(`{"access_token":"AT%d","token_type":"Bearer","expires_in":%d,"refresh_token":"RT%d",`+
			`"scope":"read"}`, n, life, n))(p, c, r)
	}
}

// token answers with these bytes and lets AT1 in.
func (w *world) token(body string) reply {
	w.tokens.Lock()
	w.valid["AT1"] = true
	w.tokens.Unlock()
	return document(body)
}

// expire ends every access token.
func (w *world) expire() {
	w.tokens.Lock()
	clear(w.valid)
	w.tokens.Unlock()
}

// change gives the authorization server other replies.
func (p *peer) change(more replies) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies = p.replies.with(more)
}

func (w *world) login(words ...string) ended {
	w.Helper()
	return w.run(append([]string{"login", "s", "--no-browser"}, words...)...)
}

// signedIn signs in, as the preparation of a case.
func (w *world) signedIn() {
	w.Helper()
	if end := w.login(); end.exit != 0 {
		w.Fatalf("login: exit %d\n%s", end.exit, end.stderr)
	}
}

// forms returns the forms posted to the token endpoint.
func (w *world) forms() []url.Values {
	w.Helper()
	var forms []url.Values
	for _, r := range w.as.requests("POST /token") {
		form, err := url.ParseQuery(r.body)
		w.must(err)
		forms = append(forms, form)
	}
	return forms
}

// nothingStored fails the case where a credential was kept.
func (w *world) nothingStored() {
	w.Helper()
	if end := w.run("credentials"); strings.Contains(end.stdout, `"issuer"`) {
		w.Errorf("a credential was kept: %s", end.stdout)
	}
}

// nobodyAsked fails the case where a browser would have been opened.
func (w *world) nobodyAsked() {
	w.Helper()
	if n := len(w.person.requests()); n != 0 {
		w.Errorf("the person was asked %d times", n)
	}
}
