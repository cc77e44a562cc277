package oauthflow_test

import (
	"net/http"
	"strings"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
)

// discoveries are the ways a server can describe where to sign in, good and bad.
var discoveries = []discovery{
	{
		name: "DISC-01 origin without slash", path: "-",
		set: func(*oauthtest.World, *oauthflow.Flow) {},
		check: func(t *testing.T, w *oauthtest.World, p *oauthflow.Plan, _ *refusal.Refusal) {
			sent := w.Requests("as GET /authorize")[0].Form.Get("resource")
			if p.Resource != w.MCP.URL || sent != w.MCP.URL {
				t.Errorf("resource %q, sent %q", p.Resource, sent)
			}
		},
	},
	{
		name: "DISC-01 origin with slash in the metadata", path: "-",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) { w.Resource("resource", w.MCP.URL+"/") },
		check: func(t *testing.T, w *oauthtest.World, p *oauthflow.Plan, _ *refusal.Refusal) {
			sent := w.Requests("as POST /token")[0].Form.Get("resource")
			if p.Resource != w.MCP.URL+"/" || sent != w.MCP.URL+"/" {
				t.Errorf("resource %q, sent %q", p.Resource, sent)
			}
		},
	},
	{
		name: "DISC-02 trailing slash of a path",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Resource("resource", w.Endpoint()+"/") },
		want: refusal.OAuthResourceMismatch, check: detail("difference", "only by a trailing slash"),
	},
	{
		name: "DISC-03 one document for two endpoints", path: "/mcp/oauth",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Resource("resource", w.MCP.URL+"/mcp") },
		want: refusal.OAuthResourceMismatch, check: detail("difference", "in the path"),
	},
	{
		name: "DISC-03 path form names the origin",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Resource("resource", w.MCP.URL) },
		want: refusal.OAuthResourceMismatch,
	},
	{
		name: "resource of another host",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Resource("resource", "https://evil.example.com/mcp") },
		want: refusal.OAuthResourceMismatch, check: detail("difference", "in the scheme and the host and the port"),
	},
	{
		name: "resource missing",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Resource("resource", nil) },
		want: refusal.OAuthResourceMismatch,
	},
	{
		name: "DISC-04 root form alone",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge("")
			w.On(pathForm, missing())
			w.On(rootForm, resourceDoc(w, w.Endpoint()))
		},
		check: func(t *testing.T, _ *oauthtest.World, p *oauthflow.Plan, _ *refusal.Refusal) {
			if p.ResourceFrom != oauthflow.FromRootForm {
				t.Errorf("from %q", p.ResourceFrom)
			}
		},
	},
	{
		name: "DISC-04 challenge names the root form, which names the origin",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge(`Bearer resource_metadata="` + w.MCP.URL + `/.well-known/oauth-protected-resource"`)
			w.On(rootForm, resourceDoc(w, w.MCP.URL))
		},
		check: func(t *testing.T, w *oauthtest.World, p *oauthflow.Plan, _ *refusal.Refusal) {
			never(pathForm)(t, w, p, nil)
			if p.Resource != w.MCP.URL || p.Endpoint != w.Endpoint() {
				t.Errorf("resource %q for %q", p.Resource, p.Endpoint)
			}
		},
	},
	{
		name: "root form names a sibling",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge("")
			w.On(pathForm, missing())
			w.On(rootForm, resourceDoc(w, w.MCP.URL+"/other"))
		},
		want: refusal.OAuthResourceMismatch,
	},
	{
		name: "DISC-06 metadata at the MCP host is never asked for",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(authForm, missing())
			w.On("mcp GET /.well-known/oauth-authorization-server", serverDoc(w, w.MCP.URL, `["S256"]`))
		},
		want: refusal.OAuthNoServerMetadata, check: never("mcp GET /.well-known/oauth-authorization-server"),
	},
	{name: "DISC-07 no challenge", set: func(w *oauthtest.World, _ *oauthflow.Flow) { w.Challenge("") }},
	{name: "DISC-07 bare Bearer", set: func(w *oauthtest.World, _ *oauthflow.Flow) { w.Challenge("Bearer") }},
	{
		name: "DISC-07 Basic before Bearer in one line",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge(`Basic realm="a, b", Bearer error="invalid_token", resource_metadata="` + w.MCP.URL + `/meta", scope="read"`)
			w.On("mcp GET /meta", resourceDoc(w, w.Endpoint()))
		},
		check: never(pathForm),
	},
	{
		name: "DISC-08 parameters without commas",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge(`Bearer resource_metadata="` + w.MCP.URL + `/meta" scope="a b"`)
		},
	},
	{
		name: "DISC-08 garbage for a URL",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Challenge(`Bearer resource_metadata="::%zz"`) },
	},
	{
		name: "DISC-09 issuer differs by a slash",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Resource("authorization_servers", []string{w.AS.URL + "/"})
		},
		want: refusal.OAuthIssuerMismatch,
		check: func(t *testing.T, w *oauthtest.World, _ *oauthflow.Plan, r *refusal.Refusal) {
			if r.Detail("expected") != w.AS.URL+"/" || r.Detail("found") != w.AS.URL || r.Detail("difference") != "only by a trailing slash" {
				t.Error(r)
			}
		},
	},
	{
		name: "DISC-09 slash settled by the operator",
		set: func(w *oauthtest.World, f *oauthflow.Flow) {
			w.Resource("authorization_servers", []string{w.AS.URL + "/"})
			f.Config.Issuer = w.AS.URL
		},
		check: func(t *testing.T, w *oauthtest.World, p *oauthflow.Plan, _ *refusal.Refusal) {
			if p.Issuer != w.AS.URL {
				t.Errorf("issuer %q", p.Issuer)
			}
		},
	},
	{
		name: "DISC-09 the pin is not what the metadata says",
		set:  func(w *oauthtest.World, f *oauthflow.Flow) { f.Config.Issuer = w.AS.URL + "/" },
		want: refusal.OAuthIssuerMismatch, check: detail("source", "the configuration"),
	},
	{
		name: "DISC-10 issuer of an honest host",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Server("issuer", "https://honest.example") },
		want: refusal.OAuthIssuerMismatch,
	},
	{
		name: "DISC-16 a pin accepts no other host",
		set: func(w *oauthtest.World, f *oauthflow.Flow) {
			w.Server("issuer", "https://clerk.brand.example")
			f.Config.Issuer = "https://clerk.brand.example"
		},
		want: refusal.OAuthIssuerPin, check: never(authForm),
	},
	{
		name: "issuer in other case",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Server("issuer", strings.Replace(w.AS.URL, "http", "HTTP", 1))
		},
		want: refusal.OAuthIssuerMismatch, check: detail("difference", "only in upper and lower case"),
	},
	{
		name: "Issuer with a capital is another member",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Server("Issuer", w.AS.URL)
			w.Server("issuer", "https://honest.example")
		},
		want: refusal.OAuthIssuerMismatch,
	},
	{
		name: "DISC-11 metadata of 2025-03-26 at the MCP origin",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(pathForm, missing())
			w.On(rootForm, oauthtest.JSON(http.StatusUnauthorized, `{"error":"x"}`))
			w.On("mcp GET /.well-known/oauth-authorization-server", serverDoc(w, w.MCP.URL, `["S256"]`))
		},
		want: refusal.OAuthNoResourceMetadata, check: never("mcp GET /.well-known/oauth-authorization-server"),
	},
	{
		name: "DISC-12 a page for every path",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge("")
			w.On(pathForm, htmlPage())
			w.On(rootForm, resourceDoc(w, w.Endpoint()))
		},
	},
	{
		name: "DISC-12 a long page for every path",
		set: func(w *oauthtest.World, f *oauthflow.Flow) {
			f.Limits.DocumentBytes = 4096
			w.Challenge("")
			w.On(pathForm, oauthtest.Text(http.StatusOK, "text/html", indexPage+strings.Repeat("x", 8192)))
			w.On(rootForm, resourceDoc(w, w.Endpoint()))
		},
	},
	{
		name: "DISC-13 no PKCE named",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Server("code_challenge_methods_supported", nil) },
		want: refusal.OAuthPKCE,
	},
	{
		name: "DISC-13 plain alone",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Server("code_challenge_methods_supported", []string{"plain"})
		},
		want: refusal.OAuthPKCE,
	},
	{
		name: "DISC-13 the second document names S256",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Server("code_challenge_methods_supported", nil)
			w.On(openForm, serverDoc(w, w.AS.URL, `["plain","S256"]`))
		},
	},
	{
		name: "OpenID document alone",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(authForm, htmlPage())
			w.On(openForm, serverDoc(w, w.AS.URL, `["S256"]`))
		},
	},
	{
		name: "issuer with a path, third place",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Resource("authorization_servers", []string{w.AS.URL + "/tenant1"})
			w.Iss(w.AS.URL + "/tenant1")
			w.On("as GET /tenant1/.well-known/openid-configuration", serverDoc(w, w.AS.URL+"/tenant1", `["S256"]`))
		},
		check: func(t *testing.T, w *oauthtest.World, p *oauthflow.Plan, _ *refusal.Refusal) {
			never(authForm, openForm)(t, w, p, nil)
			lines := strings.Join(w.Lines(), "\n")
			if !strings.Contains(lines, "as GET /.well-known/oauth-authorization-server/tenant1\nas GET /.well-known/openid-configuration/tenant1\nas GET /tenant1/.well-known/openid-configuration") {
				t.Error(lines)
			}
		},
	},
	{
		name: "server of several, the pinned one",
		set: func(w *oauthtest.World, f *oauthflow.Flow) {
			w.Resource("authorization_servers", []string{"https://second.example.net", w.AS.URL})
			f.Config.Issuer = w.AS.URL
		},
	},
	{
		name: "scopes_supported with what is no scope token",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge("")
			w.Resource("scopes_supported", []string{"read", "a b", `x"y`, "", "read", "é"})
		},
		check: func(t *testing.T, w *oauthtest.World, _ *oauthflow.Plan, _ *refusal.Refusal) {
			if got := w.Requests("as GET /authorize")[0].Form.Get("scope"); got != "read" {
				t.Errorf("scope %q", got)
			}
		},
	},
	{
		name: "each place is asked once", path: "-",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.On(rootForm, missing()) },
		want: refusal.OAuthNoResourceMetadata,
		check: func(t *testing.T, w *oauthtest.World, _ *oauthflow.Plan, _ *refusal.Refusal) {
			wantLines(t, w, "mcp POST /", rootForm)
			if h := w.Requests("mcp POST /")[0].Header; h.Get("Mcp-Method") != "server/discover" || h.Get("MCP-Protocol-Version") != "2026-07-28" {
				t.Errorf("header %v", h)
			}
		},
	},
	{
		name: "no authorization server",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Resource("authorization_servers", []string{}) },
		want: refusal.OAuthNoServer,
	},
	{
		name: "DISC-15 ten thousand authorization servers",
		set: func(w *oauthtest.World, f *oauthflow.Flow) {
			f.Limits.DocumentBytes = 1 << 20
			w.Resource("authorization_servers", make([]string, 10000))
		},
		want: refusal.OAuthMetadataInvalid, check: detail("member", "authorization_servers"),
	},
	{
		name: "DISC-15 endless document",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(pathForm, func(rw http.ResponseWriter, _ *http.Request) {
				for _, err := rw.Write([]byte(`{"resource":"`)); err == nil; {
					_, err = rw.Write([]byte(strings.Repeat("x", 32<<10)))
				}
			})
		},
		want: refusal.LimitDocument,
	},
	{
		name: "DISC-15 redirect to another origin is not followed",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(pathForm, func(rw http.ResponseWriter, req *http.Request) {
				http.Redirect(rw, req, w.AS.URL+"/stolen", http.StatusFound)
			})
		},
		want: refusal.OAuthNoResourceMetadata, check: never("as GET /stolen"),
	},
	{
		name: "redirect within the origin",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(pathForm, func(rw http.ResponseWriter, req *http.Request) { http.Redirect(rw, req, "/moved", http.StatusFound) })
			w.On("mcp GET /moved", resourceDoc(w, w.Endpoint()))
		},
	},
	{
		name: "DISC-15 challenge to the cloud's metadata address",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge(`Bearer resource_metadata="http://169.254.169.254/latest/meta-data"`)
		},
		want: refusal.OAuthChallenge,
	},
	{
		name: "challenge to another port",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge(`Bearer resource_metadata="` + w.AS.URL + `/prm"`)
		},
		want: refusal.OAuthChallenge, check: never("as GET /prm"),
	},
	{
		name: "DISC-17 document off the well-known places", path: "/v1/design/mcp",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge(`Bearer resource_metadata="` + w.MCP.URL + `/v1/design/.well-known/oauth-protected-resource", scope="user:a user:b"`)
			w.On("mcp GET /v1/design/.well-known/oauth-protected-resource", resourceDoc(w, w.Endpoint()))
		},
		check: func(t *testing.T, w *oauthtest.World, _ *oauthflow.Plan, _ *refusal.Refusal) {
			if got := w.Requests("as GET /authorize")[0].Form.Get("scope"); got != "user:a user:b" {
				t.Errorf("scope %q", got)
			}
		},
	},
	{
		name: "DISC-18 endpoints of another origin than the issuer",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			other := strings.Replace(w.AS.URL, "127.0.0.1", "localhost", 1)
			w.Server("authorization_endpoint", other+"/authorize")
			w.Server("token_endpoint", other+"/token")
		},
	},
	{
		name: "DISC-20 no OAuth at all",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Challenge("")
			w.On(pathForm, missing())
			w.On(rootForm, oauthtest.JSON(http.StatusOK, `"not an object"`))
		},
		want: refusal.OAuthNoResourceMetadata,
	},
	{
		name: "duplicate member",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(pathForm, oauthtest.JSON(http.StatusOK, `{"resource":"`+w.Endpoint()+`","resource":"x","authorization_servers":["`+w.AS.URL+`"]}`))
		},
		want: refusal.OAuthMetadataInvalid,
	},
	{
		name: "members that are null",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On(pathForm, oauthtest.JSON(http.StatusOK, `{"resource":"`+w.Endpoint()+`","scopes_supported":null,"authorization_servers":["`+w.AS.URL+`"]}`))
		},
	},
	{
		name: "iss support that is no boolean",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Server("authorization_response_iss_parameter_supported", "true")
		},
		want: refusal.OAuthMetadataInvalid,
	},
	{
		name: "no token endpoint",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Server("token_endpoint", nil) },
		want: refusal.OAuthEndpointMissing, check: detail("member", "token_endpoint"),
	},
	{
		name: "issuer with a query",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Resource("authorization_servers", []string{w.AS.URL + "?x=1"})
		},
		want: refusal.OAuthEndpointScheme,
	},
	{
		name: "issuer over plain http elsewhere",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.Resource("authorization_servers", []string{"http://as.example.com"})
		},
		want: refusal.OAuthEndpointScheme, check: detail("member", "the issuer"),
	},
	{
		name: "no way to register",
		set:  func(w *oauthtest.World, _ *oauthflow.Flow) { w.Server("registration_endpoint", nil) },
		want: refusal.OAuthNoRegistration,
	},
	{
		name: "configured client of another issuer",
		set: func(_ *oauthtest.World, f *oauthflow.Flow) {
			f.Config.Client = &config.Client{ID: "abc", Issuer: "https://other.example"}
		},
		want: refusal.OAuthClientIssuer,
	},
	{
		name: "endpoint that redirects",
		set: func(w *oauthtest.World, _ *oauthflow.Flow) {
			w.On("mcp POST /mcp", func(rw http.ResponseWriter, req *http.Request) {
				http.Redirect(rw, req, w.AS.URL+"/mcp", http.StatusTemporaryRedirect)
			})
		},
		want: refusal.TransportRedirect, check: never("as POST /mcp"),
	},
}
