package oauthflow

import (
	"context"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"mcpc/internal/refusal"
)

// server is checked authorization-server metadata.
type server struct {
	url  string // where it was found
	meta *oauthex.AuthServerMeta
}

// chooseIssuer picks the authorization server: the pinned one, the configured client's, or the first.
func (f *Flow) chooseIssuer(listed []string) (string, *refusal.Refusal) {
	pin, own := f.config().Issuer, f.configuredClient().Issuer
	switch {
	case len(listed) == 0:
		return "", refusal.New(refusal.OAuthNoServer)
	case pin != "":
		if i := slices.Index(listed, pin); i >= 0 {
			return pin, nil
		}
		if i := slices.IndexFunc(listed, func(s string) bool { return slashApart(s, pin) }); i >= 0 {
			return listed[i], nil
		}
		return "", refusal.New(refusal.OAuthIssuerPin, refusal.Num("count", len(listed)))
	case slices.Contains(listed, own):
		return own, nil
	}
	return listed[0], nil
}

// findServer gets the metadata of an issuer from the places of the specification, built from the issuer alone. A
// document that may not be used gives way to the next place; where none may, the first one's refusal stands.
func (f *Flow) findServer(ctx context.Context, issuer string) (*server, *refusal.Refusal) {
	u, r := f.peerURL(issuer, "the issuer")
	if r != nil {
		return nil, r
	}
	if u.RawQuery != "" || u.ForceQuery { // RFC 8414 section 2
		return nil, refusal.New(refusal.OAuthEndpointScheme, refusal.Own("member", "the issuer"))
	}
	missing := refusal.New(refusal.OAuthNoServerMetadata)
	var first *refusal.Refusal
	for _, place := range serverForms(u) {
		doc, status, r := f.document(ctx, place)
		if r == nil && doc == nil {
			missing = missing.With(refusal.Num("status", status))
			continue
		}
		var meta *oauthex.AuthServerMeta
		if r == nil {
			meta, r = serverMetadata(doc)
		}
		if r == nil {
			r = f.checkServer(meta, issuer)
		}
		if r == nil {
			return &server{place, meta}, nil
		}
		if first == nil {
			first = r
		}
		if ctx.Err() != nil {
			break
		}
	}
	if first != nil {
		return nil, first
	}
	return nil, missing
}

func (f *Flow) checkServer(meta *oauthex.AuthServerMeta, issuer string) *refusal.Refusal {
	if r := f.checkIssuer(meta.Issuer, issuer); r != nil {
		return r
	}
	if !slices.Contains(meta.CodeChallengeMethodsSupported, "S256") {
		return refusal.New(refusal.OAuthPKCE)
	}
	for _, e := range []struct {
		member, url string
		required    bool
	}{
		{"authorization_endpoint", meta.AuthorizationEndpoint, true},
		{"token_endpoint", meta.TokenEndpoint, true},
		{"registration_endpoint", meta.RegistrationEndpoint, false},
		{"revocation_endpoint", meta.RevocationEndpoint, false},
	} {
		if e.url == "" && e.required {
			return refusal.New(refusal.OAuthEndpointMissing, refusal.Own("member", e.member))
		}
		if e.url == "" {
			continue
		}
		if _, r := f.peerURL(e.url, e.member); r != nil {
			return r
		}
	}
	return nil
}

// checkIssuer demands that the document's issuer is the string its place was built from (RFC 8414 section 3.3). The
// operator's pin settles one difference: the document says exactly what is pinned, and the resource names that with
// one slash more or less at the end.
func (f *Flow) checkIssuer(found, expected string) *refusal.Refusal {
	pin := f.config().Issuer
	if found == expected && (pin == "" || pin == found) {
		return nil
	}
	if pin != "" && found == pin && slashApart(found, expected) {
		return nil
	}
	source, hint := "the resource metadata", ""
	switch {
	case found == expected:
		source, expected = "the configuration", pin
		hint = `"issuer" under "oauth" in the configuration must be exactly the issuer in the metadata`
	case slashApart(found, expected):
		hint = `if you trust that issuer, pin the string of its metadata as "issuer" under "oauth" in the configuration`
	}
	return refusal.New(refusal.OAuthIssuerMismatch, refusal.Own("source", source), refusal.URL("expected", expected),
		refusal.URL("found", found), refusal.Own("difference", difference(expected, found))).Hint(hint)
}

// parsed is for URLs that peerURL has accepted before.
func parsed(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic("oauthflow: a checked URL does not parse")
	}
	return u
}
