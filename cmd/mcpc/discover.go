package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/negotiate"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

const discoverLong = `Negotiate with a server, list its tools and print them. Nothing is kept: that is
what mcpc snapshot take is for.

With --json the answer is one discovery/1 document with the server's bytes as
received; see docs/json.md.`

func newDiscover(a *app) *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "discover SERVER",
		Short: "Negotiate, list the tools, print them; keep nothing",
		Long:  discoverLong,
		Example: `  mcpc discover everything
  mcpc discover https://mcp.example.com/mcp --json | jq -r '.tools[].name'
  mcpc discover --env PATH -- node server.js`,
		Annotations:       map[string]string{alsoUsed: "[flags] -- COMMAND [ARG]..."},
		ValidArgsFunction: a.completeServer,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.oneServer(cmd, args, t)
			if err != nil {
				return err
			}
			d, err := a.discover(cmd.Context(), s, false)
			if err != nil {
				return named(err, s)
			}
			return a.printDiscovery(s, d)
		},
	}
	a.addTarget(cmd, &t)
	return cmd
}

// discovery is a snapshot that may or may not be kept, with how its protocol was found.
type discovery struct {
	*snapshot.Snapshot
	because string
}

// discover opens a session, takes a snapshot in memory and closes the session. keep says that it will be stored.
func (a *app) discover(ctx context.Context, s *config.Server, keep bool) (*discovery, error) {
	c, err := a.converse(ctx, s)
	if err != nil {
		return nil, err
	}
	c.kept = keep
	defer c.end()
	session, err := negotiate.Open(ctx, c.dial, s, client)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return a.take(ctx, c, session)
}

// take lists the tools of an open session.
func (a *app) take(ctx context.Context, c *conversation, session *negotiate.Session) (*discovery, error) {
	s := c.server
	id, err := snapshot.IdentityOf(s)
	if err != nil {
		return nil, err
	}
	auth, err := c.app.signInContext(s)
	if err != nil {
		return nil, err
	}
	h := session.Handshake()
	list := c.app.listing(session)
	defer list.bar.clear()
	snap, err := snapshot.Take(ctx, list, snapshot.Context{
		Server:    id,
		Protocol:  h.Protocol,
		Recorded:  c.recorded(),
		Auth:      auth,
		Handshake: h.Result,
		Limits:    s.Limits,
	})
	if err != nil {
		return nil, err
	}
	return &discovery{snap, because(h)}, nil
}

func because(h negotiate.Handshake) string {
	if h.Because == "" {
		return "by " + h.Method
	}
	return "by " + h.Method + "; " + h.Because
}

func (a *app) printDiscovery(s *config.Server, d *discovery) error {
	if a.json {
		return a.streamJSON(func(w *bufio.Writer) { writeDiscovery(w, d) })
	}
	p := a.page()
	p.header(label(s), place(s))
	p.header("protocol", d.Protocol+"   ("+d.because+")")
	p.header("surface", d.ID.Short()+"   "+counts(d.Snapshot))
	if len(d.Tools) > 0 {
		p.line("")
	}
	p.tools(d.Tools)
	p.rejected(d.Rejected)
	for _, n := range d.Notes() {
		a.note("note: %s", terminal.Escape(n))
	}
	return p.flush()
}

// writeDiscovery writes the discovery/1 document, the server's bytes spliced in.
func writeDiscovery(w *bufio.Writer, d *discovery) {
	fmt.Fprintf(w, `{"mcpc":"discovery/1","server":%s,`+"\n", d.Server.AppendJSON(nil))
	fmt.Fprintf(w, `"protocol":%s,"id":%s,`+"\n", strictjson.Quote(d.Protocol), strictjson.Quote(string(d.ID)))
	fmt.Fprintf(w, `"handshake":%s,`+"\n"+`"tools":[`, d.Handshake)
	for i, t := range d.Tools {
		comma(w, i)
		fmt.Fprintf(w, "\n{\"name\":%s,\"digest\":%s,\"descriptor\":", strictjson.Quote(t.Name), strictjson.Quote(string(t.Digest)))
		_, _ = w.Write(t.Descriptor)
		_ = w.WriteByte('}')
	}
	_, _ = w.WriteString("],\n\"rejected\":[")
	for i, r := range d.Rejected {
		comma(w, i)
		fmt.Fprintf(w, "\n{\"page\":%d,\"index\":%d,\"reason\":%s,\"descriptor\":", r.Page, r.Index, strictjson.Quote(r.Reason))
		_, _ = w.Write(r.Descriptor)
		_ = w.WriteByte('}')
	}
	_, _ = w.WriteString("]}")
}

func comma(w io.ByteWriter, i int) {
	if i > 0 {
		_ = w.WriteByte(',')
	}
}

// place is where a server is: its transport, and its URL or command.
func place(s *config.Server) string {
	if s.HTTP != nil {
		return "http " + s.HTTP.URL
	}
	return "stdio " + strings.Join(s.Stdio.Command, " ")
}

func counts(s *snapshot.Snapshot) string {
	text := plural(len(s.Tools), "tool")
	if len(s.Rejected) > 0 {
		text += fmt.Sprintf(", %d rejected", len(s.Rejected))
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
