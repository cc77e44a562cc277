package oauthflow

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// Where a resource metadata document was found.
const (
	FromChallenge = "named by the server's challenge"
	FromPathForm  = "well-known place of the endpoint's path"
	FromRootForm  = "well-known place of the origin"
)

// resource is a checked protected-resource metadata document.
type resource struct {
	url  string
	from string
	meta *oauthex.ProtectedResourceMetadata
}

// probe is the unauthenticated request whose challenge tells where to sign in. It asks for server/discover, which has
// no effect on any server.
const probe = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"` + transport.Modern + `",` +
	`"io.modelcontextprotocol/clientCapabilities":{}}}}`

// challenged sends the probe and returns the WWW-Authenticate values of a 401 or 403.
func (f *Flow) challenged(ctx context.Context) ([]string, *refusal.Refusal) {
	req, err := http.NewRequest(http.MethodPost, f.Endpoint, bytes.NewReader([]byte(probe)))
	if err != nil {
		return nil, refusal.New(refusal.OAuthEndpointScheme, refusal.Own("member", "the configured endpoint"))
	}
	if f.Headers != nil {
		h, err := f.Headers(ctx)
		if err != nil {
			return nil, refusal.From(err)
		}
		req.Header = h.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", transport.Modern)
	req.Header.Set("Mcp-Method", "server/discover")
	status, values, r := f.headers(ctx, req)
	switch {
	case r != nil:
		return nil, r
	case status >= 300 && status < 400:
		return nil, refusal.New(refusal.TransportRedirect, refusal.Num("status", status))
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return values, nil
	}
	return nil, nil
}

// headers sends a request to the endpoint and reads no body: an event stream may have no end.
func (f *Flow) headers(ctx context.Context, req *http.Request) (int, []string, *refusal.Refusal) {
	client, r := f.httpClient(transport.ForMCP, noRedirects)
	if r != nil {
		return 0, nil, r
	}
	ctx, cancel := context.WithTimeout(ctx, f.Limits.Request)
	defer cancel()
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return 0, nil, f.broken(ctx, err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header.Values("WWW-Authenticate"), nil
}

// findResource gets the resource metadata: from where the challenge says, else the path form, else the root form. The
// first document found decides; one that does not fit is not passed over for another.
func (f *Flow) findResource(ctx context.Context, c challenge) (*resource, *refusal.Refusal) {
	endpoint, r := f.endpoint()
	if r != nil {
		return nil, r
	}
	named, r := f.namedMetadata(endpoint, c)
	if r != nil {
		return nil, r
	}
	path, root := resourceForms(endpoint)
	candidates := []resource{
		{url: named, from: FromChallenge}, {url: path, from: FromPathForm}, {url: root, from: FromRootForm},
	}
	var asked []string
	for _, candidate := range candidates {
		if candidate.url == "" || slices.Contains(asked, candidate.url) {
			continue
		}
		asked = append(asked, candidate.url)
		doc, _, r := f.document(ctx, candidate.url)
		if r != nil {
			return nil, r
		}
		if doc != nil {
			candidate.meta, r = resourceMetadata(doc)
			if r == nil {
				r = f.checkResource(candidate, endpoint, candidate.url == root)
			}
			return &candidate, r
		}
	}
	return nil, refusal.New(refusal.OAuthNoResourceMetadata)
}

// namedMetadata returns the URL of the challenge's resource_metadata. One of another origin than the endpoint's is
// refused: the server would choose whom mcpc talks to. One that is no URL at all counts as not said.
func (f *Flow) namedMetadata(endpoint *url.URL, c challenge) (string, *refusal.Refusal) {
	u, err := url.Parse(c.metadataURL)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return "", nil
	}
	if _, r := f.peerURL(c.metadataURL, "resource_metadata"); r != nil || origin(u) != origin(endpoint) {
		return "", refusal.New(refusal.OAuthChallenge)
	}
	return c.metadataURL, nil
}

// checkResource holds the document's resource to the configured endpoint (RFC 9728 section 3.3). Only the document of
// the root form may name the origin instead, since its URL is built from that identifier.
func (f *Flow) checkResource(res resource, endpoint *url.URL, root bool) *refusal.Refusal {
	named := res.meta.Resource
	if sameResource(named, f.Endpoint) || root && sameResource(named, endpoint.Scheme+"://"+endpoint.Host) {
		return nil
	}
	r := refusal.New(refusal.OAuthResourceMismatch, refusal.URL("endpoint", f.Endpoint), refusal.URL("resource", named),
		refusal.Own("source", res.from), refusal.Own("difference", difference(f.Endpoint, named)))
	return r.Hint("if the URL in the metadata is the one you mean, configure exactly that one")
}
