package store

import (
	"slices"
	"time"

	"mcpc/internal/config"
)

// payload is what is sealed of a credential. It is the one place where secrets become plain text, on their way into
// and out of the seal.
type payload struct {
	AccessToken        string        `json:"access_token"`
	RefreshToken       string        `json:"refresh_token,omitzero"`
	TokenEndpoint      string        `json:"token_endpoint"`
	RevocationEndpoint string        `json:"revocation_endpoint,omitzero"`
	Client             clientPayload `json:"client"`
	Presented          bool          `json:"presented,omitzero"`
}

// clientPayload is what is sealed of a registration.
type clientPayload struct {
	Issuer       string    `json:"issuer"`
	ClientID     string    `json:"client_id"`
	Secret       string    `json:"client_secret,omitzero"`
	SecretExpiry time.Time `json:"client_secret_expiry,omitzero"`
	AuthMethod   string    `json:"auth_method,omitzero"`
	RedirectURI  string    `json:"redirect_uri,omitzero"`
}

func (c *Credential) split() (header, payload) {
	h := header{
		Kind: credentialKind, Resource: c.Resource, Issuer: c.Issuer, Indicator: c.Indicator, ClientID: c.Client.ClientID,
		Scopes: c.Scopes, Expiry: c.Expiry.UTC().Truncate(time.Second), Refreshable: !c.RefreshToken.Empty(),
		Handle: c.Handle, Generation: c.Generation,
	}
	return h, payload{
		AccessToken: c.AccessToken.Reveal(), RefreshToken: c.RefreshToken.Reveal(), TokenEndpoint: c.TokenEndpoint,
		RevocationEndpoint: c.RevocationEndpoint, Client: c.Client.payload(), Presented: c.Presented,
	}
}

func (p payload) credential(h header) *Credential {
	return &Credential{
		Binding: Binding{h.Resource, h.Issuer}, Indicator: h.Indicator, Client: p.Client.registration(),
		AccessToken: config.NewSecret(p.AccessToken), RefreshToken: config.NewSecret(p.RefreshToken),
		Expiry: h.Expiry, Scopes: h.Scopes, TokenEndpoint: p.TokenEndpoint, RevocationEndpoint: p.RevocationEndpoint,
		Handle: h.Handle, Generation: h.Generation, Presented: p.Presented,
	}
}

func (r Registration) payload() clientPayload {
	return clientPayload{r.Issuer, r.ClientID, r.Secret.Reveal(), r.SecretExpiry, r.AuthMethod, r.RedirectURI}
}

func (p clientPayload) registration() Registration {
	return Registration{p.Issuer, p.ClientID, config.NewSecret(p.Secret), p.SecretExpiry, p.AuthMethod, p.RedirectURI}
}

func (c *Credential) clone() *Credential {
	if c == nil {
		return nil
	}
	d := *c
	d.Scopes = slices.Clone(c.Scopes)
	return &d
}
