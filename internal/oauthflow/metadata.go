package oauthflow

import (
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

const maxListed = 256 // entries of one list in metadata; real lists are far shorter

// members reads members of a metadata document by their exact names. (The decoder of encoding/json would take "Issuer"
// for "issuer".) A null is an absent member; another type than the standard gives is a refusal, remembered in fault.
type members struct {
	doc   []byte
	fault string // the first member at fault
}

func (m *members) value(name string) []byte {
	v, _ := strictjson.Member(m.doc, name)
	if strictjson.Kind(v) == 'n' {
		return nil
	}
	return v
}

func (m *members) blame(name string) {
	if m.fault == "" {
		m.fault = name
	}
}

func (m *members) text(name string) string {
	v := m.value(name)
	s, ok := strictjson.Text(v)
	if v != nil && !ok {
		m.blame(name)
	}
	return s
}

func (m *members) texts(name string) []string {
	v := m.value(name)
	if v != nil && strictjson.Kind(v) != '[' {
		m.blame(name)
	}
	var list []string
	for i, e := range strictjson.Elements(v) {
		s, ok := strictjson.Text(e)
		if !ok || i >= maxListed {
			m.blame(name)
			return nil
		}
		list = append(list, s)
	}
	return list
}

func (m *members) flag(name string) bool {
	v := m.value(name)
	kind := strictjson.Kind(v)
	if v != nil && kind != 't' && kind != 'f' {
		m.blame(name)
	}
	return kind == 't'
}

func (m *members) refusal() *refusal.Refusal {
	if m.fault == "" {
		return nil
	}
	return refusal.New(refusal.OAuthMetadataInvalid, refusal.Own("member", m.fault))
}

// resourceMetadata reads a validated document as RFC 9728 section 2 gives it.
func resourceMetadata(doc []byte) (*oauthex.ProtectedResourceMetadata, *refusal.Refusal) {
	m := members{doc: doc}
	meta := &oauthex.ProtectedResourceMetadata{
		Resource:             m.text("resource"),
		AuthorizationServers: m.texts("authorization_servers"),
		ScopesSupported:      m.texts("scopes_supported"),
	}
	return meta, m.refusal()
}

// serverMetadata reads a validated document as RFC 8414 section 2 gives it.
func serverMetadata(doc []byte) (*oauthex.AuthServerMeta, *refusal.Refusal) {
	m := members{doc: doc}
	meta := &oauthex.AuthServerMeta{
		Issuer:                                     m.text("issuer"),
		AuthorizationEndpoint:                      m.text("authorization_endpoint"),
		TokenEndpoint:                              m.text("token_endpoint"),
		RegistrationEndpoint:                       m.text("registration_endpoint"),
		RevocationEndpoint:                         m.text("revocation_endpoint"),
		ScopesSupported:                            m.texts("scopes_supported"),
		CodeChallengeMethodsSupported:              m.texts("code_challenge_methods_supported"),
		TokenEndpointAuthMethodsSupported:          m.texts("token_endpoint_auth_methods_supported"),
		ClientIDMetadataDocumentSupported:          m.flag("client_id_metadata_document_supported"),
		AuthorizationResponseIssParameterSupported: m.flag("authorization_response_iss_parameter_supported"),
	}
	return meta, m.refusal()
}
