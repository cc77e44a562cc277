package config

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// PlainHTTP is EndpointURL's reason against http:// to another machine.
const PlainHTTP = "http:// is admitted to loopback addresses only; use https://"

// EndpointURL parses the URL of an MCP endpoint, or of anything else a credential may go to, and says in our own words
// why it is none: https, or http to this machine; a host; no user, no fragment. It is the one rule for such URLs. The
// transport holds it again at every dial, by the address.
func EndpointURL(raw string) (u *url.URL, reason string) {
	if strings.ContainsFunc(raw, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '\\' }) {
		return nil, "only printable ASCII without spaces and \\ is admitted"
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, "not a URL"
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, "must be https:// (or http:// to loopback)"
	case u.Opaque != "" || u.Hostname() == "":
		return nil, "has no host"
	case u.User != nil:
		return nil, "user and password are not admitted"
	case strings.Contains(raw, "#"):
		return nil, "a fragment is not admitted"
	case strings.ContainsAny(u.Host, "%"):
		return nil, "a zone or an escape in the host is not admitted"
	case !validPort(u):
		return nil, "the port is not a number from 1 to 65535"
	case u.Scheme == "http" && !Loopback(u.Hostname()):
		return nil, PlainHTTP
	}
	return u, ""
}

func validPort(u *url.URL) bool {
	if strings.HasSuffix(u.Host, ":") {
		return false
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil && n > 0
}

// Loopback reports whether a host as written is this machine: localhost, 127.0.0.0/8 or ::1.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.IsLoopback() && !addr.Is4In6()
}
