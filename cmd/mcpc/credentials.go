package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
)

const logoutLong = `Forget the credential of a server, after asking the authorization server to
revoke it where it offers that. Nothing is kept here, whatever comes of that,
and what came of it is said.`

func newLogout(a *app) *cobra.Command {
	var noRevoke bool
	cmd := &cobra.Command{
		Use:               "logout SERVER",
		Short:             "Forget the credential, and revoke it where that is offered",
		Long:              logoutLong,
		ValidArgsFunction: a.completeHTTPServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.oneServer(cmd, args, target{})
			if err != nil {
				return err
			}
			return named(a.logout(cmd.Context(), s, !noRevoke), s)
		},
	}
	cmd.Flags().BoolVar(&noRevoke, "no-revoke", false, "forget it here only")
	return cmd
}

func (a *app) logout(ctx context.Context, s *config.Server, revoke bool) error {
	f, err := a.flow(s, true)
	if err != nil {
		return err
	}
	gone, err := f.Logout(ctx, revoke)
	if err != nil {
		return err
	}
	if a.json {
		docs := make([]string, len(gone))
		for i, g := range gone {
			docs[i] = fmt.Sprintf(`{"issuer":%s,"revocation":%q}`, strictjson.Quote(g.Issuer), g.Revocation)
		}
		return a.printJSON([]byte(`{"mcpc":"logged-out/1","credentials":[` + strings.Join(docs, ",") + `]}`))
	}
	p := a.page()
	if len(gone) == 0 {
		p.line("nothing was stored for " + p.safe(label(s)))
	}
	for _, g := range gone {
		p.linef("forgot the credential of %s; revocation: %s", p.safe(g.Issuer), g.Revocation)
	}
	if err := p.flush(); err != nil {
		return err
	}
	for _, g := range gone {
		if g.Revocation == oauthflow.RevocationFailed {
			a.note("note: the authorization server did not confirm the revocation; its tokens end by themselves")
		}
	}
	return nil
}

const credentialsLong = `Without COMMAND, list the stored credentials: resource, issuer, scopes and
expiry; never a secret. They are read from the clear heads of the sealed files,
without a key.`

func newCredentials(a *app) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the stored credentials", Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return a.listCredentials() },
	}
	show := &cobra.Command{
		Use: "show SERVER", Short: "Show the credential that requests to one server use", ValidArgsFunction: a.completeHTTPServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.oneServer(cmd, args, target{})
			if err != nil {
				return err
			}
			return named(a.showCredential(s), s)
		},
	}
	c := group("credentials", "List what is stored; never a secret", credentialsLong, list, show)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := unknownCommand(cmd, args); err != nil {
			return err
		}
		return a.listCredentials()
	}
	return c
}

func (a *app) listCredentials() error {
	c, err := a.custody(config.DefaultLimits(), false)
	if err != nil {
		return err
	}
	entries, err := c.List()
	if err != nil {
		return err
	}
	if a.json {
		docs := make([]string, len(entries))
		for i := range entries {
			docs[i] = credentialDocument(&entries[i])
		}
		return a.printJSON([]byte("[" + strings.Join(docs, ",\n") + "]"))
	}
	p := a.page()
	rows := [][]string{{"RESOURCE", "ISSUER", "SCOPES", "EXPIRES"}}
	for i := range entries {
		e := &entries[i]
		scopes := p.safe(strings.Join(e.Scopes, " "))
		rows = append(rows, []string{p.safe(e.Resource), p.safe(e.Issuer), scopes, lifeText(e.Expiry, e.Refreshable, a.now())})
	}
	if len(entries) == 0 {
		a.note("no credentials are stored; mcpc login SERVER makes one")
	} else {
		p.rows(rows)
	}
	return p.flush()
}

func (a *app) showCredential(s *config.Server) error {
	if s.HTTP == nil {
		return refusal.New(refusal.Usage, refusal.Own("reason", "sign-in is for servers reached by HTTP"))
	}
	e, err := a.credentialInUse(s)
	if err != nil {
		return err
	}
	if e == nil {
		return refusal.New(refusal.OAuthLoginRequired).Hint("mcpc login " + word(s))
	}
	if a.json {
		return a.printJSON([]byte(credentialDocument(e)))
	}
	p := a.page()
	p.header("resource", e.Resource)
	p.header("issuer", e.Issuer)
	p.header("client", e.ClientID)
	p.header("scopes", strings.Join(e.Scopes, " "))
	p.header("expires", lifeText(e.Expiry, e.Refreshable, a.now()))
	p.header("handle", e.Handle)
	return p.flush()
}

func credentialDocument(e *store.Entry) string {
	q := strictjson.Quote
	return fmt.Sprintf(`{"mcpc":"credential/1","resource":%s,"issuer":%s,"client":%s,"scopes":%s,"expires":%s,"renews":%t,"handle":%s}`,
		q(e.Resource), q(e.Issuer), q(e.ClientID), quoteList(e.Scopes), quoteTime(e.Expiry), e.Refreshable, q(e.Handle))
}
