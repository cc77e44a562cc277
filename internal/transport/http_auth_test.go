package transport

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// signIn is an Authorizer that goes by a script and remembers what it was asked.
type signIn struct {
	tokens []string // one for each Token, the last for good
	again  []any    // for each Challenged: true, or the error
	calls  []string
	asked  int
}

func (s *signIn) Token(context.Context) (config.Secret, error) {
	token := s.tokens[min(s.asked, len(s.tokens)-1)]
	s.asked++
	return config.NewSecret(token), nil
}

func (s *signIn) Challenged(_ context.Context, used config.Secret, c Challenge) (bool, error) {
	s.calls = append(s.calls, http.StatusText(c.Status)+" "+used.Reveal()+" "+strings.Join(c.WWWAuthenticate, "|"))
	step := s.again[len(s.calls)-1]
	if err, ok := step.(error); ok {
		return false, err
	}
	return step == true, nil
}

func TestAuthorizer(t *testing.T) {
	t.Parallel()
	ok := rawJSON("200 OK", resultOf(1))
	no := rawJSON("401 No", "", "WWW-Authenticate: Bearer a", "WWW-Authenticate: Basic b")
	step := rawJSON("403 More", "", `WWW-Authenticate: bearer error="insufficient_scope"`)
	bare := rawJSON("403 No", "", `WWW-Authenticate: Basic realm="Bearer, x"`)
	scopes := refusal.New(refusal.OAuthScopeRequired)
	rows := []struct {
		name    string
		answers []string
		signIn  signIn
		sent    []string
		calls   []string
		want    *refusal.Entry
	}{
		{"token", []string{ok}, signIn{tokens: []string{"t1"}}, []string{"Bearer t1"}, nil, nil},
		{"no token", []string{ok}, signIn{tokens: []string{""}}, []string{""}, nil, nil},
		{
			"refreshed",
			[]string{no, ok},
			signIn{tokens: []string{"t1", "t2"}, again: []any{true}},
			[]string{"Bearer t1", "Bearer t2"},
			[]string{"Unauthorized t1 Bearer a|Basic b"},
			nil,
		},
		{
			"refreshed in vain",
			[]string{no},
			signIn{tokens: []string{"t1", "t2"}, again: []any{true}},
			[]string{"Bearer t1", "Bearer t2"},
			[]string{"Unauthorized t1 Bearer a|Basic b"},
			refusal.OAuthTokenRejected,
		},
		{
			"refused",
			[]string{no},
			signIn{tokens: []string{""}, again: []any{refusal.New(refusal.OAuthLoginRequired)}},
			[]string{""},
			[]string{"Unauthorized  Bearer a|Basic b"},
			refusal.OAuthLoginRequired,
		},
		{
			"step up",
			[]string{step},
			signIn{tokens: []string{"t1"}, again: []any{scopes}},
			[]string{"Bearer t1"},
			[]string{`Forbidden t1 bearer error="insufficient_scope"`},
			refusal.OAuthScopeRequired,
		},
		{
			"refreshed, then step up",
			[]string{no, step},
			signIn{tokens: []string{"t1", "t2"}, again: []any{true, scopes}},
			[]string{"Bearer t1", "Bearer t2"},
			[]string{"Unauthorized t1 Bearer a|Basic b", `Forbidden t2 bearer error="insufficient_scope"`},
			refusal.OAuthScopeRequired,
		},
		{
			"never a third try",
			[]string{no, step, ok},
			signIn{tokens: []string{"t1"}, again: []any{true, true}},
			[]string{"Bearer t1", "Bearer t1"},
			[]string{"Unauthorized t1 Bearer a|Basic b", `Forbidden t1 bearer error="insufficient_scope"`},
			refusal.OAuthTokenRejected,
		},
		{
			"403 of the method",
			[]string{bare},
			signIn{tokens: []string{"t1"}},
			[]string{"Bearer t1"},
			nil,
			refusal.TransportMethodRefused,
		},
		{
			"not a refusal",
			[]string{no},
			signIn{tokens: []string{"t1"}, again: []any{errors.New("secret text")}},
			[]string{"Bearer t1"},
			[]string{"Unauthorized t1 Bearer a|Basic b"},
			refusal.Internal,
		},
		{"token no header carries", []string{ok}, signIn{tokens: []string{"t\r\nX: y"}}, nil, nil, refusal.SourceNotText},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, inTurn(row.answers...))
			c := dialRaw(t, s.url, func(o *HTTPOptions) { o.Authorizer = &row.signIn })
			c.Use(modern)
			_, f := exchange1(t, c, "tools/call")
			if row.want != nil {
				wantRefusal(t, f, row.want)
				if f.Sent || f.Cause != "" || (f.Challenge == nil) != (row.calls == nil) {
					t.Errorf("got %+v", f)
				}
			} else if f != nil {
				t.Fatal(f)
			}
			var sent []string
			for _, r := range s.requests() {
				sent = append(sent, r.header.Get("Authorization"))
				if r.body != s.requests()[0].body {
					t.Errorf("another body: %s", r.body)
				}
			}
			if diff := cmp.Diff(row.sent, sent); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.calls, row.signIn.calls); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfiguredCredentialRefused(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, always(rawFile(t, "http/401-none.http")))
	c := dialRaw(t, s.url, func(o *HTTPOptions) { o.Headers = []SecretHeader{{"X-Key", config.NewSecret("k")}} })
	_, f := exchange1(t, c, "server/discover")
	wantRefusal(t, f, refusal.SourceRejected)
	if f.Status != 401 || f.Refusal.Detail("status") != int64(401) {
		t.Errorf("got %+v", f)
	}
}

// Where nobody has signed in, what was refused is the configured header, and a sign-in is the hint.
func TestConfiguredCredentialRefusedBesideASignIn(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, always(rawFile(t, "http/401-none.http")))
	c := dialRaw(t, s.url, func(o *HTTPOptions) {
		o.Headers = []SecretHeader{{"X-Key", config.NewSecret("k")}}
		o.Authorizer = &signIn{tokens: []string{""}, again: []any{refusal.New(refusal.OAuthLoginRequired).Hint("mcpc login s")}}
	})
	_, f := exchange1(t, c, "server/discover")
	wantRefusal(t, f, refusal.SourceRejected)
	if f.Refusal.HintText() != "mcpc login s" {
		t.Errorf("hint %q", f.Refusal.HintText())
	}
}

func TestUnsendableHeader(t *testing.T) {
	t.Parallel()
	for _, h := range []SecretHeader{{"X-Key", config.NewSecret("a\nb")}, {"X Key", config.NewSecret("a")}} {
		server := &config.Server{HTTP: &config.HTTP{URL: "https://h/"}, Limits: config.DefaultLimits()}
		o := HTTPOptions{Server: server, Headers: []SecretHeader{h}}
		if c, err := DialHTTP(o); !refusal.Is(err, refusal.SourceNotText) || c != nil {
			t.Errorf("got %v, %v", c, err)
		}
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		`Bearer`:                                 true,
		`BEARER realm="x"`:                       true,
		`Basic realm="a, b", Bearer error="x"`:   true,
		`Basic realm="a\", Bearer x"`:            false,
		`Basic realm="Bearer"`:                   false,
		`Bearerx a=b`:                            false,
		`Negotiate abc==, DPoP algs="ES256"`:     false,
		`Digest qop="auth, Bearer", Bearer`:      true,
		``:                                       false,
		`Basic realm="unclosed, Bearer error="x`: false,
	} {
		if got := bearer([]string{value}); got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}

// target records whatever arrives there.
type target struct {
	mu   sync.Mutex
	seen []http.Header
}

func (r *target) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, q.Header)
}

// TestRedirectsCarryNothing: six attackers answer a POST with a redirect, in every status, in both eras; no request
// arrives anywhere but at the configured endpoint.
func TestRedirectsCarryNothing(t *testing.T) {
	t.Parallel()
	plain, secure := &target{}, &target{}
	plainServer := newPlainServer(t, plain)
	secureServer := tlsServer(t, nil, secure.ServeHTTP)
	locations := map[string]struct{ from, to, difference string }{
		"other port": {"http", plainServer, "in the port"},
		"sub-domain": {
			"https", "https://evil.mcp.example.com:" + mustURL(t, secureServer.URL).Port() + "/mcp", "in the host",
		},
		"downgrade":  {"https", plainServer, "in the scheme"},
		"cross-host": {"http", "http://localhost:" + mustURL(t, plainServer).Port() + "/mcp", "in the host"},
		"userinfo":   {"http", "http://user:pw@" + strings.TrimPrefix(plainServer, "http://"), "in the port"},
		"loop":       {"http", "/mcp", "in nothing"},
	}
	for name, row := range locations {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for era, use := range map[string]Protocol{"modern": modern, "legacy": legacy} {
				t.Run(name+" "+http.StatusText(status)+" "+era, func(t *testing.T) {
					t.Parallel()
					mine := &target{}
					attacker := func(w http.ResponseWriter, r *http.Request) {
						if r.Method != http.MethodGet { // of which none may follow either, and which may come too late
							mine.ServeHTTP(w, r)
						}
						w.Header().Set("Location", row.to)
						w.WriteHeader(status)
					}
					url, ca := newPlainServer(t, http.HandlerFunc(attacker)), ""
					if row.from == "https" {
						s := tlsServer(t, nil, attacker)
						url, ca = "https://example.com:"+mustURL(t, s.URL).Port()+"/mcp", certificateFile(t, s)
					}
					c := dialRaw(t, url, func(o *HTTPOptions) {
						o.Headers = []SecretHeader{{"X-Key", config.NewSecret("k")}}
						o.Authorizer = &signIn{tokens: []string{"t"}}
						o.Server.HTTP.CAFile = ca
						o.Resolver = names(func(string, int) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
					})
					c.Use(use)
					c.state.session = "s1"
					_, f := exchange1(t, c, "tools/call")
					wantRefusal(t, f, refusal.TransportRedirect)
					if f.Status != status || f.Refusal.Detail("difference") != row.difference || f.Cause != "" {
						t.Errorf("got %+v %v", f, f)
					}
					f = httpFailure(t, c.Notify(t.Context(), &Request{Method: "notifications/initialized"}))
					wantRefusal(t, f, refusal.TransportRedirect)
					_ = c.Close()
					if n := len(mine.seen); n != 3 { // the DELETE included
						t.Errorf("the endpoint saw %d requests", n)
					}
				})
			}
		}
	}
	t.Cleanup(func() {
		if n := len(plain.seen) + len(secure.seen); n > 0 {
			t.Errorf("%d requests followed a redirect: %v %v", n, plain.seen, secure.seen)
		}
	})
}

func newPlainServer(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String() + "/mcp"
}

// TestErrorsHoldNoSecretsAndNoPeerText: everything that is said is ours.
func TestErrorsHoldNoSecretsAndNoPeerText(t *testing.T) {
	t.Parallel()
	canary := "canary-4711"
	for _, raw := range []string{
		rawJSON("400 "+canary, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"`+canary+`","data":"`+
			canary+`"}}`, "X: "+canary),
		rawBody("200 OK", canary+"/html", canary),
		rawBody("502 "+canary, "text/html", canary, "Retry-After: "+canary),
		rawJSON("200 OK", canary),
		rawStream("event: " + canary + "\nid: " + canary + "\n\n" + eventOf(canary)),
		canary + "\r\n\r\n",
		"HTTP/1.1 302 " + canary + "\r\nLocation: https://" + canary + "/\r\nContent-Length: 0\r\n\r\n",
		rawJSON("401 No", "", `WWW-Authenticate: Bearer error_description="`+canary+`"`),
		rawJSON("200 OK", "{}", "Content-Encoding: "+canary),
		"HTTP/1.1 200 OK\r\n" + canary + "\r\n\r\n",
	} {
		s := newRawServer(t, always(raw))
		c := dialRaw(t, s.url+"?key="+canary, func(o *HTTPOptions) {
			o.Authorizer = &signIn{tokens: []string{canary}, again: []any{refusal.New(refusal.OAuthLoginRequired)}}
			o.Headers = []SecretHeader{{"X-Key", config.NewSecret(canary)}}
		})
		c.Use(legacy)
		_, err := c.Exchange(t.Context(), &Request{Method: "tools/call", Params: []byte(`{"a":"` + canary + `"}`)}, nil)
		f := httpFailure(t, err)
		if f == nil {
			t.Fatalf("no failure for %q", raw)
		}
		document, _ := f.Refusal.MarshalJSON()
		if said := f.Error() + string(document) + f.Refusal.HintText(); strings.Contains(said, canary) {
			t.Errorf("%q: %s", raw, said)
		}
	}
}
