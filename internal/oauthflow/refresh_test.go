package oauthflow_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/transport"
)

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

// A server that gives its tokens no life, or whose clock is elsewhere, is not asked for one token after another.
func TestRefreshedTokenIsTried(t *testing.T) {
	t.Parallel()
	w, f, _ := afterLogin(t)
	w.Answer("expires_in", 0)
	w.Expire()
	a := f.Authorizer()
	mustCall(t, w, a)
	wantLines(t, w, "mcp POST /mcp", tokenLine, "mcp POST /mcp")
	w.ResetLog()
	mustCall(t, w, a)
	wantLines(t, w, tokenLine, "mcp POST /mcp")
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

func TestNewerTokenAfterInvalidGrant(t *testing.T) { // CON-04
	t.Parallel()
	w, f, s := afterLogin(t)
	w.Expire()
	w.On(tokenLine, func(rw http.ResponseWriter, r *http.Request) {
		s.Edit(func(c *store.Credential) { // as a process on another machine would, whose lock does not reach here
			c.AccessToken, c.RefreshToken, c.Generation = config.NewSecret("CANARY-newer"), config.NewSecret("CANARY-rt"), 9
		})
		oauthtest.JSON(400, `{"error":"invalid_grant"}`)(rw, r)
	})
	a := f.Authorizer()
	token, _ := a.Token(t.Context())
	if again, err := a.Challenged(t.Context(), token, transport.Challenge{Status: 401}); err != nil || !again {
		t.Fatalf("%v %v", again, err)
	}
	if token, err := a.Token(t.Context()); err != nil || token.Reveal() != "CANARY-newer" {
		t.Errorf("another token is used: %v", err)
	}
	if s.All()[0].Generation != 9 {
		t.Error("the newer grant was ended")
	}
}

func TestUnreadableSuccessKeepsTheMark(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]*refusal.Entry{
		`<PROSE-CANARY>`: refusal.OAuthTokenAnswer, `{"token_type":"Bearer"}`: refusal.OAuthTokenAnswer,
		`{"access_token":"CANARY","token_type":"DPoP"}`: refusal.OAuthTokenType,
	} {
		w, f, s := afterLogin(t)
		before := s.All()[0]
		w.Expire()
		w.On(tokenLine, oauthtest.JSON(200, body))
		_, err := call(t, w, f.Authorizer())
		refused(t, w, err, want)
		if after := s.All()[0]; !after.Presented || after.RefreshToken != before.RefreshToken {
			t.Errorf("%s: %+v", body, after)
		}
	}
}
