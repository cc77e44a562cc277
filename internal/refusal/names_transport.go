package refusal

// Transport: the server cannot be reached, or the connection broke.
var (
	TransportUnreachable     = define("transport.unreachable", ExitPeer, "cannot connect[ to {host}]", "host")
	TransportTLS             = define("transport.tls", ExitPeer, "no TLS connection[ to {host}]: {fault}", "host", "fault")
	TransportPlaintext       = define("transport.plaintext", ExitRefused, "http:// is admitted to loopback addresses only; use https://")
	TransportURL             = define("transport.url", ExitRefused, "a URL is not usable: {fault}", "fault")
	TransportAddress         = define("transport.address", ExitRefused, "a URL that the server supplied leads to an internal address")
	TransportRedirect        = define("transport.redirect", ExitPeer, "the server answers with a redirect (status {status}), which is not followed[; the target differs {difference}]", "status", "difference")
	TransportStatus          = define("transport.status", ExitPeer, "HTTP status {status}[ to {method}][; retry after {retry_after} s]", "status", "method", "retry_after")
	TransportMethodRefused   = define("transport.method_refused", ExitPeer, "the server refuses {method} with status {status} and asks for no sign-in", "status", "method")
	TransportContentType     = define("transport.content_type", ExitPeer, "the answer is neither application/json nor text/event-stream (status {status})", "status", "method")
	TransportContentEncoding = define("transport.content_encoding", ExitPeer, "the answer has a content encoding that was not asked for")
	TransportClosed          = define("transport.closed", ExitPeer, "the connection ended before the answer[ to {method}]", "method")
	TransportSessionLost     = define("transport.session_lost", ExitPeer, "the server no longer knows the session (status {status})", "status")
	TransportHTTPSSE         = define("transport.http_sse_unsupported", ExitPeer, "the endpoint does not speak Streamable HTTP (status {status}); the deprecated HTTP+SSE transport is not supported", "status")
	TransportOutcomeUnknown  = define("transport.outcome_unknown", ExitPeer, "the call was sent and not answered ({cause}); whether it ran is unknown, and it is not sent again", "cause", "tool", "status", "retry_after", "limit")
	TransportCommandMissing  = define("transport.command_not_found", ExitPeer, "the command {command} is not on the PATH", "command")
	TransportCommandDir      = define("transport.command_in_directory", ExitRefused, "the command {command} was found only in the working directory, from which nothing is run", "command")
	TransportCommandScript   = define("transport.command_script", ExitRefused, "the command {command} is a .cmd or .bat script, which needs a shell", "command")
	TransportStart           = define("transport.start_failed", ExitPeer, "the command {command} could not be started", "command")
	TransportExited          = define("transport.exited", ExitPeer, "the server process ended[ with exit code {exit}][ by signal {signal}] before the answer[ to {method}]", "exit", "signal", "method", "inherited")
	TransportSurvivor        = define("transport.survivor", ExitPeer, "the server process of {command} could not be ended", "command")
	TransportStalled         = define("transport.stalled", ExitPeer, "the server does not read its input")
)

// ConfigCertificates stands here because only the transport reads the file.
var ConfigCertificates = define("config.certificates", ExitUsage, "the file {path} holds no PEM certificate", "path")

// Protocol: the peer broke the protocol.
var (
	ProtocolVersion        = define("protocol.version", ExitPeer, "no common protocol version[; the server names {versions}]", "versions")
	ProtocolPinned         = define("protocol.pinned", ExitPeer, "the server does not speak {version}, which the configuration pins", "version")
	ProtocolFrame          = define("protocol.frame", ExitPeer, "a message is not one strict JSON object ({fault}[ at byte {offset}])", "fault", "offset", "line")
	ProtocolBatch          = define("protocol.batch", ExitPeer, "the server sent a JSON array; batches are not part of the protocol", "line")
	ProtocolMessage        = define("protocol.message", ExitPeer, "a message is not JSON-RPC 2.0 ({fault})", "fault", "line")
	ProtocolStdoutNoise    = define("protocol.stdout_noise", ExitPeer, "line {line} of the server's stdout ({bytes} bytes) is not a message", "line", "bytes")
	ProtocolID             = define("protocol.id", ExitPeer, "an answer carries an id that was not asked for")
	ProtocolServerRequest  = define("protocol.server_request", ExitPeer, "the server sent a request of its own, which {protocol} does not allow", "protocol")
	ProtocolResultType     = define("protocol.result_type", ExitPeer, "the result has a resultType that {protocol} does not define", "protocol")
	ProtocolResult         = define("protocol.result", ExitPeer, "the result of {method} is not of the form that the protocol gives ({fault})", "method", "fault")
	ProtocolError          = define("protocol.error", ExitPeer, "the server answers {method} with JSON-RPC error {code}[ (status {status})]", "method", "code", "status", "tool")
	ProtocolNotAccepted    = define("protocol.notification_refused", ExitPeer, "the server refuses {method} (status {status})", "method", "status")
	ProtocolCursorRepeated = define("protocol.cursor_repeated", ExitPeer, "the tool list repeats a cursor[ (page {page})]", "page")
	ProtocolUnstable       = define("protocol.unstable", ExitPeer, "the tool list changed while it was read, {tries} times", "tries")
	ProtocolHeaderMismatch = define("protocol.header_mismatch", ExitPeer, "the server refuses the Mcp-* headers of the call (JSON-RPC error -32020)", "tool")
	ProtocolToolsMissing   = define("protocol.no_tools", ExitPeer, "the server does not offer tools")
)
