// Package negotiate finds out which protocol a server speaks, wraps requests in that protocol's envelope, and refuses
// by name every feature that mcpc does not admit.
//
// It guarantees that a server is treated as legacy only on evidence that it is, that no version is spoken which is
// neither ours nor accepted in the configuration, that tools/call is sent at most once, and that a call which was sent
// and not answered is refused as "outcome unknown" and never as a plain failure. Results are handed on as received.
//
// It advertises no capability, answers no request of the server's (the carrier refuses those), follows no second
// round of a multi-round result, and never changes a protocol that a snapshot recorded. It decides nothing about
// permission.
package negotiate

import (
	"context"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// Methods that mcpc sends.
const (
	methodDiscover    = "server/discover"
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodList        = "tools/list"
	methodCall        = "tools/call"
	methodListen      = "subscriptions/listen"
	methodPing        = "ping"
)

// Handshake is how the protocol was found.
type Handshake struct {
	Protocol string // transport.Modern, transport.Legacy, or a version listed under accept_protocols
	Method   string // "server/discover" or "initialize"; after Resume of a modern server ""
	Because  string // our words: why that method, for people ("server/discover answered -32601"); "" for no reason
	Result   []byte // DiscoverResult or InitializeResult as received
}

// Client identifies mcpc to servers.
type Client struct{ Name, Version string }

// Session is a negotiated connection. Its methods are not safe for concurrent use, except that Close may be called at
// any time.
type Session struct {
	carrier   transport.Carrier
	server    *config.Server
	client    Client
	handshake Handshake
	resumed   bool // the protocol comes from a snapshot
	heard     bool // the server answered something
	reopened  bool // a lost session was begun again; that is done once
	listened  bool // the server's own stream was asked for
	changes   int
	tokens    int64 // progress tokens given
}

// Dialer opens a fresh carrier.
type Dialer func(ctx context.Context) (transport.Carrier, error)

// Open negotiates from scratch. An error is a *refusal.Refusal.
func Open(ctx context.Context, dial Dialer, server *config.Server, client Client) (*Session, error) {
	return begin(ctx, dial, server, client, func(s *Session) error {
		switch server.Protocol {
		case "":
			return s.negotiate(ctx)
		case transport.Modern:
			return s.discoverPinned(ctx)
		default:
			return s.initializePinned(ctx, server.Protocol)
		}
	})
}

// Resume opens a session in the protocol that a snapshot recorded: nothing is sent for a modern one, initialize for a
// legacy one. What a server speaks belongs to what was reviewed, so one that speaks something else by now is refused,
// here or at the first request, and not negotiated with. An error is a *refusal.Refusal.
func Resume(ctx context.Context, dial Dialer, server *config.Server, client Client, protocol string) (*Session, error) {
	if protocol != transport.Modern && !admits(server, protocol) {
		return nil, unknownVersion(protocol)
	}
	return begin(ctx, dial, server, client, func(s *Session) error {
		s.resumed = true
		if protocol == transport.Modern {
			s.become(Handshake{Protocol: transport.Modern})
			return nil
		}
		start, stop := s.starting(ctx)
		defer stop()
		return s.initializeAs(start, protocol, "the snapshot records it")
	})
}

// begin dials and opens, and leaves nothing behind when that fails.
func begin(
	ctx context.Context, dial Dialer, server *config.Server, client Client, open func(*Session) error,
) (*Session, error) {
	carrier, err := dial(ctx)
	if err != nil {
		return nil, refusal.From(err)
	}
	s := &Session{carrier: carrier, server: server, client: client}
	if err := open(s); err != nil {
		_ = carrier.Close()
		return nil, refusal.From(err)
	}
	return s, nil
}

// starting bounds the time to the first answer of a fresh carrier.
func (s *Session) starting(ctx context.Context) (context.Context, context.CancelFunc) {
	return within(ctx, s.server.Limits.Start)
}

// become ends the negotiation.
func (s *Session) become(h Handshake) {
	s.handshake = h
	s.carrier.Use(transport.Protocol{Version: h.Protocol, Legacy: h.Protocol != transport.Modern})
}

// Handshake returns how the protocol was found; after Resume of a modern server its Result is nil.
func (s *Session) Handshake() Handshake { return s.handshake }

// Modern reports whether the session is of the stateless era.
func (s *Session) Modern() bool { return s.handshake.Protocol == transport.Modern }

// Changes returns how many tools/list_changed notifications came so far. A legacy session that was lost between two
// pages, and begun again, counts as a change: nothing says that the pages belong together.
func (s *Session) Changes() int { return s.changes }

// Close ends the session and its carrier.
func (s *Session) Close() error { return s.carrier.Close() }

// note counts what every exchange may bring.
func (s *Session) note(n transport.Notification) {
	if n.Method == "notifications/tools/list_changed" {
		s.changes++
	}
}
