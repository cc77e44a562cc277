package transport

import (
	"net/netip"
	"net/url"
	"strings"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// internalPrefixes are the blocks that no URL from a server may lead to: the special-purpose registries of RFC 6890
// (with updates), and the forms that carry an IPv4 address inside an IPv6 one, whichever that address is.
var internalPrefixes = parsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// globalUnicast is the one IPv6 block that is handed out (RFC 4291, 2.4); NAT64, IPv4-mapped, unique-local, link-local
// and multicast addresses lie outside it.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func parsePrefixes(texts ...string) []netip.Prefix {
	prefixes := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		prefixes[i] = netip.MustParsePrefix(s)
	}
	return prefixes
}

// internalAddress reports whether an address is anything but a public one.
func internalAddress(a netip.Addr) bool {
	a = a.WithZone("")
	if !a.Is4() && !globalUnicast.Contains(a) {
		return true
	}
	for _, p := range internalPrefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// internalHost reports whether a host, as a URL names it, is internal on its face. A name whose last label is a number
// counts, since resolvers and proxies read it as an IPv4 address in one of its old spellings.
func internalHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return internalAddress(a)
	}
	label := host[strings.LastIndexByte(host, '.')+1:]
	return label == "" || label == "localhost" || strings.Trim(label, "0123456789") == "" ||
		strings.HasPrefix(label, "0x")
}

func loopback(a netip.Addr) bool { return a == netip.IPv6Loopback() || a.Is4() && a.IsLoopback() }

// InternalEndpoint reports whether a configured endpoint is internal on its face: a loopback or private address, or
// localhost. A name is not looked up, because whoever owns it decides what it resolves to.
func InternalEndpoint(u *url.URL) bool { return internalHost(u.Hostname()) }

// CheckURL parses a URL that mcpc may send a request to, by the one rule that the configuration is read by too.
func CheckURL(raw string) (*url.URL, *refusal.Refusal) {
	u, reason := config.EndpointURL(raw)
	switch reason {
	case "":
		return u, nil
	case config.PlainHTTP:
		return nil, refusal.New(refusal.TransportPlaintext)
	}
	return nil, refusal.New(refusal.TransportURL, refusal.Own("fault", reason))
}

// origin is what credentials and redirects are bound to: scheme, host and port, the default port written out.
func origin(u *url.URL) string { return u.Scheme + "://" + hostPort(u) }

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
