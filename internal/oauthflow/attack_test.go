package oauthflow_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

const (
	honestMCP = "https://mcp.example.com"
	honestAS  = "https://as.example.com"
)

// attackers are where a redirect may lead that must not be followed with anything in hand.
var attackers = map[string]string{
	"other port":   "https://as.example.com:8443/steal",
	"sub-domain":   "https://evil.as.example.com/steal",
	"parent":       "https://example.com/steal",
	"downgrade":    "http://as.example.com/steal",
	"cross-host":   "https://evil.example.net/steal",
	"userinfo":     "https://user:pw@as.example.com/steal",
	"no scheme":    "//evil.example.net/steal",
	"other scheme": "ftp://as.example.com/steal",
}

func namedFlow(t *testing.T, w *oauthtest.World, n *oauthtest.Network) (*oauthflow.Flow, *oauthtest.Store) {
	t.Helper()
	f, s := newFlow(t, w)
	f.Endpoint = n.MCP + "/mcp"
	f.Clients = func(transport.Purpose) (*http.Client, error) { return &http.Client{Transport: n}, nil }
	return f, s
}

func openIn(n *oauthtest.Network) oauthflow.Ask {
	return oauthflow.Ask{Open: func(ctx context.Context, u string) error {
		req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		resp, err := (&http.Client{Transport: n}).Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}}
}

func TestRedirectsCarryNothing(t *testing.T) {
	t.Parallel()
	stages := []string{
		"mcp POST /mcp", pathForm, rootForm, authForm, openForm, registerLine, tokenLine, "as POST /revoke", "refresh",
	}
	for name, target := range attackers {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, stage := range stages {
				t.Run(fmt.Sprintf("%s_%d_%s", name, status, stage), func(t *testing.T) {
					t.Parallel()
					w := oauthtest.New(t, "/mcp")
					n := w.Named(honestMCP, honestAS)
					f, s := namedFlow(t, w, n)
					redirect := func(rw http.ResponseWriter, _ *http.Request) {
						rw.Header().Set("Location", target)
						rw.WriteHeader(status)
					}
					if stage != "refresh" {
						w.On(stage, redirect)
					}
					p, err := f.Plan(t.Context(), nil)
					if err == nil {
						_, err = f.Login(t.Context(), p, openIn(n))
					}
					if stage == "refresh" && err == nil {
						w.On(tokenLine, redirect)
						before := s.All()[0]
						_, err = f.Authorizer().Challenged(t.Context(), before.AccessToken, transport.Challenge{Status: 401})
						refused(t, w, err, refusal.TransportRedirect)
						if s.All()[0].RefreshToken != before.RefreshToken {
							t.Error("the redirect touched the credential")
						}
					}
					if r, ok := refusal.As(err); ok {
						clean(t, w, r)
					} else if err != nil {
						t.Fatal(err)
					}
					if stage == "as POST /revoke" {
						if gone, err := f.Logout(t.Context(), true); err != nil || gone[0].Revocation != oauthflow.RevocationFailed {
							t.Errorf("%+v %v", gone, err)
						}
					}
					if got := n.Strangers(); len(got) > 0 {
						t.Errorf("an attacker received %q", got)
					}
				})
			}
		}
	}
}

func TestMetadataRedirectLoopEnds(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{pathForm, authForm} {
		w := oauthtest.New(t, "/mcp")
		n := w.Named(honestMCP, honestAS)
		f, _ := namedFlow(t, w, n)
		w.On(stage, func(rw http.ResponseWriter, req *http.Request) {
			http.Redirect(rw, req, req.URL.Path, http.StatusFound)
		})
		_, err := f.Plan(t.Context(), nil)
		if _, ok := refusal.As(err); !ok {
			t.Errorf("%s: %v", stage, err)
		}
		if got := len(w.Requests(stage)); got != 4 {
			t.Errorf("%s: %d requests", stage, got)
		}
	}
}

// A remote server must not lead mcpc to this machine over plain http.
func TestRemoteServerNamesLoopback(t *testing.T) {
	t.Parallel()
	for _, member := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint"} {
		w := oauthtest.New(t, "/mcp")
		n := w.Named(honestMCP, honestAS)
		f, _ := namedFlow(t, w, n)
		w.Server(member, w.AS.URL+"/x")
		_, err := f.Plan(t.Context(), nil)
		refused(t, w, err, refusal.OAuthEndpointScheme)
	}
	w := oauthtest.New(t, "/mcp")
	n := w.Named(honestMCP, honestAS)
	f, _ := namedFlow(t, w, n)
	w.Resource("authorization_servers", []string{w.AS.URL})
	_, err := f.Plan(t.Context(), nil)
	refused(t, w, err, refusal.OAuthEndpointScheme)
	never(authForm)(t, w, nil, nil)
}

func TestCookiesAreNotKept(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	w.On(pathForm, func(rw http.ResponseWriter, r *http.Request) {
		http.SetCookie(rw, &http.Cookie{Name: "track", Value: "1", Path: "/"})
		resourceDoc(w, w.Endpoint())(rw, r)
	})
	mustLogin(t, f)
	mustLogin(t, f)
	for _, line := range []string{"mcp POST /mcp", pathForm, authForm, registerLine, tokenLine} {
		for _, r := range w.Requests(line) {
			if r.Header.Get("Cookie") != "" {
				t.Errorf("%s sends a cookie", line)
			}
		}
	}
}

// The headers configured for the endpoint go to the endpoint alone.
func TestConfiguredHeadersStayAtTheEndpoint(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	f.Headers = func(context.Context) (http.Header, error) { return http.Header{"X-Api-Key": {"CANARY-KEY"}}, nil }
	mustLogin(t, f)
	if got := w.Requests("mcp POST /mcp")[0].Header.Get("X-Api-Key"); got != "CANARY-KEY" {
		t.Errorf("header %q", got)
	}
	for _, line := range []string{pathForm, authForm, registerLine, tokenLine, "as GET /authorize"} {
		if got := w.Requests(line)[0].Header.Get("X-Api-Key"); got != "" {
			t.Errorf("%s has the header", line)
		}
	}
}
