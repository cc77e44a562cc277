package oauthflow

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// received is the answer of the authorization server, by way of the browser.
type received struct {
	code    config.Secret
	refusal *refusal.Refusal
}

// receiver is the loopback listener of one sign-in. It takes one answer; everything else that reaches it ends nothing
// and is told nothing.
type receiver struct {
	addr      address
	listeners []net.Listener
	name      string // of the server, for the page
	endpoint  string // its URL, where that is not the name
	expect    expectation
	results   chan received // holds the one answer
	taken     sync.Once
	outcome   chan struct{} // closed when the sign-in's end is known
	failed    *refusal.Refusal
	written   chan struct{} // closed when the browser has its page
	server    *http.Server
}

// listen binds the callback address: exactly the host that the redirect URI will name, and for localhost both
// loopback addresses on one port, since the browser's resolver decides which it tries.
func listen(want address) (*receiver, *refusal.Refusal) {
	for range 8 { // a free port of one family may be taken in the other
		rcv, retry := bind(want)
		if rcv != nil {
			return rcv, nil
		}
		if !retry {
			break
		}
	}
	return nil, refusal.New(refusal.OAuthCallbackBusy, refusal.Own("callback", want.String())).
		Hint(`name another address as "callback" under "oauth" in the configuration, or with --callback`)
}

func bind(want address) (rcv *receiver, retry bool) {
	hosts := []string{want.host}
	if want.host == "localhost" {
		hosts = []string{"127.0.0.1", "::1"}
	}
	rcv = &receiver{
		addr: want, results: make(chan received, 1), outcome: make(chan struct{}), written: make(chan struct{}),
	}
	for _, host := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(rcv.addr.port))))
		if err != nil && host == "::1" && len(rcv.listeners) > 0 && !hasIPv6() {
			continue
		}
		if err != nil {
			rcv.close()
			return nil, want.port == 0
		}
		rcv.listeners = append(rcv.listeners, l)
		rcv.addr.port = uint16(l.Addr().(*net.TCPAddr).Port) // #nosec G115 -- a port
	}
	return rcv, false
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

func (rcv *receiver) close() {
	for _, l := range rcv.listeners {
		_ = l.Close()
	}
	if rcv.server != nil {
		_ = rcv.server.Close()
	}
}

// serve begins to answer. It is called once, when the expectation is known.
func (rcv *receiver) serve(name, endpoint string, e expectation) {
	rcv.name, rcv.expect = name, e
	if endpoint != name {
		rcv.endpoint = endpoint
	}
	rcv.server = &http.Server{
		Handler: rcv, MaxHeaderBytes: 32 << 10, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	for _, l := range rcv.listeners {
		go rcv.server.Serve(l) //nolint:errcheck // ends with close
	}
}

// finish tells the browser how the sign-in ended, when one is waiting for that, and stops listening.
func (rcv *receiver) finish(r *refusal.Refusal, patience time.Duration) {
	rcv.failed = r
	close(rcv.outcome)
	first := false
	rcv.taken.Do(func() { first = true })
	if !first { // a browser gave the answer, and waits for its page
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		select {
		case <-rcv.written:
		case <-ctx.Done():
		}
	}
	rcv.close()
}

func (rcv *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case req.Host != rcv.addr.hostHeader(): // a name that was bound to loopback by somebody else (DNS rebinding)
		writePage(w, http.StatusNotFound, page{Title: "Not found"})
	case req.URL.Path != callbackPath || req.URL.EscapedPath() != callbackPath:
		writePage(w, http.StatusNotFound, page{Title: "Not found"})
	case req.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		writePage(w, http.StatusMethodNotAllowed, page{Title: "Method not allowed"})
	default:
		rcv.callback(w, req)
	}
}

func (rcv *receiver) callback(w http.ResponseWriter, req *http.Request) {
	code, ours, r := rcv.expect.read(req.URL.RawQuery)
	if !ours {
		writePage(w, http.StatusBadRequest, page{
			Title: "Not the sign-in in progress",
			Text:  "This address is not the answer to the sign-in that mcpc waits for. The wait goes on.",
		})
		return
	}
	first := false
	rcv.taken.Do(func() { first = true })
	if !first {
		writePage(w, http.StatusConflict, page{Title: "Already answered", Text: "This sign-in has its answer already."})
		return
	}
	defer close(rcv.written)
	rcv.results <- received{code, r}
	select {
	case <-rcv.outcome:
		writePage(w, http.StatusOK, rcv.page())
	case <-req.Context().Done():
	}
}

func (rcv *receiver) page() page {
	p := page{Server: rcv.name, Endpoint: rcv.endpoint}
	if r := rcv.failed; r != nil {
		p.Title, p.Failed, p.Reason = "Sign-in failed", r.Name(), r.Message()
		p.Text = "Nothing was stored. The terminal says more; this page can be closed."
		return p
	}
	p.Title, p.Text = "Signed in", "mcpc has what it needs. This page can be closed."
	return p
}
