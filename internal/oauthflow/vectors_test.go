package oauthflow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/vectors"
)

// metadataFiles is pinned, so that a document that is not found is a failure.
const metadataFiles = 30

func callbackVectors(t testing.TB) []vectors.Vector {
	t.Helper()
	return vectors.Read(t, "callback", 36, "refusal", "advertised")
}

func challengeVectors(t testing.TB) []vectors.Vector {
	t.Helper()
	return vectors.Read(t, "challenge", 28, "metadata", "error", "scopes")
}

func TestCallbackVectors(t *testing.T) {
	t.Parallel()
	for _, v := range callbackVectors(t) {
		e := expectation{"S", "https://auth.example.com", v.Header["advertised"] == "true"}
		code, ours, r := e.read(string(v.Data))
		got := map[bool]string{true: "code", false: "wait"}[ours]
		name := ""
		if r != nil {
			got, name = "refuse", r.Name()
		}
		if got != v.Header["expect"] || name != v.Header["refusal"] {
			t.Errorf("%s: %s %s", v.Name, got, name)
		}
		if want := got == "code"; want != (code.Reveal() == "C") {
			t.Errorf("%s: the code is %q", v.Name, code.Reveal())
		}
	}
}

func TestChallengeVectors(t *testing.T) {
	t.Parallel()
	for _, v := range challengeVectors(t) {
		var lines []string
		if len(v.Data) > 0 {
			lines = strings.Split(string(v.Data), "\n")
		}
		c := parseChallenges(lines)
		if c.bearer != (v.Header["expect"] == "bearer") || c.metadataURL != v.Header["metadata"] || c.code != v.Header["error"] ||
			strings.Join(c.scopes, " ") != v.Header["scopes"] {
			t.Errorf("%s: %+v", v.Name, c)
		}
	}
}

// fieldFiles are metadata, registration and token documents in the shapes that real servers send.
func fieldFiles(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "metadata", "*.json"))
	if err != nil || len(paths) != metadataFiles {
		t.Fatalf("%d documents, want %d (%v)", len(paths), metadataFiles, err)
	}
	files := map[string][]byte{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(p), ".json")] = data
	}
	return files
}

func TestResourceMetadataFiles(t *testing.T) {
	t.Parallel()
	files := fieldFiles(t)
	for name, c := range map[string]struct {
		endpoint string
		want     *refusal.Entry
	}{
		"prm-ok":                       {"https://mcp.example.com/mcp", nil},
		"prm-as-trailing-slash":        {"https://mcp.example.com/mcp", nil},
		"prm-two-as":                   {"https://mcp.example.com/mcp", nil},
		"prm-extra-issuer-entra-shape": {"https://api.example.com/", nil},
		"prm-resource-origin":          {"https://mcp.example.com/mcp", refusal.OAuthResourceMismatch},
		"prm-resource-origin-slash":    {"https://mcp.example.com", nil},
		"prm-resource-other-endpoint":  {"https://mcp.example.com/mcp", refusal.OAuthResourceMismatch},
		"prm-resource-trailing-slash":  {"https://mcp.example.com/mcp", refusal.OAuthResourceMismatch},
		"prm-no-as":                    {"https://mcp.example.com/mcp", refusal.OAuthNoServer},
	} {
		meta, r := resourceMetadata(files[name])
		f := &Flow{Endpoint: c.endpoint}
		if r == nil {
			endpoint, _ := f.endpoint()
			r = f.checkResource(resource{meta: meta, from: FromPathForm}, endpoint, false)
		}
		if r == nil {
			_, r = f.chooseIssuer(meta.AuthorizationServers)
		}
		if c.want == nil && r != nil || c.want != nil && (r == nil || r.Entry() != c.want) {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestServerMetadataFiles(t *testing.T) {
	t.Parallel()
	files := fieldFiles(t)
	for name, want := range map[string]*refusal.Entry{
		"asm-ok": nil, "asm-endpoints-other-origin": nil, "asm-null-members": nil, "asm-no-registration": nil,
		"asm-issuer-other-host": refusal.OAuthIssuerMismatch, "asm-issuer-slash": refusal.OAuthIssuerMismatch,
		"asm-no-pkce": refusal.OAuthPKCE, "asm-pkce-plain-only": refusal.OAuthPKCE,
	} {
		meta, r := serverMetadata(files[name])
		if r == nil {
			r = (&Flow{Endpoint: "https://mcp.example.com/mcp"}).checkServer(meta, "https://auth.example.com")
		}
		if want == nil && r != nil || want != nil && (r == nil || r.Entry() != want) {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestWellKnownPlaces(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string][2]string{
		"https://h/mcp":       {"https://h/.well-known/oauth-protected-resource/mcp", "https://h/.well-known/oauth-protected-resource"},
		"https://h/mcp/":      {"https://h/.well-known/oauth-protected-resource/mcp/", "https://h/.well-known/oauth-protected-resource"},
		"https://h":           {"https://h/.well-known/oauth-protected-resource", "https://h/.well-known/oauth-protected-resource"},
		"https://h/":          {"https://h/.well-known/oauth-protected-resource", "https://h/.well-known/oauth-protected-resource"},
		"https://h:8443/a%2F": {"https://h:8443/.well-known/oauth-protected-resource/a%2F", "https://h:8443/.well-known/oauth-protected-resource"},
		"https://h/mcp?t=1":   {"https://h/.well-known/oauth-protected-resource/mcp?t=1", "https://h/.well-known/oauth-protected-resource"},
	} {
		path, root := resourceForms(parsed(endpoint))
		if path != want[0] || root != want[1] {
			t.Errorf("%s: %s %s", endpoint, path, root)
		}
	}
	for issuer, want := range map[string]string{
		"https://a":    "https://a/.well-known/oauth-authorization-server https://a/.well-known/openid-configuration",
		"https://a/":   "https://a/.well-known/oauth-authorization-server https://a/.well-known/openid-configuration",
		"https://a/t":  "https://a/.well-known/oauth-authorization-server/t https://a/.well-known/openid-configuration/t https://a/t/.well-known/openid-configuration",
		"https://a/t/": "https://a/.well-known/oauth-authorization-server/t https://a/.well-known/openid-configuration/t https://a/t/.well-known/openid-configuration",
	} {
		if got := strings.Join(serverForms(parsed(issuer)), " "); got != want {
			t.Errorf("%s: %s", issuer, got)
		}
	}
}

func TestCallbackSpellings(t *testing.T) {
	t.Parallel()
	for callback, want := range map[string][2]string{
		"":                        {"http://127.0.0.1:0/callback", "127.0.0.1:0"},
		"LOCALHOST:3118":          {"http://localhost:3118/callback", "localhost:3118"},
		"localhost:80":            {"http://localhost:80/callback", "localhost"},
		"[::1]:80":                {"http://[::1]:80/callback", "[::1]"},
		"[0:0:0:0:0:0:0:1]:18080": {"http://[::1]:18080/callback", "[::1]:18080"},
	} {
		a, r := parseCallback(callback)
		if r != nil || a.redirect() != want[0] || a.hostHeader() != want[1] {
			t.Errorf("%q: %s %s %v", callback, a.redirect(), a.hostHeader(), r)
		}
	}
	for _, c := range []struct {
		callback, redirect string
		want               bool
	}{
		{"127.0.0.1:0", "http://127.0.0.1:5000/callback", true},
		{"127.0.0.1:5000", "http://127.0.0.1:5000/callback", true},
		{"127.0.0.1:5001", "http://127.0.0.1:5000/callback", false},
		{"localhost:0", "http://127.0.0.1:5000/callback", false},
		{"127.0.0.1:0", "https://127.0.0.1:5000/callback", false},
		{"127.0.0.1:0", "http://evil.example:5000/callback", false},
	} {
		if got := redirectFits(c.callback, c.redirect); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"https://a/b", "https://a/b/", "only by a trailing slash"},
		{"https://a/b", "https://A/b", "only in upper and lower case"},
		{"https://a/b", "https://c/b", "in the host"},
		{"https://a/b", "http://a:8/c?d", "in the scheme and the port and the path and the query"},
		{"https://a/b", "::", "in that one is not a URL"},
		{"https://a/b", "", "in the scheme and the host and the path"},
		{"https://a/b", "https://u@a/b", "in their spelling"},
	} {
		if got := difference(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s", c[0], c[1], got)
		}
	}
}

func TestTokenFiles(t *testing.T) {
	t.Parallel()
	files := fieldFiles(t)
	f := &Flow{Limits: config.DefaultLimits(), Now: func() time.Time { return time.Unix(1000, 0) }}
	for name, want := range map[string]struct {
		access, refresh, scopes string
		expiry                  int64 // seconds from now; -1 unknown
		code                    string
	}{
		"token-ok":                  {"at-example", "rt-example", "read", 3600, ""},
		"token-expires-string":      {"at-example", "", "read", 5250, ""},
		"token-expires-zero":        {"at", "", "", 0, ""},
		"token-no-type-scope-array": {"at", "", "read write", 3600, ""},
		"token-refresh-no-rt":       {"at2", "", "", 3600, ""},
		"token-refresh-rt-empty":    {"at2", "", "", 3600, ""},
		"token-200-error":           {"", "", "", -1, "bad_refresh_token"},
	} {
		tok, bad := f.readTokens(&answer{status: 200, body: files[name]})
		if want.code != "" {
			if bad == nil || bad.code != want.code || tok != nil {
				t.Errorf("%s: %+v %+v", name, tok, bad)
			}
			continue
		}
		if bad != nil || tok.access.Reveal() != want.access || tok.refresh.Reveal() != want.refresh ||
			strings.Join(tok.scopes, " ") != want.scopes || tok.expiry.Unix() != 1000+want.expiry {
			t.Errorf("%s: %+v %+v", name, tok, bad)
		}
	}
}

func TestRegistrationFiles(t *testing.T) {
	t.Parallel()
	files := fieldFiles(t)
	for name, want := range map[string]struct {
		refusal *refusal.Entry
		method  string
	}{
		"dcr-200-minimal-nulls":    {nil, methodNone},
		"dcr-201-ok":               {nil, methodNone},
		"dcr-201-secret-expires-0": {nil, methodPost},
		"dcr-201-redirect-changed": {refusal.OAuthRedirect, ""},
	} {
		c := store.Registration{RedirectURI: "http://127.0.0.1:51001/callback"}
		r := readRegistration(files[name], methodNone, nil, &c)
		if want.refusal == nil && (r != nil || c.AuthMethod != want.method || !c.SecretExpiry.IsZero()) || want.refusal != nil && (r == nil || r.Entry() != want.refusal) {
			t.Errorf("%s: %v %+v", name, r, c)
		}
	}
}
