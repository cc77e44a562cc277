package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// What a token must allow: reading for everything, and maintenance for new firmware besides.
const (
	readScope     = "station:read"
	maintainScope = "station:maintain"
)

const (
	metadataPath = "/.well-known/oauth-protected-resource/mcp" // RFC 9728 section 3.1
	maxBody      = 4 << 20
)

// protection asks the authorization server about every token (RFC 7662), so that a revoked one ends at once.
type protection struct {
	issuer   string
	resource string // URL of this server, which a token must be for
	endpoint string // of introspection
	id       string // this server's own client at the authorization server
	secret   string
}

// protect reads where to ask about tokens. The client is ID:SECRET.
func protect(ctx context.Context, issuer, client, resource string) (*protection, error) {
	meta, err := oauthex.GetAuthServerMeta(ctx, issuer+"/.well-known/openid-configuration", issuer, http.DefaultClient)
	if err != nil {
		return nil, err
	}
	if meta == nil || meta.IntrospectionEndpoint == "" {
		return nil, errors.New("the authorization server has no introspection endpoint")
	}
	p := &protection{issuer: issuer, resource: resource, endpoint: meta.IntrospectionEndpoint}
	p.id, p.secret, _ = strings.Cut(client, ":")
	return p, nil
}

// register adds the metadata document and puts the server behind bearer tokens.
func (p *protection) register(mux *http.ServeMux, station http.Handler) {
	mux.Handle(metadataPath, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: p.resource, AuthorizationServers: []string{p.issuer}, ScopesSupported: []string{readScope},
		BearerMethodsSupported: []string{"header"},
	}))
	reading, maintenance := p.require(readScope)(station), p.require(readScope, maintainScope)(station)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if changesFirmware(body) {
			maintenance.ServeHTTP(w, r)
			return
		}
		reading.ServeHTTP(w, r)
	})
}

func (p *protection) require(scopes ...string) func(http.Handler) http.Handler {
	metadata := strings.TrimSuffix(p.resource, "/mcp") + metadataPath
	o := &auth.RequireBearerTokenOptions{ResourceMetadataURL: metadata, Scopes: scopes}
	return auth.RequireBearerToken(p.verify, o)
}

func changesFirmware(body []byte) bool {
	var m struct {
		Method string
		Params struct{ Name string }
	}
	return json.Unmarshal(body, &m) == nil && m.Method == "tools/call" && m.Params.Name == "update_firmware"
}

// verify is an auth.TokenVerifier.
func (p *protection) verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(p.id), url.QueryEscape(p.secret))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var said struct {
		Active bool
		Aud    string
		Sub    string
		Scope  string
		Exp    int64
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(&said)
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("introspection failed (status %d)", resp.StatusCode)
	}
	if !said.Active || said.Aud != p.resource {
		return nil, auth.ErrInvalidToken
	}
	info := &auth.TokenInfo{Scopes: strings.Fields(said.Scope), UserID: said.Sub, Expiration: time.Unix(said.Exp, 0)}
	return info, nil
}
