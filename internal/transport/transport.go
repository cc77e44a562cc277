// Package transport is one exchange with an MCP server, over stdio or Streamable HTTP: a request out, its response
// back, notifications on the way.
//
// It guarantees that every inbound frame is bounded, valid UTF-8, one strict JSON object and JSON-RPC 2.0 before
// anything looks at it, that the bytes of a result are the bytes received, and that an error holds none of the peer's
// text. It does not negotiate, does not retry a request that may have run, and knows sign-in only as the Authorizer
// interface.
package transport

import (
	"context"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// Protocol versions that mcpc speaks.
const (
	Modern = "2026-07-28" // stateless; found by server/discover
	Legacy = "2025-11-25" // begun by initialize
)

// Request is one outbound message. The carrier gives it its id.
type Request struct {
	Method  string
	Params  []byte        // one JSON object, complete with _meta
	Name    string        // params.name, for the Mcp-Name header; "" when the method has none
	Headers []HeaderField // Mcp-Param-*, values encoded already
	// NoCancel keeps the carrier from sending notifications/cancelled when ctx ends: some legacy servers die on any
	// message before initialize, so the probe is only abandoned. Its answer may still come; see LateKeeper.
	NoCancel bool
}

// HeaderField is one HTTP request header.
type HeaderField struct{ Name, Value string }

// Notification is a message from the server that wants no answer. It is the peer's data.
type Notification struct {
	Method string
	Params []byte // nil when absent
}

// Response is the answer to one request: exactly one of Result and Err is set.
type Response struct {
	Result []byte // bytes as received
	Err    *RPCError
	Status int // HTTP status; 0 on stdio
}

// RPCError is a JSON-RPC error without its message, which is the peer's prose.
type RPCError struct {
	Code int64
	Data []byte // as received; the peer's data, nil when absent
}

// Protocol tells a carrier what was negotiated, since HTTP headers and server requests depend on it.
type Protocol struct {
	Version string // sent as MCP-Protocol-Version; "" sends none
	Legacy  bool   // sessions, server requests, resumption, and cancelling by notification
}

// Carrier is one connection to one server. Its methods are not safe for concurrent use, except that Close may be
// called at any time.
type Carrier interface {
	// Exchange sends the request and waits for its response. Notifications that arrive meanwhile go to note, in
	// order, on the caller's goroutine; note may be nil. When ctx ends, the request is cancelled as the protocol in
	// use says. An error is a *Failure.
	Exchange(ctx context.Context, req *Request, note func(Notification)) (*Response, error)
	// Notify sends a notification. An error is a *Failure.
	Notify(ctx context.Context, req *Request) error
	// Use tells what was negotiated; it holds for later messages.
	Use(Protocol)
	// Restart begins again with a fresh process or connection, without session or negotiated protocol.
	Restart(ctx context.Context) error
	// Asked returns the methods of the requests that the server sent while the last exchange was under way, and was
	// refused, from the closed set roots/list, sampling/createMessage, elicitation/create and "" for any other, in
	// order, without repeats. What it sent before the request of that exchange was written does not count.
	Asked() []string
	// Close ends the connection within the shutdown limit and leaves no process behind.
	Close() error
}

// Failure is why an exchange has no response, with the evidence that negotiation and calling decide on.
type Failure struct {
	Refusal   *refusal.Refusal
	Status    int       // HTTP status of the answer; 0 when there was none
	RPC       *RPCError // JSON-RPC error in the body of an answer with status >= 400
	Bearer    bool      // the answer had a WWW-Authenticate challenge of scheme Bearer
	Unusable  bool      // the answer came, and was no message at all (HTML, empty, not JSON); stdio noise is not meant
	Exited    bool      // the child process ended
	Cause     string    // why there is no answer: one of the Cause constants; "" where the answer itself is at fault
	Sent      bool      // the request, or a part of it, was written: it may have run
	Challenge *Challenge
}

// Causes of a missing answer.
const (
	CauseDeadline    = "deadline"
	CauseInterrupted = "interrupted"
	CauseConnection  = "connection lost"
	CauseExited      = "the server process ended"
	CauseStatus      = "gateway status"
)

func (f *Failure) Error() string { return f.Refusal.Error() }

// Unwrap makes the refusal findable by errors.As.
func (f *Failure) Unwrap() error { return f.Refusal }

// Challenge is a 401 or 403 answer, for the Authorizer: the raw WWW-Authenticate values are the peer's text.
type Challenge struct {
	Status          int
	WWWAuthenticate []string
}

// Authorizer supplies the bearer token for one endpoint. The package that signs in implements it.
type Authorizer interface {
	// Token returns the token to send, or an empty secret when there is none.
	Token(ctx context.Context) (config.Secret, error)
	// Challenged is told that the server refused used (which may be empty) with a 401, or with a 403 that carries a
	// Bearer challenge. It returns true when a new token is there and the request, which did not run, may be sent
	// once more; otherwise the error is the refusal to end with.
	Challenged(ctx context.Context, used config.Secret, c Challenge) (retry bool, err error)
}
