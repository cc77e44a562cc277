package oauthflow_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
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
			Clients: func(transport.Purpose) (*http.Client, error) { return &http.Client{Transport: silent{}}, nil },
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
