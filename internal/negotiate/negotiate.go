// Package negotiate finds out which protocol a server speaks, wraps requests in that protocol's envelope, and refuses
// by name every feature that mcpc does not admit. (The guarantee is stated in full by its author.)
package negotiate

import (
	"context"

	"mcpc/internal/config"
	"mcpc/internal/transport"
)

// Handshake is how the protocol was found.
type Handshake struct {
	Protocol string // transport.Modern, transport.Legacy, or a version listed under accept_protocols
	Method   string // "server/discover" or "initialize"
	Because  string // our words: why that method, for people: "server/discover answered -32601"; "" when there is nothing to say
	Result   []byte // DiscoverResult or InitializeResult as received
}

// Client identifies mcpc to servers.
type Client struct{ Name, Version string }

// Session is a negotiated connection.
type Session struct{}

// Dialer opens a fresh carrier.
type Dialer func(ctx context.Context) (transport.Carrier, error)

// Open negotiates from scratch.
func Open(ctx context.Context, dial Dialer, server *config.Server, client Client) (*Session, error) {
	panic("unwritten")
}

// Resume opens a session in the protocol that a snapshot recorded: nothing is sent for a modern one, initialize for a
// legacy one.
func Resume(ctx context.Context, dial Dialer, server *config.Server, client Client, protocol string) (*Session, error) {
	panic("unwritten")
}

// Handshake returns how the protocol was found; after Resume of a modern server its Result is nil.
func (s *Session) Handshake() Handshake { panic("unwritten") }

// Modern reports whether the session is of the stateless era.
func (s *Session) Modern() bool { panic("unwritten") }

// ListPage asks for one page of tools/list; nil asks for the first. It returns the result's bytes as received.
func (s *Session) ListPage(ctx context.Context, cursor *string) ([]byte, error) { panic("unwritten") }

// Changes returns how many tools/list_changed notifications came so far.
func (s *Session) Changes() int { panic("unwritten") }

// Call is one tools/call.
type Call struct {
	Tool      string
	Arguments []byte                  // one JSON object, sent as it stands; nil sends {}
	Headers   []transport.HeaderField // Mcp-Param-*, encoded
	Progress  func(Progress)          // nil asks for no progress
}

// Progress is one notifications/progress for the call; Message is the peer's text.
type Progress struct {
	Value, Total float64 // Total is 0 when unknown
	Message      string
}

// Result is the answer to a call.
type Result struct {
	Raw     []byte // the result member as received
	IsError bool   // isError is true
}

// Call sends the call, once.
func (s *Session) Call(ctx context.Context, call Call) (*Result, error) { panic("unwritten") }

// CallMessage returns the exact bytes that Call would send first, for --dry-run; protocol as Resume takes it.
func CallMessage(protocol string, client Client, call Call) []byte { panic("unwritten") }

// Close ends the session and its carrier.
func (s *Session) Close() error { panic("unwritten") }
