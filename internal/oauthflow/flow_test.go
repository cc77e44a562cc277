package oauthflow_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

var start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// newFlow returns a flow to the world's endpoint, with mcpc's own HTTP clients and a store in memory.
func newFlow(t *testing.T, w *oauthtest.World) (*oauthflow.Flow, *oauthtest.Store) {
	t.Helper()
	limits := config.DefaultLimits()
	limits.Request, limits.SignIn, limits.Shutdown = 5*time.Second, 5*time.Second, time.Second
	clients, err := oauthflow.Clients(&config.Server{HTTP: &config.HTTP{URL: w.Endpoint()}, Limits: limits}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := oauthtest.NewStore()
	return &oauthflow.Flow{
		Name: "docs", Endpoint: w.Endpoint(), Config: &config.OAuth{}, Limits: limits, Store: s, Clients: clients,
		Now: func() time.Time { return start }, Rand: rand.Reader,
	}, s
}

func login(t *testing.T, f *oauthflow.Flow, asked ...string) (*oauthflow.Granted, error) {
	t.Helper()
	p, err := f.Plan(t.Context(), asked)
	if err != nil {
		return nil, err
	}
	return f.Login(t.Context(), p, oauthflow.Ask{Open: oauthtest.Open})
}

func mustLogin(t *testing.T, f *oauthflow.Flow, asked ...string) *oauthflow.Granted {
	t.Helper()
	g, err := login(t, f, asked...)
	if err != nil {
		t.Fatalf("login: %v", err)
	}
	return g
}

// refused demands a refusal of that entry, and that neither it nor its JSON holds a secret or a peer's prose.
func refused(t *testing.T, w *oauthtest.World, err error, want *refusal.Entry) *refusal.Refusal {
	t.Helper()
	r, ok := refusal.As(err)
	if !ok {
		t.Fatalf("error %v is no refusal; want %s", err, want.Name)
	}
	if r.Entry() != want {
		t.Fatalf("refused with %v; want %s", r, want.Name)
	}
	clean(t, w, r)
	return r
}

func clean(t *testing.T, w *oauthtest.World, r *refusal.Refusal) {
	t.Helper()
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{r.Error(), r.HintText(), string(doc), fmt.Sprintf("%+v %#v", r, r)} {
		if strings.Contains(shown, "PROSE-CANARY") {
			t.Errorf("a peer's prose is shown: %s", shown)
		}
		for _, secret := range w.Secrets() {
			if strings.Contains(shown, secret) {
				t.Errorf("a secret is shown: %s", shown)
			}
		}
	}
}

// call makes one request to the endpoint as the HTTP carrier does: with the token, and once more where the authorizer
// says that a new one is there.
func call(t *testing.T, w *oauthtest.World, a transport.Authorizer) (status int, err error) {
	t.Helper()
	retried := false
	for {
		token, err := a.Token(t.Context())
		if err != nil {
			return 0, err
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.Endpoint(), strings.NewReader("{}"))
		if !token.Empty() {
			req.Header.Set("Authorization", "Bearer "+token.Reveal())
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp.StatusCode, nil
		}
		again, err := a.Challenged(t.Context(), token, transport.Challenge{Status: resp.StatusCode, WWWAuthenticate: resp.Header.Values("WWW-Authenticate")})
		if err != nil {
			return resp.StatusCode, err
		}
		if !again || retried {
			return resp.StatusCode, nil
		}
		retried = true
	}
}

func mustCall(t *testing.T, w *oauthtest.World, a transport.Authorizer) {
	t.Helper()
	if status, err := call(t, w, a); err != nil || status != http.StatusOK {
		t.Fatalf("call: status %d, %v", status, err)
	}
}

func wantLines(t *testing.T, w *oauthtest.World, want ...string) {
	t.Helper()
	if got := w.Lines(); !slices.Equal(got, want) {
		t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestLoginFromNothing(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Resource("scopes_supported", []string{"read", "list"})
	f, s := newFlow(t, w)
	g := mustLogin(t, f)
	wantLines(t, w, "mcp POST /mcp", "mcp GET /.well-known/oauth-protected-resource/mcp",
		"as GET /.well-known/oauth-authorization-server", "as POST /register", "as GET /authorize", "as POST /token")

	authorize, token := w.Requests("as GET /authorize")[0].Form, w.Requests("as POST /token")[0].Form
	for _, form := range []map[string][]string{authorize, token} {
		if got := form["resource"]; !slices.Equal(got, []string{w.Endpoint()}) {
			t.Errorf("resource %q", got)
		}
		if got := form["redirect_uri"]; len(got) != 1 || !strings.HasPrefix(got[0], "http://127.0.0.1:") || !strings.HasSuffix(got[0], "/callback") {
			t.Errorf("redirect_uri %q", got)
		}
	}
	if authorize.Get("scope") != "read list" || authorize.Has("prompt") || len(authorize.Get("state")) < 43 {
		t.Errorf("authorize %v", authorize)
	}
	all := s.All()
	if len(all) != 1 || all[0].Resource != w.Endpoint() || all[0].Issuer != w.AS.URL || all[0].Indicator != w.Endpoint() {
		t.Fatalf("stored %+v", all)
	}
	if !slices.Equal(g.Scopes, []string{"read", "list"}) || !g.Refreshable || !g.Expiry.Equal(start.Add(time.Hour)) {
		t.Errorf("granted %+v", g)
	}
	mustCall(t, w, f.Authorizer())
}

func TestExplainRegistersNothingAndOpensNothing(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Challenge(`Bearer resource_metadata="` + w.MCP.URL + `/.well-known/oauth-protected-resource/mcp", scope="read"`)
	w.Server("scopes_supported", []string{"offline_access"})
	f, s := newFlow(t, w)
	p, err := f.Plan(t.Context(), []string{"write"})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, w, "mcp POST /mcp", "mcp GET /.well-known/oauth-protected-resource/mcp", "as GET /.well-known/oauth-authorization-server")
	want := []oauthflow.Scope{{Token: "write", From: "--scope"}, {Token: "read", From: "challenge"}, {Token: "offline_access", From: "for a refresh token"}}
	if !slices.Equal(p.Scopes, want) || p.Registration != oauthflow.ByRegistration || p.ResourceFrom != oauthflow.FromChallenge || p.Callback != "127.0.0.1:0" {
		t.Errorf("plan %+v", p)
	}
	if len(s.All()) != 0 {
		t.Error("something was stored")
	}
}

func TestSignInTwiceKeepsOneRegistrationAndOneCredential(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, s := newFlow(t, w)
	mustLogin(t, f)
	mustLogin(t, f)
	if n := len(w.Requests("as POST /register")); n != 1 {
		t.Errorf("%d registrations", n)
	}
	if all := s.All(); len(all) != 1 || all[0].Generation != 2 {
		t.Errorf("stored %+v", all)
	}
}

func TestOfflineAccessComesWithConsent(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Server("scopes_supported", []string{"read", "offline_access"})
	f, _ := newFlow(t, w)
	g := mustLogin(t, f)
	q := w.Requests("as GET /authorize")[0].Form
	if q.Get("scope") != "offline_access" || q.Get("prompt") != "consent" {
		t.Errorf("authorize %v", q)
	}
	if len(g.NotGranted) != 0 {
		t.Errorf("not granted %v", g.NotGranted)
	}
}

func TestNoScopeWhereNobodyNamesOne(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	if q := w.Requests("as GET /authorize")[0].Form; q.Has("scope") {
		t.Errorf("scope %q", q.Get("scope"))
	}
}

func TestStepUpAsksForTheUnion(t *testing.T) { // STEP-01
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Challenge(`Bearer scope="read"`)
	w.Resource("scopes_supported", []string{"profile"})
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	w.Need("write")
	_, err := call(t, w, f.Authorizer())
	r := refused(t, w, err, refusal.OAuthScopeRequired)
	if got := r.Detail("scopes"); !slices.Equal(got.([]string), []string{"write"}) {
		t.Errorf("scopes %v", got)
	}
	if r.HintText() != "mcpc login docs --scope write" || r.ExitCode() != refusal.ExitSignIn {
		t.Errorf("hint %q", r.HintText())
	}
	mustLogin(t, f, "write")
	if q := w.Requests("as GET /authorize")[1].Form; q.Get("scope") != "read write" {
		t.Errorf("scope %q", q.Get("scope"))
	}
	mustCall(t, w, f.Authorizer())
}

func TestStepUpLeavesScopesSupportedAlone(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Resource("scopes_supported", []string{"read"})
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	w.Resource("scopes_supported", []string{"read", "everything"})
	mustLogin(t, f, "write")
	if got := w.Requests("as GET /authorize")[1].Form.Get("scope"); got != "read write" {
		t.Errorf("scope %q", got)
	}
}

func TestConfiguredScopesStandInForTheServers(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Challenge(`Bearer scope="everything"`)
	w.Resource("scopes_supported", []string{"all"})
	f, _ := newFlow(t, w)
	f.Config.Scopes = []string{"read"}
	mustLogin(t, f, "list")
	if got := w.Requests("as GET /authorize")[0].Form.Get("scope"); got != "list read" {
		t.Errorf("scope %q", got)
	}
	_, err := f.Plan(t.Context(), []string{`a"b`})
	refused(t, w, err, refusal.OAuthScopeName)
}

func TestScopeGrantedAndStillRefused(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	mustLogin(t, f, "admin")
	a := f.Authorizer()
	token, err := a.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Challenged(t.Context(), token, transport.Challenge{Status: 403, WWWAuthenticate: []string{`Bearer error="insufficient_scope", scope="admin"`}})
	r := refused(t, w, err, refusal.OAuthScopeRequired)
	if r.Detail("reason") == nil || strings.Contains(r.HintText(), "mcpc login") {
		t.Errorf("reason %v, hint %q", r.Detail("reason"), r.HintText())
	}
}
