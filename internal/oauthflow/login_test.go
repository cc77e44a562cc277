package oauthflow_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
)

// nothingLeft demands that a failed sign-in stored nothing.
func nothingLeft(t *testing.T, w *oauthtest.World, s *oauthtest.Store) {
	t.Helper()
	if kept, _ := s.Registration(t.Context(), w.AS.URL); kept != nil || len(s.All()) > 0 {
		t.Error("something was stored")
	}
}

func TestAuthorizationResponses(t *testing.T) { // TOK-06, TOK-08, TOK-09
	t.Parallel()
	other := "https://other.example"
	for name, c := range map[string]struct {
		advertised any
		back       func(w *oauthtest.World, q url.Values)
		want       *refusal.Entry
	}{
		"advertised, equal":      {true, func(*oauthtest.World, url.Values) {}, nil},
		"advertised, absent":     {true, func(_ *oauthtest.World, q url.Values) { q.Del("iss") }, refusal.OAuthCallbackIssuer},
		"advertised, different":  {true, func(_ *oauthtest.World, q url.Values) { q.Set("iss", other) }, refusal.OAuthCallbackIssuer},
		"unadvertised, equal":    {nil, func(*oauthtest.World, url.Values) {}, nil},
		"false, absent":          {false, func(_ *oauthtest.World, q url.Values) { q.Del("iss") }, nil},
		"unadvertised, absent":   {nil, func(_ *oauthtest.World, q url.Values) { q.Del("iss") }, nil},
		"unadvertised, other":    {nil, func(_ *oauthtest.World, q url.Values) { q.Set("iss", other) }, refusal.OAuthCallbackIssuer},
		"empty":                  {nil, func(_ *oauthtest.World, q url.Values) { q.Set("iss", "") }, refusal.OAuthCallbackIssuer},
		"with a slash":           {true, func(w *oauthtest.World, q url.Values) { q.Set("iss", w.AS.URL+"/") }, refusal.OAuthCallbackIssuer},
		"in capitals":            {true, func(w *oauthtest.World, q url.Values) { q.Set("iss", strings.ToUpper(w.AS.URL)) }, refusal.OAuthCallbackIssuer},
		"twice":                  {true, func(w *oauthtest.World, q url.Values) { q.Add("iss", w.AS.URL) }, refusal.OAuthCallbackIssuer},
		"error of another":       {nil, func(_ *oauthtest.World, q url.Values) { fail(q, "access_denied"); q.Set("iss", other) }, refusal.OAuthCallbackIssuer},
		"error without issuer":   {true, func(_ *oauthtest.World, q url.Values) { fail(q, "access_denied"); q.Del("iss") }, refusal.OAuthCallbackIssuer},
		"denied":                 {true, func(_ *oauthtest.World, q url.Values) { fail(q, "access_denied") }, refusal.OAuthDenied},
		"resource refused":       {true, func(_ *oauthtest.World, q url.Values) { fail(q, "invalid_target") }, refusal.OAuthResource},
		"unauthorized client":    {true, func(_ *oauthtest.World, q url.Values) { fail(q, "unauthorized_client") }, refusal.OAuthAuthorization},
		"error of no register":   {true, func(_ *oauthtest.World, q url.Values) { fail(q, "PROSE-CANARY") }, refusal.OAuthAuthorization},
		"code twice":             {true, func(_ *oauthtest.World, q url.Values) { q.Add("code", "CANARY") }, refusal.OAuthCallback},
		"code and error":         {true, func(_ *oauthtest.World, q url.Values) { q.Set("error", "access_denied") }, refusal.OAuthCallback},
		"no code":                {true, func(_ *oauthtest.World, q url.Values) { q.Del("code") }, refusal.OAuthCallback},
		"unknown parameter once": {true, func(_ *oauthtest.World, q url.Values) { q.Set("session_state", "PROSE-CANARY") }, nil},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := oauthtest.New(t, "/mcp")
			w.Server("authorization_response_iss_parameter_supported", c.advertised)
			w.Back(func(q url.Values) { c.back(w, q) })
			f, s := newFlow(t, w)
			var page string
			p, err := f.Plan(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			shown := make(chan string, 1)
			_, err = f.Login(t.Context(), p, oauthflow.Ask{Open: func(ctx context.Context, u string) error {
				_, _, body, err := oauthtest.Browser(context.WithoutCancel(ctx), u)
				shown <- body
				return err
			}})
			page = <-shown
			checkPage(t, w, page, c.want)
			if c.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refused(t, w, err, c.want)
			never(tokenLine)(t, w, nil, nil)
			nothingLeft(t, w, s)
		})
	}
}

func fail(q url.Values, code string) {
	q.Del("code")
	q.Set("error", code)
	q.Set("error_description", oauthtest.Prose)
	q.Set("error_uri", "https://PROSE-CANARY.example")
}

// checkPage demands that the browser's page says which server and how it ended, and nothing that a peer said.
func checkPage(t *testing.T, w *oauthtest.World, page string, want *refusal.Entry) {
	t.Helper()
	says := "Signed in"
	if want != nil {
		says = want.Name
	}
	endpoint := ">" + w.Endpoint() + "<"
	if !strings.Contains(page, says) || !strings.Contains(page, "docs") || !strings.Contains(page, endpoint) {
		t.Errorf("page %s", page)
	}
	page = strings.ReplaceAll(page, endpoint, "")
	for _, word := range append(w.Secrets(), "PROSE-CANARY", "<script", "http://", "https://", "src=", "href=", "url(") {
		if strings.Contains(page, word) {
			t.Errorf("the page holds %q", word)
		}
	}
}

func TestPageHeaders(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	f.Name = `<b onload="x">&`
	p, err := f.Plan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	type shown struct {
		status int
		header http.Header
		body   string
	}
	got := make(chan shown, 1)
	_, err = f.Login(t.Context(), p, oauthflow.Ask{Open: func(ctx context.Context, u string) error {
		status, header, body, err := oauthtest.Browser(context.WithoutCancel(ctx), u)
		got <- shown{status, header, body}
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := <-got
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff",
	} {
		if s.header.Get(name) != want {
			t.Errorf("%s: %q", name, s.header.Get(name))
		}
	}
	if csp := s.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'sha256-") {
		t.Errorf("policy %q", csp)
	}
	style, _, _ := strings.Cut(s.body[strings.Index(s.body, "<style>")+len("<style>"):], "</style>")
	sum := sha256.Sum256([]byte(style))
	if csp := s.header.Get("Content-Security-Policy"); !strings.Contains(csp, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the policy %q is not for the page's style", csp)
	}
	if s.status != 200 || strings.Contains(s.body, "<b onload") || !strings.Contains(s.body, "&lt;b onload=") || !strings.Contains(s.body, "prefers-color-scheme:dark") {
		t.Errorf("page %d %s", s.status, s.body)
	}
}

func TestVisitorsThatAreNotTheAnswer(t *testing.T) { // TOK-10
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	p, err := f.Plan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Login(t.Context(), p, oauthflow.Ask{Open: func(ctx context.Context, u string) error {
		ctx = context.WithoutCancel(ctx)
		asked, _ := url.Parse(u)
		redirect, state := asked.Query().Get("redirect_uri"), asked.Query().Get("state")
		back, _ := url.Parse(redirect)
		for _, c := range []struct {
			method, url, host string
			want              int
		}{
			{"GET", "http://" + back.Host + "/favicon.ico", "", 404},
			{"GET", "http://" + back.Host + "/", "", 404},
			{"GET", redirect, "", 400},
			{"GET", redirect + "?code=x", "", 400},
			{"GET", redirect + "?code=x&state=wrong", "", 400},
			{"GET", redirect + "?code=x&state=" + state + "&state=" + state, "", 400},
			{"GET", redirect + "?code=x&state=" + state[:len(state)-1], "", 400},
			{"GET", redirect + "?code=x;state=" + state, "", 400},
			{"GET", redirect + "/?code=x&state=" + state, "", 404},
			{"GET", "http://" + back.Host + "/%63allback?code=x&state=" + state, "", 404},
			{"GET", "http://" + back.Host + "//callback?code=x&state=" + state, "", 404},
			{"GET", redirect + "?code=x&state=" + state, "evil.example", 404},
			{"POST", redirect + "?code=x&state=" + state, "", 405},
			{"HEAD", redirect + "?code=x&state=" + state, "", 405},
			{"GET", redirect + "?code=x&state=" + state + strings.Repeat("x", 20000), "", 400},
		} {
			req, _ := http.NewRequestWithContext(ctx, c.method, c.url, nil)
			req.Host = c.host
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Errorf("%s %s: %v", c.method, c.url, err)
				continue
			}
			body := make([]byte, 4096)
			n, _ := resp.Body.Read(body)
			_ = resp.Body.Close()
			if resp.StatusCode != c.want || strings.Contains(string(body[:n]), state) || strings.Contains(string(body[:n]), "docs") {
				t.Errorf("%s %s: status %d, want %d", c.method, c.url, resp.StatusCode, c.want)
			}
		}
		return oauthtest.Open(ctx, u)
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestListenerIsClosedAfterwards(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	redirect := w.Requests("as GET /authorize")[0].Form.Get("redirect_uri")
	if resp, err := http.Get(redirect); err == nil {
		_ = resp.Body.Close()
		t.Error("the listener still answers")
	}
}

func TestInterruptDeadlineAndBrowser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signIn time.Duration
		open   func(cancel func()) func(context.Context, string) error
		want   *refusal.Entry
	}{
		"interrupted": {5 * time.Second, func(cancel func()) func(context.Context, string) error {
			return func(context.Context, string) error { cancel(); return nil }
		}, refusal.Interrupted},
		"deadline": {50 * time.Millisecond, func(func()) func(context.Context, string) error {
			return func(context.Context, string) error { return nil }
		}, refusal.DeadlineSignIn},
		"no browser": {5 * time.Second, func(func()) func(context.Context, string) error {
			return func(context.Context, string) error { return errors.New("exit status 3: CANARY") }
		}, refusal.OAuthBrowser},
	} {
		w := oauthtest.New(t, "/mcp")
		f, s := newFlow(t, w)
		f.Limits.SignIn = c.signIn
		p, err := f.Plan(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = f.Login(ctx, p, oauthflow.Ask{Open: c.open(cancel)})
		cancel()
		r := refused(t, w, err, c.want)
		if c.want == refusal.DeadlineSignIn && (r.Detail("limit") != int64(50) || !strings.HasPrefix(r.Detail("callback").(string), "127.0.0.1:")) {
			t.Errorf("%s: %v", name, r)
		}
		nothingLeft(t, w, s)
	}
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	_, err := f.Plan(cancelled(t), nil)
	refused(t, w, err, refusal.Interrupted)
}

// An interrupt after the tokens came keeps them: the grant is there, and nobody else would know of it.
func TestInterruptAfterTheTokensCame(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	f.Store = sealedIn(t.TempDir())
	p, err := f.Plan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.Now = func() time.Time { cancel(); return start } // the expiry is worked out from here
	if _, err := f.Login(ctx, p, oauthflow.Ask{Open: oauthtest.Open}); err != nil {
		t.Fatal(err)
	}
	if entries, err := f.Store.Of(f.Endpoint); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// pasteOf gives the callback URL that the browser ends at, changed.
func pasteOf(w *oauthtest.World, change func(string) string) oauthflow.Ask {
	shown := make(chan string, 1)
	return oauthflow.Ask{
		Open: func(_ context.Context, u string) error { shown <- u; return nil },
		Paste: func(context.Context) (string, error) {
			client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			resp, err := client.Get(<-shown)
			if err != nil {
				return "", err
			}
			_ = resp.Body.Close()
			return change(resp.Header.Get("Location")), nil
		},
	}
}

func TestPastedCallback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(string) string
		want   *refusal.Entry
	}{
		"as it is":      {func(u string) string { return u }, nil},
		"with spaces":   {func(u string) string { return "  " + u + "#_=_\n" }, nil},
		"only the code": {func(u string) string { q, _ := url.Parse(u); return q.Query().Get("code") }, refusal.OAuthCallback},
		"wrong state":   {func(u string) string { return strings.Replace(u, "state=", "state=x", 1) }, refusal.OAuthCallback},
		"other host":    {func(u string) string { return strings.Replace(u, "127.0.0.1", "localhost", 1) }, refusal.OAuthCallback},
		"wrong issuer":  {func(u string) string { return strings.Replace(u, "iss=http", "iss=https", 1) }, refusal.OAuthCallbackIssuer},
		"empty":         {func(string) string { return "" }, refusal.OAuthCallback},
	} {
		w := oauthtest.New(t, "/mcp")
		f, s := newFlow(t, w)
		p, err := f.Plan(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Login(t.Context(), p, pasteOf(w, c.change))
		if c.want == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refused(t, w, err, c.want)
		nothingLeft(t, w, s)
	}
}

func TestEndpointQueryCannotReplaceOurParameters(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Server("authorization_endpoint", w.AS.URL+"/authorize?tenant=a&state=evil&redirect_uri=https://evil.example/&code_challenge_method=plain")
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	q := w.Requests("as GET /authorize")[0].Form
	if q.Get("tenant") != "a" || len(q["state"]) != 1 || q.Get("state") == "evil" || len(q["redirect_uri"]) != 1 || q.Get("code_challenge_method") != "S256" {
		t.Errorf("query %v", q)
	}
}

func TestTwoLoginsAtOnce(t *testing.T) { // CON-03
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, s := newFlow(t, w)
	results := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := login(t, f)
			results <- err
		}()
	}
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if len(s.All()) != 1 {
		t.Errorf("%d credentials", len(s.All()))
	}
	mustCall(t, w, f.Authorizer())
}
