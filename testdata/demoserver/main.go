// Command demoserver is a small weather station that speaks MCP, for demonstrations and for end-to-end tests.
//
// It is built on the official SDK, so that mcpc is tried against an implementation that is not its own. It speaks both
// eras of the protocol over stdio and over Streamable HTTP on loopback, and it can change its mind: once its state file
// says so, one tool describes itself differently. It is no example of a good server; it holds the awkward cases on
// purpose.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// options are the command line.
type options struct {
	era    string // "dual", "modern" or "legacy"
	http   string // HOST:PORT to listen on; "" for stdio
	json   bool   // answer HTTP with JSON bodies instead of event streams
	ready  string // file that receives the URL once the server listens; "" for none
	state  string // file that remembers the firmware across processes; "" keeps it in memory
	mutate bool   // install the firmware update and exit
	issuer string // authorization server whose tokens are needed; "" leaves the server open
	client string // ID:SECRET of this server's client there, for asking about tokens
	page   int    // tools on a page of the list; 0 for all of them
}

func main() {
	var o options
	flag.StringVar(&o.era, "era", "dual", "protocols to speak: dual, modern or legacy")
	flag.StringVar(&o.http, "http", "", "listen on this loopback HOST:PORT in place of stdio")
	flag.BoolVar(&o.json, "json", false, "answer HTTP with JSON bodies instead of event streams")
	flag.StringVar(&o.ready, "ready", "", "write the URL to this file once the server listens")
	flag.StringVar(&o.state, "state", "", "remember the firmware in this file")
	flag.BoolVar(&o.mutate, "mutate", false, "install the firmware update, so that later lists differ, and exit")
	flag.StringVar(&o.issuer, "issuer", "", "over HTTP, demand tokens of this authorization server")
	flag.StringVar(&o.client, "client", "", "`ID:SECRET` of this server's client there, to ask about tokens with")
	flag.IntVar(&o.page, "page", 0, "how many tools a page of the list has; 0 for all on one")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "demoserver:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends or, on stdio, until the client hangs up.
func run(ctx context.Context, o options) error {
	fw := &firmware{path: o.state}
	if o.mutate {
		if err := fw.update(); err != nil {
			return err
		}
		fmt.Println("firmware updated")
		return nil
	}
	versions, err := versionsOf(o.era)
	if err != nil {
		return err
	}
	s := newServer(versions, fw, o.page)
	if o.http == "" {
		return s.Run(ctx, &mcp.StdioTransport{})
	}
	return serveHTTP(ctx, o, s)
}

// Protocol versions, which compare as the dates they are.
const (
	modernVersion = "2026-07-28"
	legacyVersion = "2025-11-25"
)

// versionsOf maps an era to the protocol versions offered.
func versionsOf(era string) ([]string, error) {
	switch era {
	case "dual":
		return []string{modernVersion, legacyVersion}, nil
	case "modern":
		return []string{modernVersion}, nil
	case "legacy":
		return []string{legacyVersion}, nil
	}
	return nil, fmt.Errorf("no era %q: dual, modern or legacy", era)
}

// serveHTTP listens on loopback only: a demonstration has no business on a network.
func serveHTTP(ctx context.Context, o options, s *mcp.Server) error {
	l, err := net.Listen("tcp", o.http)
	if err != nil {
		return err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return fmt.Errorf("%s is not a loopback address", l.Addr())
	}
	url := "http://" + l.Addr().String() + "/mcp"
	mux, err := muxOf(ctx, o, s, url)
	if err != nil {
		return err
	}
	fmt.Println(url)
	if o.ready != "" {
		if err := os.WriteFile(o.ready, []byte(url+"\n"), 0o600); err != nil {
			return err
		}
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close() // open streams end with the process; nobody waits for them
	}()
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// muxOf puts the server at its path, behind tokens where the options name an issuer.
func muxOf(ctx context.Context, o options, s *mcp.Server, url string) (*http.ServeMux, error) {
	mux := http.NewServeMux()
	if o.issuer == "" {
		mux.Handle("/mcp", handlerOf(o, s))
		return mux, nil
	}
	p, err := protect(ctx, o.issuer, o.client, url)
	if err != nil {
		return nil, err
	}
	p.register(mux, handlerOf(o, s))
	return mux, nil
}

// handlerOf serves the eras asked for. The SDK's handler is of one kind or the other: sessions exist in the legacy era
// only, and the modern era only without them. The version header tells them apart, which initialize does not have.
func handlerOf(o options, s *mcp.Server) http.Handler {
	serverFor := func(*http.Request) *mcp.Server { return s }
	modern := mcp.NewStreamableHTTPHandler(serverFor, &mcp.StreamableHTTPOptions{JSONResponse: o.json, Stateless: true})
	legacy := mcp.NewStreamableHTTPHandler(serverFor, &mcp.StreamableHTTPOptions{JSONResponse: o.json})
	switch o.era {
	case "modern":
		return modern
	case "legacy":
		return legacy
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") > legacyVersion {
			modern.ServeHTTP(w, r)
			return
		}
		legacy.ServeHTTP(w, r)
	})
}
