package oauthflow

import (
	"crypto/subtle"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

const (
	callbackPath     = "/callback"
	maxCallbackQuery = 16 << 10
)

// address is where the receiver listens: a loopback host as it stands in the redirect URI, and a port.
type address struct {
	host string
	port uint16
}

func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(int(a.port))) }

func (a address) redirect() string { return "http://" + a.String() + callbackPath }

// hostHeader is the Host header that a browser sends for the address; it leaves out the default port.
func (a address) hostHeader() string {
	if a.port == 80 {
		return strings.TrimSuffix(a.String(), ":80")
	}
	return a.String()
}

// parseCallback reads HOST:PORT. Only a loopback host is admitted. A name and an address stay what they are, since an
// authorization server may know one and not the other. "" is the default.
func parseCallback(hostport string) (address, *refusal.Refusal) {
	if hostport == "" {
		return address{host: "127.0.0.1"}, nil
	}
	host, port, err := net.SplitHostPort(hostport)
	n, numErr := strconv.ParseUint(port, 10, 16)
	if err != nil || numErr != nil || !config.Loopback(host) {
		return address{}, refusal.New(refusal.OAuthCallbackAddress, refusal.Own("callback", hostport))
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	return address{strings.ToLower(host), uint16(n)}, nil
}

// callbackOf returns HOST:PORT of a redirect URI of ours.
func callbackOf(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" || u.Path != callbackPath {
		return "-"
	}
	return u.Host
}

// redirectFits reports whether a registered redirect URI is one that the configured callback leads to.
func redirectFits(callback, redirect string) bool {
	want, r := parseCallback(callback)
	got, r2 := parseCallback(callbackOf(redirect))
	return r == nil && r2 == nil && want.host == got.host && (want.port == 0 || want.port == got.port)
}

// expectation is what one sign-in recorded before the browser opened, for checking the answer.
type expectation struct {
	state         string
	issuer        string
	issAdvertised bool
}

// read checks the query of a callback. ours is false when it is not the answer to this sign-in, which then goes on
// waiting. Otherwise the sign-in is over, with a code or with a refusal.
func (e expectation) read(rawQuery string) (code config.Secret, ours bool, r *refusal.Refusal) {
	if len(rawQuery) > maxCallbackQuery {
		return code, false, nil
	}
	q, err := url.ParseQuery(rawQuery)
	if err != nil || len(q["state"]) != 1 || subtle.ConstantTimeCompare([]byte(q["state"][0]), []byte(e.state)) != 1 {
		return code, false, nil
	}
	if r := e.checkIss(q["iss"]); r != nil {
		return code, true, r
	}
	for _, values := range q {
		if len(values) > 1 { // RFC 6749 section 3.1
			return code, true, refusal.New(refusal.OAuthCallback, refusal.Own("fault", "a parameter is there twice"))
		}
	}
	switch {
	case q.Has("error") && q.Has("code"):
		return code, true, refusal.New(refusal.OAuthCallback, refusal.Own("fault", "both a code and an error"))
	case q.Has("error"):
		return code, true, authorizationError(q.Get("error"))
	case q.Get("code") == "":
		return code, true, refusal.New(refusal.OAuthCallback, refusal.Own("fault", "no code"))
	}
	return config.NewSecret(q.Get("code")), true, nil
}

// checkIss is the four-row table of the specification (authorization, "Authorization Response Validation"; RFC 9207
// section 2.4). It compares the decoded string as it is, and comes before everything else: a response that another
// server made must not even choose the message.
func (e expectation) checkIss(iss []string) *refusal.Refusal {
	fault := ""
	switch {
	case len(iss) == 0 && e.issAdvertised:
		fault = "does not name the issuer, although the authorization server's metadata says it would"
	case len(iss) == 1 && iss[0] != e.issuer:
		fault = "names another issuer than the one that was asked"
	case len(iss) > 1:
		fault = "names the issuer twice"
	}
	if fault == "" {
		return nil
	}
	return refusal.New(refusal.OAuthCallbackIssuer, refusal.Own("fault", fault))
}

func authorizationError(code string) *refusal.Refusal {
	switch {
	case code == "access_denied":
		return refusal.New(refusal.OAuthDenied)
	case refusesResource(code):
		return resourceRefused(code)
	}
	return refusal.New(refusal.OAuthAuthorization, refusal.Own("code", registered(code)))
}

func resourceRefused(code string) *refusal.Refusal {
	return refusal.New(refusal.OAuthResource, refusal.Own("code", registered(code))).
		Hint("this client never asks without a resource indicator: the token would not be bound to this server")
}

// pasted checks a callback URL that a person copied out of the browser.
func (e expectation) pasted(text, redirect string) (config.Secret, *refusal.Refusal) {
	base, query, found := strings.Cut(strings.TrimSpace(text), "?")
	if !found || base != redirect {
		r := refusal.New(refusal.OAuthCallback, refusal.Own("fault", "not the callback address with its query"))
		return config.Secret{}, r.Hint("copy the whole address of the page that the browser could not open")
	}
	query, _, _ = strings.Cut(query, "#")
	code, ours, r := e.read(query)
	if !ours {
		return code, refusal.New(refusal.OAuthCallback, refusal.Own("fault", "it belongs to another sign-in"))
	}
	return code, r
}
