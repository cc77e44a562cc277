package transport

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"mcpc/internal/refusal"
)

// Purpose says what a client is for, and with that which redirects it follows and whose URLs it is given.
type Purpose int

// Purposes.
const (
	ForMCP      Purpose = iota // the configured endpoint and nothing else; no redirect
	ForMetadata                // documents at URLs the server supplied; at most three redirects, within one origin
	ForToken                   // token, registration and revocation endpoints the server supplied; no redirect
)

const (
	maxRedirects     = 3
	defaultHeader    = 64 << 10
	handshakeTimeout = 30 * time.Second // a bound on what goes on after a caller gave up
	idleTimeout      = 90 * time.Second
)

// ClientPolicy is all that makes one http.Client differ from another.
type ClientPolicy struct {
	Purpose       Purpose
	Endpoint      *url.URL      // the configured MCP endpoint; its origin alone is exempt from the address check
	CAFile        string        // PEM certificates trusted beside the system's; "" for none
	HeaderBytes   int64         // bound on a response header; 0 for 64 KiB
	LookupEnv     LookupEnv     // HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE; nil for none of them
	AllowInternal bool          // the configured endpoint is internal itself, or the operator pinned the issuer
	Resolver      *net.Resolver // nil for the system's; tests bring their own
}

// NewClient is the one place where an http.Client is made. Whatever the client is for: TLS 1.2 or later, verified;
// plain http to loopback alone; no cookies; a bounded header; gzip decoded before any limit applies and no other
// content encoding; the address checked when it is dialled, so that a name cannot change its mind in between.
//
// An error of the client's Do unwraps to a *refusal.Refusal, except that the end of a context stays that context's
// error. Errors of Do must not be printed otherwise: they hold the URL.
func NewClient(p ClientPolicy) (*http.Client, error) {
	var roots *x509.CertPool
	if !p.plainOnly() {
		var err error
		if roots, err = trustedRoots(p.CAFile, p.LookupEnv); err != nil {
			return nil, err
		}
	}
	if p.HeaderBytes == 0 {
		p.HeaderBytes = defaultHeader
	}
	g := &gate{policy: p, proxyFor: proxyFunc(p.LookupEnv)}
	g.plain = g.lane(roots, g.checkPlain)
	g.direct = g.lane(roots, g.checkDirect)
	g.proxied = g.lane(roots, nil)
	g.proxied.Proxy = func(r *http.Request) (*url.URL, error) { return g.proxyFor(r.URL) }
	return &http.Client{Transport: g, CheckRedirect: checkRedirect}, nil
}

// plainOnly reports whether the client will never speak TLS, its one endpoint being on loopback.
func (p ClientPolicy) plainOnly() bool {
	return p.Purpose == ForMCP && p.Endpoint != nil && p.Endpoint.Scheme == "http"
}

// gate is the RoundTripper that holds a request to the policy. Its three lanes differ in what may be dialled.
type gate struct {
	policy   ClientPolicy
	proxyFor func(*url.URL) (*url.URL, error)
	plain    *http.Transport // http, loopback only
	direct   *http.Transport // https without a proxy
	proxied  *http.Transport // https through the operator's proxy, which dials for us
}

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (g *gate) CloseIdleConnections() {
	for _, t := range []*http.Transport{g.plain, g.direct, g.proxied} {
		t.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	lane, r := g.choose(req.URL)
	if r != nil {
		return nil, r
	}
	var sent, handshake atomic.Bool
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn:          func(httptrace.GotConnInfo) { sent.Store(true) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { handshake.Store(err != nil) },
	})
	resp, err := lane.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if ended := req.Context().Err(); ended != nil {
			return nil, ended
		}
		return nil, g.refuse(req.URL, lane, err, sent.Load(), handshake.Load())
	}
	return g.admit(req, resp)
}

// choose picks the lane of a URL, or refuses the URL. It repeats CheckURL because a redirect has not been through it.
func (g *gate) choose(u *url.URL) (*http.Transport, *refusal.Refusal) {
	if _, r := CheckURL(u.String()); r != nil {
		return nil, r
	}
	if g.policy.Purpose == ForMCP && !g.configured(u) {
		return nil, refusal.New(refusal.Internal)
	}
	// With a proxy this is all that can be checked: it resolves the name, out of our sight.
	if !g.mayBeInternal(hostPort(u)) && internalHost(u.Hostname()) {
		return nil, refusal.New(refusal.TransportAddress)
	}
	if u.Scheme == "http" {
		return g.plain, nil
	}
	if proxy, err := g.proxyFor(u); err != nil || proxy == nil {
		return g.direct, nil
	}
	return g.proxied, nil
}

// configured reports whether u has the origin of the configured endpoint.
func (g *gate) configured(u *url.URL) bool {
	return g.policy.Endpoint != nil && origin(u) == origin(g.policy.Endpoint)
}

// admit looks at an answer before its caller does: no redirect that is not to be followed, no foreign encoding.
func (g *gate) admit(req *http.Request, resp *http.Response) (*http.Response, error) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 && !g.follows(req, resp) {
		_ = resp.Body.Close()
		return nil, redirectRefusal(req.URL, resp)
	}
	encoding := resp.Header.Get("Content-Encoding")
	if encoding == "" || strings.EqualFold(encoding, "identity") {
		return resp, nil
	}
	_ = resp.Body.Close()
	if resp.StatusCode < 300 {
		return nil, refusal.New(refusal.TransportContentEncoding)
	}
	resp.Body = http.NoBody // the status says enough
	return resp, nil
}

// follows reports whether a redirect may be followed: a document's, to the same origin.
func (g *gate) follows(req *http.Request, resp *http.Response) bool {
	if g.policy.Purpose != ForMetadata || req.Method != http.MethodGet {
		return false
	}
	to, err := resp.Location()
	return err == nil && to.User == nil && origin(to) == origin(req.URL)
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return redirectRefusal(via[len(via)-1].URL, req.Response)
	}
	return nil
}

func redirectRefusal(from *url.URL, resp *http.Response) *refusal.Refusal {
	r := refusal.New(refusal.TransportRedirect, refusal.Num("status", resp.StatusCode))
	if to, err := resp.Location(); err == nil {
		return r.With(refusal.Own("difference", difference(from, to)))
	}
	return r
}

// difference says in our words how two URLs differ, for a message that cannot show the second one.
func difference(from, to *url.URL) string {
	switch {
	case from.Scheme != to.Scheme:
		return "in the scheme"
	case !strings.EqualFold(from.Hostname(), to.Hostname()):
		return "in the host"
	case hostPort(from) != hostPort(to):
		return "in the port"
	case strings.TrimSuffix(from.EscapedPath(), "/") != strings.TrimSuffix(to.EscapedPath(), "/"):
		return "in the path"
	case from.EscapedPath() != to.EscapedPath() && from.RawQuery == to.RawQuery:
		return "only by a trailing slash"
	case from.RawQuery != to.RawQuery:
		return "in the query"
	default:
		return "in nothing"
	}
}

// ReadBounded reads r to its end. Over limit bytes it returns the refusal of entry, and never a part.
func ReadBounded(r io.Reader, limit int64, entry *refusal.Entry) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, refusal.New(entry, refusal.Num("limit", limit))
	}
	return data, nil
}
