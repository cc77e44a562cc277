package oauthflow_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
)

const registerLine = "as POST /register"

// answerRegistration registers whatever is asked for under the id of the document given, whose REDIRECT is filled in.
func answerRegistration(w *oauthtest.World, status int, method, secret, doc string) {
	w.On(registerLine, func(rw http.ResponseWriter, _ *http.Request) {
		var asked struct {
			RedirectURIs []string `json:"redirect_uris"`
		}
		requests := w.Requests(registerLine)
		if err := json.Unmarshal([]byte(requests[len(requests)-1].Body), &asked); err != nil {
			panic(err)
		}
		w.Preregister("c1", secret, method, asked.RedirectURIs[0])
		oauthtest.JSON(status, strings.ReplaceAll(doc, "REDIRECT", asked.RedirectURIs[0]))(rw, nil)
	})
}

func TestRegistrationAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		method    string // what the authorization server holds the client to
		secret    string
		doc       string
		supported []string
		want      *refusal.Entry
	}{
		"REG-06 minimal with nulls":   {200, "none", "", `{"client_id":"c1","client_id_issued_at":"1760000000","client_secret":null,"client_secret_expires_at":null,"contacts":null,"client_uri":null}`, nil, nil},
		"REG-06 odd types":            {201, "none", "", `{"client_id":"c1","client_secret_expires_at":"soon","contacts":5,"grant_types":{}}`, nil, nil},
		"created":                     {201, "none", "", `{"client_id":"c1","redirect_uris":["REDIRECT"],"token_endpoint_auth_method":"none"}`, nil, nil},
		"post, secret never expires":  {201, "client_secret_post", "s3cr3t-CANARY", `{"client_id":"c1","client_secret":"s3cr3t-CANARY","client_secret_expires_at":0,"token_endpoint_auth_method":"client_secret_post"}`, nil, nil},
		"basic, with marks to encode": {201, "client_secret_basic", "a:b c%/+CANARY", `{"client_id":"c1","client_secret":"a:b c%/+CANARY","token_endpoint_auth_method":"client_secret_basic"}`, []string{"client_secret_basic"}, nil},
		"secret without a method":     {201, "client_secret_basic", "s", `{"client_id":"c1","client_secret":"s"}`, nil, nil},
		"secret, post supported":      {201, "client_secret_post", "s", `{"client_id":"c1","client_secret":"s"}`, []string{"none", "client_secret_post"}, nil},
		"method none with a secret":   {201, "none", "", `{"client_id":"c1","client_secret":"s","token_endpoint_auth_method":"none"}`, nil, nil},
		"REG-03 redirect changed":     {201, "none", "", `{"client_id":"c1","redirect_uris":["https://mcp.example.com/callback"]}`, nil, refusal.OAuthRedirect},
		"redirect list empty":         {201, "none", "", `{"client_id":"c1","redirect_uris":[]}`, nil, refusal.OAuthRedirect},
		"REG-04 refused":              {400, "none", "", `{"error":"invalid_redirect_uri","error_description":"PROSE-CANARY"}`, nil, refusal.OAuthRegistration},
		"client id empty":             {201, "none", "", `{"client_id":""}`, nil, refusal.OAuthRegistration},
		"client id a number":          {201, "none", "", `{"client_id":5}`, nil, refusal.OAuthRegistration},
		"client id with an escape":    {201, "none", "", `{"client_id":"c1\u001b[31m"}`, nil, refusal.OAuthRegistration},
		"client id of 3000 bytes":     {201, "none", "", `{"client_id":"` + strings.Repeat("c", 3000) + `"}`, nil, refusal.OAuthRegistration},
		"not JSON":                    {201, "none", "", `<PROSE-CANARY>`, nil, refusal.OAuthRegistration},
		"method of another kind":      {201, "none", "", `{"client_id":"c1","token_endpoint_auth_method":"private_key_jwt"}`, nil, refusal.OAuthClientMethod},
		"method post without secret":  {201, "none", "", `{"client_id":"c1","token_endpoint_auth_method":"client_secret_post"}`, nil, refusal.OAuthClientMethod},
		"nothing in common":           {201, "none", "", `{"client_id":"c1"}`, []string{"private_key_jwt"}, refusal.OAuthClientMethod},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := oauthtest.New(t, "/mcp")
			answerRegistration(w, c.status, c.method, c.secret, c.doc)
			if c.supported != nil {
				w.Server("token_endpoint_auth_methods_supported", c.supported)
			}
			f, s := newFlow(t, w)
			_, err := login(t, f)
			if c.want == nil && err != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				return
			}
			refused(t, w, err, c.want)
			if kept, _ := s.Registration(t.Context(), w.AS.URL); kept != nil || len(s.All()) > 0 {
				t.Error("something was stored")
			}
		})
	}
}

func TestRegistrationRequest(t *testing.T) {
	t.Parallel()
	for want, supported := range map[string][]string{
		"none":                nil,
		"client_secret_basic": {"private_key_jwt", "client_secret_post", "client_secret_basic"},
		"client_secret_post":  {"client_secret_post"},
	} {
		w := oauthtest.New(t, "/mcp")
		if supported != nil {
			w.Server("token_endpoint_auth_methods_supported", supported)
		}
		f, _ := newFlow(t, w)
		mustLogin(t, f)
		var doc map[string]any
		if err := json.Unmarshal([]byte(w.Requests(registerLine)[0].Body), &doc); err != nil {
			t.Fatal(err)
		}
		if doc["token_endpoint_auth_method"] != want || doc["application_type"] != "native" || doc["client_name"] != "mcpc" || doc["scope"] != nil {
			t.Errorf("registration %v", doc)
		}
		if n := len(w.Requests("as POST /token")); n != 1 {
			t.Errorf("%d token requests", n)
		}
	}
}

func TestRegistrationMovesWithABusyPort(t *testing.T) { // REG-01
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	redirect := w.Requests("as GET /authorize")[0].Form.Get("redirect_uri")
	u, _ := url.Parse(redirect)
	l, err := net.Listen("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mustLogin(t, f)
	again := w.Requests("as GET /authorize")[1].Form.Get("redirect_uri")
	if again == redirect || len(w.Requests(registerLine)) != 2 {
		t.Errorf("redirect %s, %d registrations", again, len(w.Requests(registerLine)))
	}
}

func TestConfiguredCallbackThatIsBusy(t *testing.T) { // CON-03
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f.Config.Callback = l.Addr().String()
	_, err = login(t, f)
	r := refused(t, w, err, refusal.OAuthCallbackBusy)
	if r.Detail("callback") != f.Config.Callback {
		t.Error(r)
	}
	never(registerLine)(t, w, nil, nil)
}

// An operator who has yet to register a client must learn with whom, so the plan comes beside the refusal.
func TestPlanWithoutClientNamesIssuer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		client       *config.Client
		registration string
		want         *refusal.Entry
	}{
		{nil, oauthflow.ByNothing, refusal.OAuthNoRegistration},
		{&config.Client{ID: "abc", Issuer: "https://other.example"}, oauthflow.ByConfiguration, refusal.OAuthClientIssuer},
	} {
		w := oauthtest.New(t, "/mcp")
		w.Server("registration_endpoint", nil)
		f, _ := newFlow(t, w)
		f.Config.Client = c.client
		p, err := f.Plan(t.Context(), nil)
		r := refused(t, w, err, c.want)
		if p == nil || p.Issuer != w.AS.URL || p.Registration != c.registration {
			t.Errorf("%s: plan %+v", r.Name(), p)
		}
		if hint, _, _ := strings.Cut(r.HintText(), "\n"); hint != "mcpc login docs --explain" {
			t.Errorf("%s: hint %q", r.Name(), hint)
		}
	}
}

func TestLocalhostNeedsBothFamilies(t *testing.T) { // REG-08
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return // no such family here, and nothing to be busy
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	f.Config.Callback = "localhost:" + port
	_, err = login(t, f)
	refused(t, w, err, refusal.OAuthCallbackBusy)
}

func TestCallbackAddresses(t *testing.T) { // REG-08, REG-09
	t.Parallel()
	for _, callback := range []string{"localhost:0", "127.0.0.1:0", "[::1]:0", "127.0.0.2:0"} {
		w := oauthtest.New(t, "/mcp")
		f, _ := newFlow(t, w)
		f.Config.Callback = callback
		p, err := f.Plan(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := net.SplitHostPort(callback)
		families := []string{host}
		if host == "localhost" {
			families = []string{"127.0.0.1", "::1"}
		}
		for _, family := range families {
			if !listens(family) {
				continue
			}
			_, err = f.Login(t.Context(), p, oauthflow.Ask{Open: browserOver(family)})
			if err != nil {
				t.Errorf("%s by %s: %v", callback, family, err)
			}
			if got := w.Requests("as GET /authorize")[0].Form.Get("redirect_uri"); !strings.HasPrefix(got, "http://"+strings.TrimSuffix(callback, "0")) {
				t.Errorf("redirect %s for %s", got, callback)
			}
		}
	}
	for _, callback := range []string{"example.com:80", "0.0.0.0:0", "192.168.0.1:80", "localhost", "127.0.0.1:99999", ":0", "127.0.0.1:x"} {
		w := oauthtest.New(t, "/mcp")
		f, _ := newFlow(t, w)
		f.Config.Callback = callback
		_, err := f.Plan(t.Context(), nil)
		refused(t, w, err, refusal.OAuthCallbackAddress)
	}
}

func listens(host string) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// browserOver reaches loopback by one family only, wherever localhost resolves to.
func browserOver(host string) func(context.Context, string) error {
	return func(ctx context.Context, u string) error {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			name, port, err := net.SplitHostPort(addr)
			if name == "localhost" {
				addr = net.JoinHostPort(host, port)
			}
			if err != nil {
				return nil, err
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}}}
		req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
}

func TestForgottenClient(t *testing.T) { // REG-02
	t.Parallel()
	t.Run("the page never leads back", func(t *testing.T) {
		t.Parallel()
		w := oauthtest.New(t, "/mcp")
		f, s := newFlow(t, w)
		mustLogin(t, f)
		w.ForgetClients()
		f.Limits.SignIn = 200 * time.Millisecond
		_, err := login(t, f)
		r := refused(t, w, err, refusal.DeadlineSignIn)
		if got, _ := r.Detail("callback").(string); !strings.HasPrefix(got, "127.0.0.1:") {
			t.Errorf("callback %q", got)
		}
		if len(s.All()) != 1 {
			t.Error("the credential of before is gone")
		}
		f.Limits.SignIn = 5 * time.Second
		mustLogin(t, f)
		if n := len(w.Requests(registerLine)); n != 2 {
			t.Errorf("%d registrations", n)
		}
	})
	t.Run("the token endpoint says so at a refresh", func(t *testing.T) {
		t.Parallel()
		w := oauthtest.New(t, "/mcp")
		f, s := newFlow(t, w)
		mustLogin(t, f)
		w.ForgetClients()
		w.Expire()
		_, err := call(t, w, f.Authorizer())
		refused(t, w, err, refusal.OAuthLoginRequired)
		if n := len(w.Requests("as POST /token")); n != 2 {
			t.Errorf("%d token requests", n)
		}
		mustLogin(t, f)
		if len(s.All()) != 1 || len(w.Requests(registerLine)) != 2 {
			t.Error("the client was not registered anew")
		}
	})
}

func TestConfiguredClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method    string
		supported []string
	}{
		{"client_secret_basic", nil},
		{"client_secret_basic", []string{"client_secret_post", "client_secret_basic"}},
		{"client_secret_post", []string{"client_secret_post"}},
		{"none", []string{"client_secret_basic"}},
	} {
		w := oauthtest.New(t, "/mcp")
		w.Server("registration_endpoint", nil)
		if c.supported != nil {
			w.Server("token_endpoint_auth_methods_supported", c.supported)
		}
		f, s := newFlow(t, w)
		f.Config.Callback = freePort(t)
		f.Config.Client = &config.Client{ID: "pre:reg id", Issuer: w.AS.URL}
		secret := "CANARY-s/e+c:r et"
		if c.method == "none" {
			secret = ""
		} else {
			f.Config.Client.Secret = &config.Source{Env: "SECRET"}
			f.ClientSecret = func(context.Context) (config.Secret, error) { return config.NewSecret(secret), nil }
		}
		w.Preregister("pre:reg id", secret, c.method, "http://"+f.Config.Callback+"/callback")
		mustLogin(t, f)
		for _, cred := range s.All() {
			if !cred.Client.Secret.Empty() {
				t.Error("the configured secret was stored")
			}
		}
		w.Expire()
		mustCall(t, w, f.Authorizer())
		if n := len(w.Requests("as POST /token")); n != 2 {
			t.Errorf("%s: %d token requests", c.method, n)
		}
		f.Config.Client.ID = "another"
		if token, err := f.Authorizer().Token(t.Context()); err != nil || !token.Empty() {
			t.Errorf("a credential of another client is used: %v", err)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestClientMetadataDocument(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, s := newFlow(t, w)
	f.Config.ClientMetadataURL = "https://client.example.org/mcpc.json"
	w.Server("token_endpoint_auth_methods_supported", []string{"client_secret_basic"})
	mustLogin(t, f) // not supported: registers
	w.Server("client_id_metadata_document_supported", true)
	mustLogin(t, f)
	q := w.Requests("as GET /authorize")[1].Form
	form := w.Requests("as POST /token")[1]
	if q.Get("client_id") != f.Config.ClientMetadataURL || form.Form.Get("client_id") != f.Config.ClientMetadataURL || form.Header.Get("Authorization") != "" {
		t.Errorf("client %q %v", q.Get("client_id"), form)
	}
	if len(w.Requests(registerLine)) != 1 || len(s.All()) != 1 {
		t.Error("registered in spite of the document")
	}
	for _, bad := range []string{"http://127.0.0.1/c.json", "https://client.example.org", "https://client.example.org/", "https://c.example/a/../b", "https://c.example/a?b", "https://c.example/a#b"} {
		if _, err := oauthflow.ClientMetadata(bad, ""); !refusal.Is(err, refusal.OAuthClientMetadata) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	doc, err := oauthflow.ClientMetadata("https://client.example.org/mcpc.json", "localhost:3118")
	if err != nil || !strings.Contains(string(doc), `"http://localhost:3118/callback"`) || !strings.Contains(string(doc), `"client_id": "https://client.example.org/mcpc.json"`) {
		t.Errorf("%s %v", doc, err)
	}
	if doc, err = oauthflow.ClientMetadata("https://client.example.org/mcpc.json", ""); err != nil || !strings.Contains(string(doc), `"http://127.0.0.1/callback"`) {
		t.Errorf("%s %v", doc, err)
	}
}

func TestExpiredClientSecretRegistersAnew(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, s := newFlow(t, w)
	mustLogin(t, f)
	kept, _ := s.Registration(t.Context(), w.AS.URL)
	kept.SecretExpiry = start.Add(-time.Second)
	_ = s.KeepRegistration(t.Context(), store.Registration(*kept))
	mustLogin(t, f)
	if n := len(w.Requests(registerLine)); n != 2 {
		t.Errorf("%d registrations", n)
	}
}
