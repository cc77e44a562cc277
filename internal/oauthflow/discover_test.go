package oauthflow_test

import (
	"net/http"
	"strings"
	"testing"

	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/refusal"
)

const (
	pathForm  = "mcp GET /.well-known/oauth-protected-resource/mcp"
	rootForm  = "mcp GET /.well-known/oauth-protected-resource"
	authForm  = "as GET /.well-known/oauth-authorization-server"
	openForm  = "as GET /.well-known/openid-configuration"
	indexPage = "<!doctype html><title>PROSE-CANARY</title>"
)

func htmlPage() http.HandlerFunc { return oauthtest.Text(http.StatusOK, "text/html", indexPage) }

func missing() http.HandlerFunc {
	return oauthtest.Text(http.StatusNotFound, "text/plain", "Not Found")
}

// resourceDoc is a resource metadata document with the world's own authorization server.
func resourceDoc(w *oauthtest.World, resource string) http.HandlerFunc {
	return oauthtest.JSON(http.StatusOK, `{"resource":"`+resource+`","authorization_servers":["`+w.AS.URL+`"]}`)
}

func serverDoc(w *oauthtest.World, issuer, methods string) http.HandlerFunc {
	return oauthtest.JSON(http.StatusOK, `{"issuer":"`+issuer+`","authorization_endpoint":"`+w.AS.URL+`/authorize","token_endpoint":"`+
		w.AS.URL+`/token","registration_endpoint":"`+w.AS.URL+`/register","code_challenge_methods_supported":`+methods+`}`)
}

type discovery struct {
	name  string
	path  string // "/mcp" when not set; "-" for the bare origin
	set   func(w *oauthtest.World, f *oauthflow.Flow)
	want  *refusal.Entry // nil: the sign-in succeeds
	check func(t *testing.T, w *oauthtest.World, p *oauthflow.Plan, r *refusal.Refusal)
}

func detail(key string, want any) func(*testing.T, *oauthtest.World, *oauthflow.Plan, *refusal.Refusal) {
	return func(t *testing.T, _ *oauthtest.World, _ *oauthflow.Plan, r *refusal.Refusal) {
		if got := r.Detail(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func never(lines ...string) func(*testing.T, *oauthtest.World, *oauthflow.Plan, *refusal.Refusal) {
	return func(t *testing.T, w *oauthtest.World, _ *oauthflow.Plan, _ *refusal.Refusal) {
		for _, line := range lines {
			if len(w.Requests(line)) > 0 {
				t.Errorf("requested: %s", line)
			}
		}
	}
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	for _, c := range discoveries {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			path := c.path
			switch path {
			case "":
				path = "/mcp"
			case "-":
				path = ""
			}
			w := oauthtest.New(t, path)
			f, s := newFlow(t, w)
			c.set(w, f)
			p, err := f.Plan(t.Context(), nil)
			var r *refusal.Refusal
			if c.want != nil {
				r = refused(t, w, err, c.want)
				never("as POST /register", "as GET /authorize", "as POST /token")(t, w, p, r)
				if len(s.All()) != 0 {
					t.Error("something was stored")
				}
			} else if err != nil {
				t.Fatal(err)
			} else if _, err := f.Login(t.Context(), p, oauthflow.Ask{Open: oauthtest.Open}); err != nil {
				t.Fatal(err)
			}
			if c.check != nil {
				c.check(t, w, p, r)
			}
		})
	}
}

func TestEndpointsThatNoProgramMayOpen(t *testing.T) { // DISC-14
	t.Parallel()
	bad := []string{
		"file:///c:/windows/system32/calc.exe", "smb://host/share", "javascript:alert(1)", "http:$(touch x)", "https:///authorize",
		"http://as.example.com/authorize", "https://user:pw@as.example.com/a", "https://as.example.com/a#f", "//as.example.com/a",
		"https://as.example.com/a\nb", "https://as.example.com/\x1b[2J", "https://as.example.com/a b", "https://as.example.com:99999/",
		"mcpc://callback", "HTTPS", `https:\\as.example.com\a`, "https://as.example.com/\u202e",
	}
	for _, member := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"} {
		for _, u := range bad {
			w := oauthtest.New(t, "/mcp")
			w.Server(member, u)
			f, _ := newFlow(t, w)
			_, err := f.Plan(t.Context(), nil)
			r := refused(t, w, err, refusal.OAuthEndpointScheme)
			if r.Detail("member") != member {
				t.Errorf("%s %q: %v", member, u, r)
			}
		}
	}
}
