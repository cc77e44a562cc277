package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/net/http/httpproxy"

	"mcpc/internal/refusal"
)

// LookupEnv is os.LookupEnv or what stands for it.
type LookupEnv func(name string) (value string, ok bool)

func (look LookupEnv) first(names ...string) string {
	for _, name := range names {
		if look == nil {
			return ""
		}
		if value, ok := look(name); ok && value != "" {
			return value
		}
	}
	return ""
}

// proxyFunc reads HTTPS_PROXY and NO_PROXY as curl does. HTTP_PROXY has no say: plain http goes to loopback alone, and
// loopback never through a proxy.
func proxyFunc(look LookupEnv) func(*url.URL) (*url.URL, error) {
	c := httpproxy.Config{
		HTTPSProxy: look.first("https_proxy", "HTTPS_PROXY"),
		NoProxy:    look.first("no_proxy", "NO_PROXY"),
	}
	return c.ProxyFunc()
}

// trustedRoots are the system's roots, and beside them the certificates of SSL_CERT_FILE (which not every system reads
// by itself) and of the configured file. Where neither is named they are nil, which crypto/tls takes for the system's and
// reads at a handshake: reading them takes many times as long as a call to a server on loopback.
func trustedRoots(caFile string, look LookupEnv) (*x509.CertPool, error) {
	paths := slices.DeleteFunc([]string{look.first("SSL_CERT_FILE"), caFile}, func(p string) bool { return p == "" })
	if len(paths) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, path := range paths {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, refusal.New(refusal.ConfigUnreadable, refusal.Own("path", path))
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, refusal.New(refusal.ConfigCertificates, refusal.Own("path", path))
		}
	}
	return roots, nil
}

// addressCheck judges one resolved address just before it is connected to; target is the host and port asked for.
type addressCheck func(target string, resolved netip.AddrPort) *refusal.Refusal

func (g *gate) lane(roots *x509.CertPool, check addressCheck) *http.Transport {
	return &http.Transport{
		DialContext:            g.dial(check),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxResponseHeaderBytes: g.policy.HeaderBytes,
		IdleConnTimeout:        idleTimeout,
		ForceAttemptHTTP2:      true,
	}
}

// dial connects to the addresses of a name, each of them checked by the hook that runs between resolving and
// connecting. A check before resolving would be one that a second answer of the name server undoes.
func (g *gate) dial(check addressCheck) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, target string) (net.Conn, error) {
		d := net.Dialer{Resolver: g.policy.Resolver}
		if check != nil {
			d.Control = func(_, resolved string, _ syscall.RawConn) error {
				address, err := netip.ParseAddrPort(resolved)
				if err != nil {
					return refusal.New(refusal.TransportAddress)
				}
				if r := check(strings.ToLower(target), address); r != nil {
					return r
				}
				return nil
			}
		}
		return d.DialContext(ctx, network, target)
	}
}

// checkPlain admits plain http to loopback, wherever the name localhost leads.
func (g *gate) checkPlain(target string, resolved netip.AddrPort) *refusal.Refusal {
	if !loopback(resolved.Addr().Unmap()) {
		return refusal.New(refusal.TransportPlaintext)
	}
	return g.checkDirect(target, resolved)
}

func (g *gate) checkDirect(target string, resolved netip.AddrPort) *refusal.Refusal {
	if !g.mayBeInternal(target) && internalAddress(resolved.Addr().Unmap()) {
		return refusal.New(refusal.TransportAddress)
	}
	return nil
}

// mayBeInternal reports whether the operator named this host and port, or allowed internal addresses.
func (g *gate) mayBeInternal(target string) bool {
	p := g.policy
	return p.AllowInternal || p.Endpoint != nil && unbracket(target) == hostPort(p.Endpoint)
}

// unbracket writes a dialled address as hostPort writes it.
func unbracket(target string) string {
	return strings.NewReplacer("[", "", "]", "").Replace(target)
}

// refuse turns an error of net/http, which may hold the URL and the peer's text, into a refusal.
func (g *gate) refuse(u *url.URL, lane *http.Transport, err error, sent, handshake bool) *refusal.Refusal {
	if r, ok := refusal.As(err); ok {
		return r
	}
	switch {
	case headerOverLimit(err.Error()):
		return refusal.New(refusal.LimitHeaders, refusal.Num("limit", g.policy.HeaderBytes))
	case sent:
		return refusal.New(refusal.TransportClosed)
	case tlsFault(err, handshake) != "":
		return g.named(u, refusal.New(refusal.TransportTLS, refusal.Own("fault", tlsFault(err, handshake))))
	}
	r := g.named(u, refusal.New(refusal.TransportUnreachable))
	if lane == g.proxied {
		r = r.Hint("the connection was tried through the proxy that HTTPS_PROXY names")
	}
	return r
}

// headerOverLimit knows the error by its text, since net/http has no type for it.
func headerOverLimit(text string) bool {
	return strings.Contains(text, "response headers exceeded") || // HTTP/1.1
		strings.Contains(text, "response header list larger") || // HTTP/2
		strings.Contains(text, "COMPRESSION_ERROR") // HTTP/2, where a single value is over the limit
}

func tlsFault(err error, handshake bool) string {
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &certificate):
		return "the certificate cannot be verified"
	case errors.As(err, &record):
		return "what answers there does not speak TLS"
	case handshake:
		return "the handshake failed"
	default:
		return ""
	}
}

// named adds the host where the operator wrote it; a host that the server supplied is the peer's text.
func (g *gate) named(u *url.URL, r *refusal.Refusal) *refusal.Refusal {
	if !g.configured(u) {
		return r
	}
	return r.With(refusal.Own("host", g.policy.Endpoint.Host))
}
