package oauthflow

import (
	"net/http"
	"sync"

	"mcpc/internal/config"
	"mcpc/internal/transport"
)

// Clients makes mcpc's own HTTP clients for a configured server, each once and when it is asked for: a server without a
// stored credential needs none of them. URLs that the server supplies may lead to internal addresses only where the
// operator points there too: by the endpoint, or by pinning the issuer.
func Clients(server *config.Server, look transport.LookupEnv) (ClientSource, error) {
	endpoint, r := transport.CheckURL(server.HTTP.URL)
	if r != nil {
		return nil, r
	}
	makers := map[transport.Purpose]func() (*http.Client, error){}
	for _, p := range []transport.Purpose{transport.ForMCP, transport.ForMetadata, transport.ForToken} {
		makers[p] = sync.OnceValues(func() (*http.Client, error) {
			return transport.NewClient(transport.ClientPolicy{
				Purpose: p, Endpoint: endpoint, CAFile: server.HTTP.CAFile, HeaderBytes: server.Limits.HeaderBytes,
				LookupEnv:     look,
				AllowInternal: transport.InternalEndpoint(endpoint) || server.OAuth != nil && server.OAuth.Issuer != "",
			})
		})
	}
	return func(p transport.Purpose) (*http.Client, error) { return makers[p]() }, nil
}
