package oauthflow

// codes is the closed set of error codes that mcpc repeats: the registered ones, and two that are not registered and
// seen in the wild. Any other is the peer's text and shown as "other".
var codes = set(
	// RFC 6749, sections 4.1.2.1 and 5.2
	"invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type", "invalid_scope",
	"server_error", "temporarily_unavailable", "invalid_client", "invalid_grant", "unsupported_grant_type",
	// RFC 6750, section 3.1
	"invalid_token", "insufficient_scope",
	// RFC 7591, section 3.2.2
	"invalid_redirect_uri", "invalid_client_metadata", "invalid_software_statement", "unapproved_software_statement",
	// RFC 7009, RFC 8707, RFC 9449, RFC 9470
	"unsupported_token_type", "invalid_target", "invalid_dpop_proof", "use_dpop_nonce",
	"insufficient_user_authentication",
	// OpenID Connect Core, section 3.1.2.6
	"interaction_required", "login_required", "account_selection_required", "consent_required",
	"invalid_request_uri", "invalid_request_object", "request_not_supported", "request_uri_not_supported",
	"registration_not_supported",
	// not registered
	badRefreshToken, invalidResource,
)

const (
	badRefreshToken = "bad_refresh_token"
	invalidResource = "invalid_resource"
)

func set(values ...string) map[string]bool {
	m := make(map[string]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}

// registered returns the code when it is one of the closed set, and "other" when not.
func registered(code string) string {
	if codes[code] {
		return code
	}
	return "other"
}

// endsGrant reports whether a code of the token endpoint says that the grant is gone, and not that something went
// wrong for now.
func endsGrant(code string) bool {
	return code == "invalid_grant" || code == "invalid_client" || code == badRefreshToken
}

// refusesResource reports whether a code says that the resource indicator is not accepted.
func refusesResource(code string) bool { return code == "invalid_target" || code == invalidResource }
