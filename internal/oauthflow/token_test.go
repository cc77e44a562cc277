package oauthflow_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/transport"
)

const tokenLine = "as POST /token"

func TestTokenAnswersAtSignIn(t *testing.T) {
	t.Parallel()
	unknown := time.Time{}
	for name, c := range map[string]struct {
		status int
		body   string
		want   *refusal.Entry
		expiry time.Time
		scopes []string
	}{
		"TOK-01 expires_in as a string":     {200, `{"token_type":"Bearer","scope":"read","expires_in":"5250","expires_on":"1759495112","resource":"api://example","access_token":"CANARY-at"}`, nil, start.Add(5250 * time.Second), []string{"read"}},
		"TOK-01 expires_in with letters":    {200, `{"token_type":"Bearer","expires_in":"3600abc","access_token":"CANARY-at"}`, nil, unknown, []string{"asked"}},
		"TOK-01 expires_in with exponent":   {200, `{"token_type":"Bearer","expires_in":1e3,"access_token":"CANARY-at"}`, nil, unknown, []string{"asked"}},
		"TOK-01 expires_in negative":        {200, `{"token_type":"Bearer","expires_in":-1,"access_token":"CANARY-at"}`, nil, unknown, []string{"asked"}},
		"TOK-01 expires_in enormous":        {200, `{"token_type":"Bearer","expires_in":99999999999999999999,"access_token":"CANARY-at"}`, nil, unknown, []string{"asked"}},
		"TOK-02 expires_in zero":            {200, `{"token_type":"Bearer","expires_in":0,"access_token":"CANARY-at"}`, nil, start, []string{"asked"}},
		"TOK-02 expires_in missing":         {200, `{"token_type":"Bearer","access_token":"CANARY-at"}`, nil, unknown, []string{"asked"}},
		"TOK-04 error with status 200":      {200, `{"error":"bad_refresh_token","error_description":"PROSE-CANARY"}`, refusal.OAuthTokenError, unknown, nil},
		"TOK-05 no type, scopes in a list":  {200, `{"access_token":"CANARY-at","expires_in":3600,"scope":["read","write"]}`, nil, start.Add(time.Hour), []string{"read", "write"}},
		"TOK-05 type in capitals":           {200, `{"access_token":"CANARY-at","token_type":"BEARER"}`, nil, unknown, []string{"asked"}},
		"TOK-05 type with a space":          {200, `{"access_token":"CANARY-at","token_type":"Bearer "}`, nil, unknown, []string{"asked"}},
		"TOK-05 DPoP":                       {200, `{"access_token":"CANARY-at","token_type":"DPoP"}`, refusal.OAuthTokenType, unknown, nil},
		"TOK-05 type no string":             {200, `{"access_token":"CANARY-at","token_type":7}`, refusal.OAuthTokenType, unknown, nil},
		"TOK-06 resource refused":           {400, `{"error":"invalid_target","error_description":"PROSE-CANARY"}`, refusal.OAuthResource, unknown, nil},
		"TOK-06 resource refused otherwise": {400, `{"error":"invalid_resource"}`, refusal.OAuthResource, unknown, nil},
		"access token missing":              {200, `{"token_type":"Bearer"}`, refusal.OAuthTokenAnswer, unknown, nil},
		"access token empty":                {200, `{"token_type":"Bearer","access_token":""}`, refusal.OAuthTokenAnswer, unknown, nil},
		"access token with a line end":      {200, `{"token_type":"Bearer","access_token":"CANARY\r\nX: y"}`, refusal.OAuthTokenAnswer, unknown, nil},
		"access token a number":             {200, `{"token_type":"Bearer","access_token":12}`, refusal.OAuthTokenAnswer, unknown, nil},
		"not JSON":                          {200, `access_token=CANARY&token_type=bearer`, refusal.OAuthTokenAnswer, unknown, nil},
		"duplicate member":                  {200, `{"access_token":"a","access_token":"CANARY","token_type":"Bearer"}`, refusal.OAuthTokenAnswer, unknown, nil},
		"invalid grant":                     {400, `{"error":"invalid_grant","error_description":"PROSE-CANARY"}`, refusal.OAuthTokenError, unknown, nil},
		"error code with an escape":         {400, `{"error":"PROSE-CANARY\u001b[31m"}`, refusal.OAuthTokenError, unknown, nil},
		"unavailable":                       {503, `<PROSE-CANARY>`, refusal.OAuthTokenEndpoint, unknown, nil},
		"a page":                            {403, `<PROSE-CANARY>`, refusal.OAuthTokenEndpoint, unknown, nil},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := oauthtest.New(t, "/mcp")
			w.On(tokenLine, oauthtest.JSON(c.status, c.body))
			f, s := newFlow(t, w)
			g, err := login(t, f, "asked")
			if n := len(w.Requests(tokenLine)); n != 1 {
				t.Errorf("%d token requests", n)
			}
			if c.want != nil {
				refused(t, w, err, c.want)
				if kept, _ := s.Registration(t.Context(), w.AS.URL); kept != nil || len(s.All()) > 0 {
					t.Error("something was stored")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !g.Expiry.Equal(c.expiry) || !slices.Equal(g.Scopes, c.scopes) {
				t.Errorf("granted %+v", g)
			}
		})
	}
}

func TestTokenExpiredAtOnceIsUsedAndNotKeptForEver(t *testing.T) { // TOK-02
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Answer("expires_in", 0)
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	w.Answer("expires_in", 3600)
	w.ResetLog()
	mustCall(t, w, f.Authorizer())
	wantLines(t, w, tokenLine, "mcp POST /mcp")

	w = oauthtest.New(t, "/mcp")
	w.Answer("expires_in", 0)
	w.Answer("refresh_token", nil)
	f, _ = newFlow(t, w)
	mustLogin(t, f)
	w.ResetLog()
	mustCall(t, w, f.Authorizer())
	wantLines(t, w, "mcp POST /mcp")
}

// afterLogin is a world whose client is signed in, with a log that begins there.
func afterLogin(t *testing.T) (*oauthtest.World, *oauthflow.Flow, *oauthtest.Store) {
	t.Helper()
	w := oauthtest.New(t, "/mcp")
	f, s := newFlow(t, w)
	mustLogin(t, f)
	w.ResetLog()
	return w, f, s
}

func TestRefreshOnceAndRetry(t *testing.T) {
	t.Parallel()
	w, f, s := afterLogin(t)
	before := s.All()[0]
	w.Expire()
	mustCall(t, w, f.Authorizer())
	wantLines(t, w, "mcp POST /mcp", tokenLine, "mcp POST /mcp")
	form := w.Requests(tokenLine)[0].Form // REF-05, TOK-07
	want := url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {before.RefreshToken.Reveal()},
		"resource": {w.Endpoint()}, "client_id": {before.Client.ClientID},
	}
	if form.Encode() != want.Encode() {
		t.Errorf("form %v", form)
	}
	after := s.All()[0]
	if after.RefreshToken == before.RefreshToken || after.Generation != before.Generation+1 || after.Presented {
		t.Errorf("stored %+v", after)
	}
}

func TestRefreshKeepsTheOldRefreshToken(t *testing.T) { // REF-01
	t.Parallel()
	for name, value := range map[string]any{"omitted": nil, "empty": "", "null": (*string)(nil)} {
		w, f, s := afterLogin(t)
		kept := s.All()[0].RefreshToken
		w.KeepRefreshTokens()
		if name != "omitted" {
			w.Answer("refresh_token", value)
		}
		a := f.Authorizer()
		for range 3 {
			w.Expire()
			mustCall(t, w, a)
		}
		if s.All()[0].RefreshToken != kept || len(w.Requests(tokenLine)) != 3 {
			t.Errorf("%s: the refresh token was lost", name)
		}
	}
}

func TestTemporaryRefreshFailures(t *testing.T) { // REF-03
	t.Parallel()
	for name, hook := range map[string]http.HandlerFunc{
		"429": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Retry-After", "5")
			oauthtest.JSON(429, `{"error":"invalid_grant"}`)(rw, r)
		},
		"403 page":       oauthtest.Text(403, "text/html", "<html>PROSE-CANARY</html>"),
		"400 page":       oauthtest.Text(400, "text/html", "<html>PROSE-CANARY</html>"),
		"500":            oauthtest.JSON(500, `{"error":"invalid_grant"}`),
		"503":            oauthtest.Text(503, "text/plain", "PROSE-CANARY"),
		"server error":   oauthtest.JSON(503, `{"error":"temporarily_unavailable","error_description":"PROSE-CANARY"}`),
		"error no text":  oauthtest.JSON(400, `{"error":{"code":"invalid_grant"}}`),
		"duplicate":      oauthtest.JSON(400, `{"error":"x","error":"invalid_grant"}`),
		"in an array":    oauthtest.JSON(400, `[{"error":"invalid_grant"}]`),
		"capital member": oauthtest.JSON(400, `{"Error":"invalid_grant"}`),
	} {
		w, f, s := afterLogin(t)
		before := s.All()[0]
		w.Expire()
		w.On(tokenLine, hook)
		_, err := call(t, w, f.Authorizer())
		r := refused(t, w, err, refusal.OAuthTokenEndpoint)
		if after := s.All()[0]; after.RefreshToken != before.RefreshToken || after.AccessToken != before.AccessToken || after.Generation != before.Generation || after.Presented {
			t.Errorf("%s: the store was touched", name)
		}
		if name == "429" && r.Detail("retry_after") != int64(5) {
			t.Errorf("retry after %v", r.Detail("retry_after"))
		}
		w.Off(tokenLine)
		mustCall(t, w, f.Authorizer())
	}
}

func TestGrantThatEnded(t *testing.T) { // REF-04, TOK-04
	t.Parallel()
	for name, hook := range map[string]http.HandlerFunc{
		"400 invalid_grant":     oauthtest.JSON(400, `{"error":"invalid_grant","error_description":"PROSE-CANARY"}`),
		"401 invalid_grant":     oauthtest.JSON(401, `{"error":"invalid_grant"}`),
		"401 invalid_client":    oauthtest.JSON(401, `{"error":"invalid_client"}`),
		"200 bad_refresh_token": oauthtest.JSON(200, `{"error":"bad_refresh_token"}`),
	} {
		w, f, s := afterLogin(t)
		w.Expire()
		w.On(tokenLine, hook)
		a := f.Authorizer()
		_, err := call(t, w, a)
		r := refused(t, w, err, refusal.OAuthLoginRequired)
		if r.HintText() != "mcpc login docs" || r.ExitCode() != refusal.ExitSignIn {
			t.Errorf("%s: %v", name, r)
		}
		wantLines(t, w, "mcp POST /mcp", tokenLine)
		w.ResetLog()
		for _, again := range []transport.Authorizer{a, f.Authorizer()} {
			_, err = call(t, w, again)
			refused(t, w, err, refusal.OAuthLoginRequired)
		}
		wantLines(t, w) // no round trip for a grant that is known to be over
		if len(s.All()) != 1 {
			t.Errorf("%s: the record is gone", name)
		}
	}
}

func TestOtherErrorsEndNothing(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_target", "invalid_request", "unauthorized_client", "invalid_scope"} {
		w, f, s := afterLogin(t)
		before := s.All()[0]
		w.Expire()
		w.On(tokenLine, oauthtest.JSON(400, `{"error":"`+code+`"}`))
		_, err := call(t, w, f.Authorizer())
		if r, ok := refusal.As(err); !ok || r.Entry() == refusal.OAuthLoginRequired {
			t.Errorf("%s: %v", code, err)
		}
		if s.All()[0].RefreshToken != before.RefreshToken {
			t.Errorf("%s ended the grant", code)
		}
	}
}

func TestTokenRejectedDirectlyAfterRefresh(t *testing.T) { // REF-05
	t.Parallel()
	for _, early := range []bool{false, true} {
		w, f, s := afterLogin(t)
		if early {
			s.Edit(func(c *store.Credential) { c.Expiry = start })
		}
		w.On("mcp POST /mcp", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			rw.WriteHeader(http.StatusUnauthorized)
		})
		a := f.Authorizer()
		_, err := call(t, w, a)
		refused(t, w, err, refusal.OAuthTokenRejected)
		if n := len(w.Requests(tokenLine)); n != 1 {
			t.Errorf("%d refreshes", n)
		}
	}
}

func TestLongLivedProcessRefreshesAgainAndAgain(t *testing.T) {
	t.Parallel()
	w, f, _ := afterLogin(t)
	a := f.Authorizer()
	for range 3 {
		w.Expire()
		mustCall(t, w, a)
		mustCall(t, w, a)
	}
	if n := len(w.Requests(tokenLine)); n != 3 {
		t.Errorf("%d refreshes", n)
	}
}

func TestNoCredential(t *testing.T) { // CON-01
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	_, err := call(t, w, f.Authorizer())
	r := refused(t, w, err, refusal.OAuthLoginRequired)
	if r.HintText() != "mcpc login docs" {
		t.Errorf("hint %q", r.HintText())
	}
	wantLines(t, w, "mcp POST /mcp") // one round trip
}

func TestNoRefreshToken(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Answer("refresh_token", nil)
	f, _ := newFlow(t, w)
	mustLogin(t, f)
	w.Expire()
	w.ResetLog()
	_, err := call(t, w, f.Authorizer())
	refused(t, w, err, refusal.OAuthLoginRequired)
	wantLines(t, w, "mcp POST /mcp")
}

func TestChallengeOfAnotherOrigin(t *testing.T) { // STEP-03
	t.Parallel()
	w, f, _ := afterLogin(t)
	a := f.Authorizer()
	token, _ := a.Token(t.Context())
	for _, status := range []int{401, 403} {
		_, err := a.Challenged(t.Context(), token, transport.Challenge{Status: status, WWWAuthenticate: []string{
			`Bearer error="insufficient_scope", scope="write", resource_metadata="https://evil.example/.well-known/oauth-protected-resource"`,
		}})
		refused(t, w, err, refusal.OAuthChallenge)
	}
	wantLines(t, w)
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	w, f, _ := afterLogin(t)
	a := f.Authorizer()
	token, _ := a.Token(t.Context())
	challenged := func(value string) error {
		_, err := a.Challenged(t.Context(), token, transport.Challenge{Status: 403, WWWAuthenticate: []string{value}})
		return err
	}
	refused(t, w, challenged(`Bearer realm="x"`), refusal.OAuthForbidden)
	r := refused(t, w, challenged(`Bearer error="insufficient_scope", scope="a`+"\u0080"+` b\"c $(reboot) d'e `+strings.Repeat("x", 129)+`", x=""`), refusal.OAuthScopeRequired)
	if got := r.Detail("scopes").([]string); !slices.Equal(got, []string{"$(reboot)", "d'e"}) {
		t.Errorf("scopes %q", got)
	}
	if want := `mcpc login docs --scope '$(reboot)' --scope 'd'\''e'`; r.HintText() != want {
		t.Errorf("hint %s", r.HintText())
	}
	many := strings.Repeat("s ", 100)
	r = refused(t, w, challenged(`Bearer error="insufficient_scope", scope="`+many+`"`), refusal.OAuthScopeRequired)
	if got := r.Detail("scopes").([]string); len(got) != 64 {
		t.Errorf("%d scopes", len(got))
	}
	// A 403 for a token that is not valid is a 401 by another number.
	if again, err := a.Challenged(t.Context(), token, transport.Challenge{Status: 403, WWWAuthenticate: []string{`Bearer error="invalid_token"`}}); err != nil || !again {
		t.Errorf("%v %v", again, err)
	}
}

func TestRefreshAsOne(t *testing.T) { // CON-04
	t.Parallel()
	w, f, s := afterLogin(t)
	const processes, expiries = 8, 5
	authorizers := make([]transport.Authorizer, processes)
	for i := range authorizers {
		authorizers[i] = f.Authorizer()
	}
	for range expiries {
		w.Expire()
		var wg sync.WaitGroup
		for _, a := range authorizers {
			wg.Go(func() {
				if status, err := call(t, w, a); err != nil || status != http.StatusOK {
					t.Errorf("status %d, %v", status, err)
				}
			})
		}
		wg.Wait()
	}
	if n := len(w.Requests(tokenLine)); n != expiries {
		t.Errorf("%d token requests, want %d", n, expiries)
	}
	if s.All()[0].Generation != 1+expiries {
		t.Errorf("generation %d", s.All()[0].Generation)
	}
}

func TestCutOffRefreshSaysSo(t *testing.T) {
	t.Parallel()
	w, f, s := afterLogin(t)
	w.Expire()
	w.On(tokenLine, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := call(t, w, f.Authorizer())
	refused(t, w, err, refusal.TransportClosed)
	if !s.All()[0].Presented {
		t.Fatal("the mark is gone although the token may be spent")
	}
	w.On(tokenLine, oauthtest.JSON(400, `{"error":"invalid_grant"}`))
	_, err = call(t, w, f.Authorizer())
	r := refused(t, w, err, refusal.OAuthLoginRequired)
	if got, _ := r.Detail("reason").(string); !strings.Contains(got, "cut off") {
		t.Errorf("reason %q", got)
	}
}

func TestUnreachableTokenEndpointTouchesNothing(t *testing.T) {
	t.Parallel()
	w, f, s := afterLogin(t)
	s.Edit(func(c *store.Credential) { c.TokenEndpoint = "http://127.0.0.1:1/token" })
	before := s.All()[0]
	w.Expire()
	_, err := call(t, w, f.Authorizer())
	refused(t, w, err, refusal.TransportUnreachable)
	if after := s.All()[0]; after.Presented || after.Generation != before.Generation {
		t.Error("the store was touched")
	}
}

func TestInterruptedRefreshKeepsItsAnswer(t *testing.T) {
	t.Parallel()
	w, f, s := afterLogin(t)
	before := s.All()[0]
	w.Expire()
	ctx, cancel := context.WithCancel(t.Context())
	w.On(tokenLine, func(rw http.ResponseWriter, r *http.Request) {
		cancel()
		oauthtest.JSON(200, `{"access_token":"CANARY-n","token_type":"Bearer","refresh_token":"CANARY-r"}`)(rw, r)
	})
	a := f.Authorizer()
	token, _ := a.Token(t.Context())
	if again, err := a.Challenged(ctx, token, transport.Challenge{Status: 401}); err != nil || !again {
		t.Fatalf("%v %v", again, err)
	}
	if after := s.All()[0]; after.RefreshToken.Reveal() != "CANARY-r" || after.Generation != before.Generation+1 {
		t.Error("the rotated refresh token was lost")
	}
}

// silent never answers; it stands for a token endpoint that hangs.
type silent struct{}

func (silent) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestHangingEndpointEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := config.DefaultLimits()
		f := &oauthflow.Flow{
			Endpoint: "https://mcp.example.com/mcp", Limits: limits, Store: oauthtest.NewStore(), Now: time.Now,
			Clients: func(transport.Purpose) *http.Client { return &http.Client{Transport: silent{}} },
		}
		begin := time.Now()
		_, err := f.Plan(t.Context(), nil)
		if !refusal.Is(err, refusal.DeadlineAuthorizer) || time.Since(begin) != limits.Request {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestPinnedIssuerChangesAfterSignIn(t *testing.T) {
	t.Parallel()
	_, f, _ := afterLogin(t)
	f.Config.Issuer = "https://other.example"
	if token, err := f.Authorizer().Token(t.Context()); err != nil || !token.Empty() {
		t.Errorf("a token of another issuer is used: %v", err)
	}
}

func TestServerMovesToAnotherIssuer(t *testing.T) {
	t.Parallel()
	w, f, s := afterLogin(t)
	second := oauthtest.New(t, "/mcp")
	w.Resource("authorization_servers", []string{second.AS.URL})
	second.ResetLog()
	mustLogin(t, f)
	if all := s.All(); len(all) != 1 || all[0].Issuer != second.AS.URL {
		t.Errorf("stored %+v", all)
	}
	if len(second.Requests(registerLine)) != 1 {
		t.Error("not registered with the new authorization server")
	}
	never(tokenLine, "as GET /authorize")(t, w, nil, nil)
}

func TestLogout(t *testing.T) {
	t.Parallel()
	type row struct {
		revoke bool
		set    func(*oauthtest.World)
		want   string
	}
	for name, c := range map[string]row{
		"revoked":     {true, func(*oauthtest.World) {}, oauthflow.RevocationDone},
		"failed":      {true, func(w *oauthtest.World) { w.On("as POST /revoke", missing()) }, oauthflow.RevocationFailed},
		"not offered": {true, func(w *oauthtest.World) { w.Server("revocation_endpoint", nil) }, oauthflow.RevocationNotOffered},
		"no revoke":   {false, func(*oauthtest.World) {}, oauthflow.RevocationSkipped},
	} {
		w := oauthtest.New(t, "/mcp")
		c.set(w)
		f, s := newFlow(t, w)
		mustLogin(t, f)
		refresh := s.All()[0].RefreshToken.Reveal()
		gone, err := f.Logout(t.Context(), c.revoke)
		if err != nil || len(gone) != 1 || gone[0].Revocation != c.want || gone[0].Issuer != w.AS.URL {
			t.Errorf("%s: %+v %v", name, gone, err)
		}
		kept, _ := s.Registration(t.Context(), w.AS.URL)
		if len(s.All()) != 0 || kept != nil {
			t.Errorf("%s: something is left", name)
		}
		sent := w.Requests("as POST /revoke")
		if c.want == oauthflow.RevocationDone && (sent[0].Form.Get("token") != refresh || sent[0].Form.Get("token_type_hint") != "refresh_token") {
			t.Errorf("%s: form %v", name, sent[0].Form)
		}
		if !c.revoke && len(sent) > 0 {
			t.Errorf("%s: revoked", name)
		}
		if gone, err = f.Logout(t.Context(), true); err != nil || len(gone) != 0 {
			t.Errorf("%s: again %+v %v", name, gone, err)
		}
	}
}

func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, s := newFlow(t, w)
	f.Store = failing{s}
	_, err := login(t, f)
	refused(t, w, err, refusal.Internal)
	if len(s.All()) != 0 {
		t.Error("something was stored")
	}
}

type failing struct{ *oauthtest.Store }

func (failing) Replace(context.Context, *store.Credential) error { return errors.New("CANARY disk") }
