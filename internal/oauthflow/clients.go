package oauthflow

import (
	"net/http"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// Clients makes mcpc's own HTTP clients for a configured server, each once. URLs that the server supplies may lead to
// internal addresses only where the operator points there too: by the endpoint, or by pinning the issuer.
func Clients(server *config.Server, look transport.LookupEnv) (func(transport.Purpose) *http.Client, error) {
	endpoint, r := transport.CheckURL(server.HTTP.URL)
	if r != nil {
		return nil, r
	}
	made := map[transport.Purpose]*http.Client{}
	for _, p := range []transport.Purpose{transport.ForMCP, transport.ForMetadata, transport.ForToken} {
		c, err := transport.NewClient(transport.ClientPolicy{
			Purpose: p, Endpoint: endpoint, CAFile: server.HTTP.CAFile, HeaderBytes: server.Limits.HeaderBytes,
			LookupEnv:     look,
			AllowInternal: transport.InternalEndpoint(endpoint) || server.OAuth != nil && server.OAuth.Issuer != "",
		})
		if err != nil {
			return nil, refusal.From(err)
		}
		made[p] = c
	}
	return func(p transport.Purpose) *http.Client { return made[p] }, nil
}
