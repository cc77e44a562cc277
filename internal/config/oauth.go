package config

import (
	"net"

	"mcpc/internal/refusal"
)

func (v value) oauth() *OAuth {
	o := &OAuth{}
	v.members(map[string]func(value){
		"issuer":              func(v value) { o.Issuer = v.url() },
		"client":              func(v value) { o.Client = v.client() },
		"client_metadata_url": func(v value) { o.ClientMetadataURL = v.metadataURL() },
		"scopes":              func(v value) { o.Scopes = v.elements("an array of scopes", value.scope) },
		"callback":            func(v value) { o.Callback = v.callback() },
	})
	if o.Client != nil && o.Issuer != "" && o.Client.Issuer != o.Issuer {
		v.wrong("client.issuer and issuer differ")
	}
	return o
}

func (v value) client() *Client {
	c := &Client{}
	v.members(map[string]func(value){
		"id":     func(v value) { c.ID = v.filled() },
		"issuer": func(v value) { c.Issuer = v.url() },
		"secret": func(v value) { s := v.source(false); c.Secret = &s },
	})
	switch {
	case c.ID == "":
		v.wrong("id is missing")
	case c.Issuer == "":
		// A secret sent to whatever issuer a server names would be the server's to collect.
		v.wrong("issuer is missing; a client is known to one issuer")
	}
	return c
}

// metadataURL reads the URL of a client ID metadata document, which is https with a path.
func (v value) metadataURL() string {
	s := v.url()
	u, reason := EndpointURL(s)
	if reason == "" && (u.Scheme != "https" || u.Path == "" || u.Path == "/" || u.RawQuery != "") {
		v.refuse(refusal.ConfigURL, refusal.Own("reason", "must be https with a path and without a query"))
	}
	return s
}

// scopeToken is RFC 6749 appendix A.4.
var scopeToken = lazy(`^[\x21\x23-\x5B\x5D-\x7E]+$`)

func (v value) scope() string {
	s := v.text()
	if !scopeToken.MatchString(s) {
		v.wrong("not a scope token")
	}
	return s
}

// callback reads HOST:PORT; only this machine may receive an authorization code.
func (v value) callback() string {
	s := v.text()
	host, port, err := net.SplitHostPort(s)
	u, reason := EndpointURL("http://" + s)
	if err != nil || reason != "" || u.Host != s || !Loopback(host) || port == "" {
		v.wrong("must be HOST:PORT with a loopback host")
	}
	return s
}
