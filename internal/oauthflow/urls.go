package oauthflow

import (
	"net/url"
	"strings"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

const (
	wellKnownResource = "/.well-known/oauth-protected-resource"
	wellKnownServer   = "/.well-known/oauth-authorization-server"
	wellKnownOpenID   = "/.well-known/openid-configuration"
)

// endpoint parses the configured URL, which the configuration has checked before.
func (f *Flow) endpoint() (*url.URL, *refusal.Refusal) {
	u, reason := config.EndpointURL(f.Endpoint)
	if reason != "" {
		return nil, refusal.New(refusal.OAuthEndpointScheme, refusal.Own("member", "the configured endpoint"))
	}
	return u, nil
}

// peerURL parses a URL that a peer supplied under the name of member. Plain http to this machine is admitted only
// where the operator points there too: by the endpoint, or by the issuer that is pinned.
func (f *Flow) peerURL(raw, member string) (*url.URL, *refusal.Refusal) {
	u, reason := config.EndpointURL(raw)
	if reason != "" || u.Scheme == "http" && !f.local() {
		return nil, refusal.New(refusal.OAuthEndpointScheme, refusal.Own("member", member))
	}
	return u, nil
}

func (f *Flow) local() bool {
	for _, raw := range []string{f.Endpoint, f.config().Issuer} {
		if u, reason := config.EndpointURL(raw); reason == "" && config.Loopback(u.Hostname()) {
			return true
		}
	}
	return false
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// resourceForms are the two well-known places of RFC 9728 section 3.1: the path form, then the root form.
func resourceForms(endpoint *url.URL) (path, root string) {
	root = endpoint.Scheme + "://" + endpoint.Host + wellKnownResource
	path = root
	if p := endpoint.EscapedPath(); p != "/" {
		path += p
	}
	if endpoint.RawQuery != "" {
		path += "?" + endpoint.RawQuery
	}
	return path, root
}

// serverForms are the places where an issuer's metadata may be, in the order of the MCP specification
// (authorization-server-discovery, "Authorization Server Metadata Discovery"). A terminating slash is removed before a
// well-known part goes in (RFC 8414 section 3.1; OpenID Connect Discovery section 4.1).
func serverForms(issuer *url.URL) []string {
	base := issuer.Scheme + "://" + issuer.Host
	path := strings.TrimSuffix(issuer.EscapedPath(), "/")
	forms := []string{base + wellKnownServer + path, base + wellKnownOpenID + path}
	if path != "" {
		forms = append(forms, base+path+wellKnownOpenID)
	}
	return forms
}

// sameResource compares resource identifiers byte for byte, except that an empty path and "/" are one (RFC 3986
// section 6.2.3), since URL libraries write the one for the other.
func sameResource(a, b string) bool {
	return a == b || rootless(a) == rootless(b)
}

// rootless drops the path of a URL that has no other path than "/".
func rootless(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Path == "/" && u.RawQuery == "" && !u.ForceQuery {
		return strings.TrimSuffix(raw, "/")
	}
	return raw
}

func slashApart(a, b string) bool {
	return a+"/" == b || b+"/" == a
}

// difference says in our own words how two URLs differ, for the messages on a mismatch.
func difference(a, b string) string {
	switch {
	case slashApart(a, b):
		return "only by a trailing slash"
	case strings.EqualFold(a, b):
		return "only in upper and lower case"
	}
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	if errA != nil || errB != nil {
		return "in that one is not a URL"
	}
	var parts []string
	add := func(name, a, b string) {
		if a != b {
			parts = append(parts, name)
		}
	}
	add("the scheme", ua.Scheme, ub.Scheme)
	add("the host", strings.ToLower(ua.Hostname()), strings.ToLower(ub.Hostname()))
	add("the port", ua.Port(), ub.Port())
	add("the path", ua.EscapedPath(), ub.EscapedPath())
	add("the query", ua.RawQuery, ub.RawQuery)
	if len(parts) == 0 {
		return "in their spelling"
	}
	return "in " + strings.Join(parts, " and ")
}
