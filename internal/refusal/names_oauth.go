package refusal

// Sign-in: what stands between a command and a token. None of these is worth a second try by itself.
var (
	OAuthLoginRequired = define("oauth.login_required", ExitSignIn, "sign-in is needed[: {reason}]", "reason")
	OAuthScopeRequired = define("oauth.scope_required", ExitSignIn, "the server asks for more scopes than were granted[: {scopes}]", "scopes", "reason", "tool")
	OAuthTokenRejected = define("oauth.token_rejected", ExitSignIn, "the server refuses a token that was refreshed just now")
	OAuthForbidden     = define("oauth.forbidden", ExitSignIn, "the server refuses the request to this sign-in (status {status})", "status")
	OAuthChallenge     = define("oauth.challenge_origin", ExitSignIn, "the server's challenge names a metadata document of another origin, where no sign-in is made")
)

// Sign-in: what the metadata documents say.
var (
	OAuthNoResourceMetadata = define("oauth.no_resource_metadata", ExitSignIn, "the server publishes no protected-resource metadata, so where to sign in is not known")
	OAuthResourceMismatch   = define("oauth.resource_mismatch", ExitSignIn, "the configured endpoint is {endpoint}, but its metadata ({source}) is for {resource}; they differ {difference}", "endpoint", "resource", "source", "difference")
	OAuthNoServer           = define("oauth.no_authorization_server", ExitSignIn, "the protected-resource metadata names no authorization server")
	OAuthIssuerPin          = define("oauth.issuer_not_listed", ExitSignIn, "the issuer that the configuration pins is not among the {count} that the server names", "count")
	OAuthClientIssuer       = define("oauth.client_issuer", ExitSignIn, "the configured client belongs to another issuer than the server names")
	OAuthNoServerMetadata   = define("oauth.no_server_metadata", ExitSignIn, "the authorization server publishes no metadata[ (status {status})]", "status")
	OAuthIssuerMismatch     = define("oauth.issuer_mismatch", ExitSignIn, "{source} names the issuer {expected}, but the metadata found there says {found}; they differ {difference}", "source", "expected", "found", "difference")
	OAuthPKCE               = define("oauth.no_pkce", ExitSignIn, "the authorization server does not advertise PKCE with S256")
	OAuthEndpointMissing    = define("oauth.endpoint_missing", ExitSignIn, "the authorization-server metadata has no {member}", "member")
	OAuthEndpointScheme     = define("oauth.endpoint_scheme", ExitSignIn, "{member} is not an https URL without user and fragment", "member")
	OAuthMetadataInvalid    = define("oauth.metadata_invalid", ExitSignIn, "{member} in the metadata is not of the form that the standard gives", "member")
)

// Sign-in: the client's registration.
var (
	OAuthNoRegistration = define("oauth.no_registration", ExitSignIn, "there is no way to be known to the authorization server: no configured client, no client metadata document, no dynamic registration")
	OAuthRegistration   = define("oauth.registration_failed", ExitSignIn, "the authorization server does not register mcpc[ (error {code})][ (status {status})]", "code", "status")
	OAuthRedirect       = define("oauth.registration_redirect_changed", ExitSignIn, "the authorization server registered another redirect URI than {redirect}", "redirect")
	OAuthClientMethod   = define("oauth.client_method", ExitSignIn, "mcpc and the token endpoint have no client authentication in common", "reason")
)

// Sign-in: the browser and its callback.
var (
	OAuthDenied          = define("oauth.denied", ExitSignIn, "access was denied at the authorization server")
	OAuthAuthorization   = define("oauth.authorization_error", ExitSignIn, "the authorization server answers with the error {code}", "code")
	OAuthCallbackIssuer  = define("oauth.callback_issuer", ExitSignIn, "the callback {fault}, so nothing else in it was looked at", "fault")
	OAuthCallback        = define("oauth.callback_invalid", ExitSignIn, "the callback URL is not the answer to this sign-in ({fault})", "fault")
	OAuthCallbackBusy    = define("oauth.callback_busy", ExitSignIn, "the callback address {callback} is in use", "callback")
	OAuthCallbackAddress = define("oauth.callback_address", ExitUsage, "the callback address must be HOST:PORT with a loopback host, not {callback}", "callback")
	OAuthBrowser         = define("oauth.browser", ExitSignIn, "no browser could be opened")
	OAuthScopeName       = define("oauth.scope_name", ExitUsage, "{scope} is not a scope token", "scope")
	OAuthClientMetadata  = define("oauth.client_metadata_url", ExitUsage, "the URL of a client metadata document is https with a path and without user, query and fragment")
)

// Sign-in: the token endpoint.
var (
	OAuthTokenError    = define("oauth.token_error", ExitSignIn, "the token endpoint answers with the error {code}[ (status {status})]", "code", "status")
	OAuthTokenEndpoint = define("oauth.token_endpoint", ExitPeer, "the token endpoint does not answer as it should for now[ (error {code})][ (status {status})][; retry after {retry_after} s]; the stored credential is as it was", "code", "status", "retry_after")
	OAuthTokenAnswer   = define("oauth.token_answer", ExitSignIn, "the answer of the token endpoint is not usable ({fault})", "fault", "status")
	OAuthTokenType     = define("oauth.token_type", ExitSignIn, "the token is not a Bearer token; no other kind is admitted")
	OAuthResource      = define("oauth.resource_refused", ExitSignIn, "the authorization server refuses the resource indicator (error {code})", "code", "status")
)
