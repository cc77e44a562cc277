package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

const loginLong = `Sign in to a server with OAuth and keep the credential, sealed and bound to the
server and its issuer. This is the only command that opens a browser.

--explain prints what would happen and where each part of it came from, and
stops before the browser. --no-browser prints the URL on a line of its own, and
waits for the callback: on the listener, or pasted back as the address at which
the browser ended. Ctrl-C, a denial and the deadline leave nothing behind.`

type loginOptions struct {
	scopes    []string
	noBrowser bool
	explain   bool
	callback  string
	metadata  string
}

func newLogin(a *app) *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Sign in with OAuth and keep the credential",
		Long:  loginLong,
		Example: `  mcpc login docs --explain
  mcpc login docs
  mcpc login https://mcp.example.com/mcp --scope read --no-browser`,
		ValidArgsFunction: a.completeHTTPServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.metadata != "" {
				return a.printClientMetadata(o)
			}
			s, err := a.oneServer(cmd, args, target{})
			if err != nil {
				return err
			}
			return named(a.login(cmd.Context(), s, o), s)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.scopes, "scope", nil, "ask for this `SCOPE` too (repeatable)")
	f.BoolVar(&o.noBrowser, "no-browser", false, "print the URL; take the callback pasted back")
	f.BoolVar(&o.explain, "explain", false, "say what would happen and why, and stop")
	f.StringVar(&o.callback, "callback", "", "listen on this loopback `HOST:PORT`")
	f.StringVar(&o.metadata, "print-client-metadata", "", "print the client document to host at `URL`")
	return cmd
}

func (a *app) printClientMetadata(o loginOptions) error {
	doc, err := oauthflow.ClientMetadata(o.metadata, o.callback)
	if err != nil {
		return err
	}
	return a.printJSON(doc)
}

func (a *app) login(ctx context.Context, s *config.Server, o loginOptions) error {
	s = withCallback(s, o.callback)
	f, err := a.flow(s, true)
	if err != nil {
		return err
	}
	plan, err := f.Plan(ctx, o.scopes)
	if o.explain && plan != nil {
		return cmp.Or(a.explain(plan), err)
	}
	if err != nil {
		return err
	}
	granted, err := f.Login(ctx, plan, a.ask(plan, o.noBrowser))
	if err != nil {
		return err
	}
	return a.signedIn(granted)
}

// withCallback returns the server with the callback of the command line.
func withCallback(s *config.Server, callback string) *config.Server {
	if callback == "" {
		return s
	}
	copied, oauth := *s, config.OAuth{}
	if s.OAuth != nil {
		oauth = *s.OAuth
	}
	oauth.Callback = callback
	copied.OAuth = &oauth
	return &copied
}

// ask is how a person takes part: a browser and a line that says so, or the URL and a prompt.
func (a *app) ask(plan *oauthflow.Plan, noBrowser bool) oauthflow.Ask {
	host := hostOf(plan.AuthorizationEndpoint)
	if noBrowser {
		return oauthflow.Ask{
			Open: func(_ context.Context, u string) error {
				fmt.Fprintf(a.stderr, "Open this URL in a browser:\n\n%s\n\n", terminal.Escape(u))
				fmt.Fprintln(a.stderr, "When it ends at an address that does not load, paste that address here.")
				return nil
			},
			Paste: a.paste,
		}
	}
	return oauthflow.Ask{Open: func(_ context.Context, u string) error {
		if !a.json { // then stderr is for a refusal alone
			fmt.Fprintf(a.stderr, "Opening %s in your browser. Waiting on %s, Ctrl-C to stop.\n", terminal.Escape(host), callbackOf(u))
		}
		return oauthflow.OpenBrowser(u, a.getenv("BROWSER"), a.withoutSecrets())
	}}
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// callbackOf is the listener's address, which is in the URL that the browser opens.
func callbackOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return hostOf(u.Query().Get("redirect_uri"))
}

// paste reads one line from the terminal, or from stdin where that is piped.
func (a *app) paste(ctx context.Context) (string, error) {
	in := a.stdin
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil && a.errTTY {
		defer tty.Close()
		in = tty
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReaderSize(in, 16<<10).ReadString('\n')
		read <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-read:
		if l.text == "" {
			<-ctx.Done() // nobody pastes; the listener may still hear the callback
			return "", ctx.Err()
		}
		return l.text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (a *app) explain(plan *oauthflow.Plan) error {
	if a.json {
		return a.printJSON(planDocument(plan))
	}
	p := a.page()
	row := func(name, value, from string) {
		text := pad(name, 14) + "  " + p.safe(value)
		if from != "" {
			text = pad(text, 44) + "  " + p.safe(from)
		}
		p.line(text)
	}
	row("resource", plan.Resource, "")
	row("", "from "+plan.ResourceMetadata, plan.ResourceFrom)
	row("issuer", plan.Issuer, "")
	row("", "from "+plan.ServerMetadata, "")
	row("registration", plan.Registration, "")
	if plan.ClientID != "" {
		row("", plan.ClientID, "")
	}
	for i, s := range plan.Scopes {
		name := ""
		if i == 0 {
			name = "scopes"
		}
		row(name, s.Token, s.From)
	}
	if len(plan.Scopes) == 0 {
		row("scopes", "none asked for", "")
	}
	row("sign-in at", plan.AuthorizationEndpoint, "")
	row("callback", "http://"+strings.Replace(plan.Callback, ":0", ":PORT", 1)+"/callback", "")
	row("will store", fmt.Sprintf("one sealed credential for (%s, %s)", plan.Endpoint, plan.Issuer), "")
	return p.flush()
}

func planDocument(plan *oauthflow.Plan) []byte {
	scopes := make([]string, len(plan.Scopes))
	for i, s := range plan.Scopes {
		scopes[i] = fmt.Sprintf(`{"scope":%s,"from":%s}`, strictjson.Quote(s.Token), strictjson.Quote(s.From))
	}
	q := strictjson.Quote
	return fmt.Appendf(nil, `{"mcpc":"sign-in/1","endpoint":%s,"resource":%s,"resourceMetadata":%s,"resourceFrom":%s,`+
		`"issuer":%s,"serverMetadata":%s,"authorizationEndpoint":%s,"tokenEndpoint":%s,"registration":%s,"callback":%s,"scopes":[%s]}`,
		q(plan.Endpoint), q(plan.Resource), q(plan.ResourceMetadata), q(plan.ResourceFrom), q(plan.Issuer), q(plan.ServerMetadata),
		q(plan.AuthorizationEndpoint), q(plan.TokenEndpoint), q(plan.Registration), q(plan.Callback), strings.Join(scopes, ","))
}

func (a *app) signedIn(g *oauthflow.Granted) error {
	if a.json {
		return a.printJSON(grantedDocument(g))
	}
	p := a.page()
	p.linef("signed in to %s by %s", p.safe(g.Resource), p.safe(g.Issuer))
	p.linef("%s; %s", scopeText(p, g.Scopes), lifeText(g.Expiry, g.Refreshable, a.now()))
	if err := p.flush(); err != nil {
		return err
	}
	if len(g.NotGranted) > 0 {
		a.note("note: not granted: %s", terminal.Escape(strings.Join(g.NotGranted, " ")))
	}
	return nil
}

func grantedDocument(g *oauthflow.Granted) []byte {
	return fmt.Appendf(nil, `{"mcpc":"signed-in/1","resource":%s,"issuer":%s,"client":%s,"scopes":%s,"expires":%s,"renews":%t}`,
		strictjson.Quote(g.Resource), strictjson.Quote(g.Issuer), strictjson.Quote(g.ClientID), quoteList(g.Scopes), quoteTime(g.Expiry), g.Refreshable)
}

func scopeText(p *page, scopes []string) string {
	if len(scopes) == 0 {
		return "no scopes named"
	}
	return "scopes " + p.safe(strings.Join(scopes, " "))
}

// lifeText says when an access token ends, relative to now.
func lifeText(expiry time.Time, renews bool, now time.Time) string {
	var text string
	switch left := expiry.Sub(now).Round(time.Second); {
	case expiry.IsZero():
		text = "expiry not told"
	case left <= 0:
		text = "expired"
	case left < 2*time.Minute:
		text = fmt.Sprintf("in %d s", int(left.Seconds()))
	case left < 2*time.Hour:
		text = fmt.Sprintf("in %d min", int(left.Minutes()))
	case left < 48*time.Hour:
		text = fmt.Sprintf("in %d h", int(left.Hours()))
	default:
		text = fmt.Sprintf("in %d days", int(left.Hours()/24))
	}
	if renews {
		text += ", renews"
	}
	return text
}

func quoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = string(strictjson.Quote(s))
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func quoteTime(t time.Time) string {
	if t.IsZero() {
		return "null"
	}
	return string(strictjson.Quote(t.UTC().Format(time.RFC3339)))
}
