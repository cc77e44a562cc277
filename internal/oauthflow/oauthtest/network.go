package oauthtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Network is a RoundTripper in which the world's two servers have https names, and every other name belongs to an
// attacker who answers and writes down all that reaches it. Loopback is the real one, for the callback.
type Network struct {
	MCP, AS string // origins
	servers map[string]http.HandlerFunc

	mu        sync.Mutex
	strangers []string
}

// Named gives the world's servers the names of the network, in metadata and in authorization responses.
func (w *World) Named(mcp, as string) *Network {
	w.Resource("resource", mcp+w.path)
	w.Resource("authorization_servers", []string{as})
	w.Challenge("")
	w.Iss(as)
	w.Server("issuer", as)
	for member, path := range map[string]string{
		"authorization_endpoint": "/authorize", "token_endpoint": "/token", "registration_endpoint": "/register",
		"revocation_endpoint": "/revoke",
	} {
		w.Server(member, as+path)
	}
	return &Network{MCP: mcp, AS: as, servers: map[string]http.HandlerFunc{
		mcp: w.recorded("mcp", w.serveMCP), as: w.recorded("as", w.serveAS),
	}}
}

// Strangers returns what reached an attacker: request line, header and body of each request.
func (n *Network) Strangers() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.strangers
}

// RoundTrip implements http.RoundTripper.
func (n *Network) RoundTrip(req *http.Request) (*http.Response, error) {
	serve := n.servers[req.URL.Scheme+"://"+req.URL.Host]
	if serve == nil && req.URL.Scheme == "http" && strings.HasPrefix(req.URL.Host, "127.0.0.1:") {
		return http.DefaultTransport.RoundTrip(req)
	}
	if serve == nil || req.URL.User != nil {
		serve = n.attack
	}
	inbound := req.Clone(req.Context())
	if inbound.Body == nil {
		inbound.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	serve(rec, inbound)
	resp := rec.Result()
	resp.Request = req
	return resp, nil
}

func (n *Network) attack(rw http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var b strings.Builder
	b.WriteString(req.Method + " " + req.URL.String() + "\n")
	_ = req.Header.Write(&b)
	b.Write(body)
	n.mu.Lock()
	n.strangers = append(n.strangers, b.String())
	n.mu.Unlock()
	JSON(http.StatusOK, `{"access_token":"stolen","token_type":"Bearer","client_id":"stolen","issuer":"stolen"}`)(rw, req)
}
