package negotiate

import (
	"context"
	"errors"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// pingEvery is how often a legacy server is asked for a sign of life while its pipe is listened to.
const pingEvery = 2 * time.Second

// Listen waits for changes of the tool list and tells onChange of each, on the caller's goroutine, until ctx ends or
// the stream does; it returns nil when the server ended it in an orderly way. It tells onOpen, which may be nil, when
// the server has said that it will announce changes; a legacy server may hold back the head of its stream until there
// is something to say. What changed is not said and nothing is done about it. A stream brings at most the events limit
// of messages. A server that does not offer this is refused as feature.listen.
func (s *Session) Listen(ctx context.Context, onOpen, onChange func()) error {
	if onOpen == nil {
		onOpen = func() {}
	}
	var no *refusal.Refusal
	switch {
	case s.Modern():
		no = s.subscribe(ctx, onOpen, onChange)
	case !s.announcesChanges():
		no = refusal.New(refusal.FeatureListen)
	case s.server.Stdio != nil:
		onOpen() // it said so in its handshake
		no = s.watchPipe(ctx, onChange)
	default:
		no = s.watchStream(ctx, onOpen, onChange)
	}
	if no != nil {
		return no
	}
	return nil
}

// CanListen reports whether Listen is worth a try: a modern server says only when it is asked, a legacy one says so in
// its handshake.
func (s *Session) CanListen() bool { return s.Modern() || s.announcesChanges() }

// announcesChanges reports the capability tools.listChanged, without which a legacy server announces nothing.
func (s *Session) announcesChanges() bool {
	capabilities, _ := strictjson.Member(s.handshake.Result, "capabilities")
	tools, _ := strictjson.Member(capabilities, "tools")
	changes, _ := strictjson.Member(tools, "listChanged")
	return string(changes) == "true"
}

var errNotOffered = errors.New("no acknowledgement for tools")

// subscribe holds one subscriptions/listen (specification 2026-07-28, basic/patterns/subscriptions). Until the server
// says which notifications it will send, nothing says that it will send ours.
func (s *Session) subscribe(ctx context.Context, onOpen, onChange func()) *refusal.Refusal {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	unacknowledged := time.AfterFunc(s.server.Limits.Request, func() { giveUp(errNotOffered) })
	defer unacknowledged.Stop()
	acknowledged := false
	a := s.send(ctx, listenRequest(s.client), func(n transport.Notification) {
		switch before := s.changes; {
		case n.Method == "notifications/subscriptions/acknowledged" && !acknowledged:
			if acknowledged = unacknowledged.Stop() && grantsTools(n.Params); acknowledged {
				onOpen()
			} else {
				giveUp(errNotOffered)
			}
		case acknowledged:
			if s.note(n); s.changes > before {
				onChange()
			}
		}
	})
	switch {
	case a.result != nil && acknowledged:
		return nil
	case a.refusedByDoor():
		return a.fail.Refusal
	case a.fail == nil, a.rpc != nil, errors.Is(context.Cause(ctx), errNotOffered), !acknowledged && a.legacyStatus():
		return refusal.New(refusal.FeatureListen)
	}
	return a.fail.Refusal
}

func grantsTools(params []byte) bool {
	granted, _ := strictjson.Member(params, "notifications")
	tools, _ := strictjson.Member(granted, "toolsListChanged")
	return string(tools) == "true"
}

// watchStream reads the stream that a legacy server has for itself over HTTP. A server that knows nothing of one often
// answers as for a session that it does not know; of a session that was begun a moment ago, that is not meant.
func (s *Session) watchStream(ctx context.Context, onOpen, onChange func()) *refusal.Refusal {
	carrier, ok := s.carrier.(transport.Listener)
	if !ok {
		return refusal.New(refusal.FeatureListen)
	}
	first := !s.listened
	s.listened = true
	err := carrier.Listen(ctx, onOpen, s.telling(onChange))
	if first && refusal.Is(err, refusal.TransportSessionLost) {
		return refusal.New(refusal.FeatureListen)
	}
	return refusal.From(err)
}

// telling is note that says when a notification was of a change.
func (s *Session) telling(onChange func()) func(transport.Notification) {
	return func(n transport.Notification) {
		before := s.changes
		if s.note(n); s.changes > before {
			onChange()
		}
	}
}

// watchPipe reads what a legacy server writes by itself. A carrier reads only while a request is under way, so a ping
// is sent from time to time; any answer to it will do.
func (s *Session) watchPipe(ctx context.Context, onChange func()) *refusal.Refusal {
	note := s.telling(onChange)
	for {
		limited, stop := within(ctx, s.server.Limits.Request)
		a := s.send(limited, &transport.Request{Method: methodPing}, note)
		stop()
		if a.fail != nil && a.rpc == nil {
			return a.fail.Refusal
		}
		select {
		case <-ctx.Done():
			return refusal.New(refusal.Interrupted)
		case <-time.After(pingEvery):
		}
	}
}
