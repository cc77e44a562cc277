package negotiate

import (
	"context"
	"net/http"
	"slices"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// negotiate asks with server/discover, and with initialize on the same carrier when there is evidence of a server from
// before it. A second process is started only when the first one ended: starting is what takes long.
func (s *Session) negotiate(ctx context.Context) error {
	start, stop := s.starting(ctx)
	defer func() { stop() }()
	e := s.discover(start, true)
	switch e.era {
	case eraRefused:
		return e.refusal
	case eraModern:
		s.become(Handshake{Protocol: transport.Modern, Method: methodDiscover, Result: e.result})
		return nil
	case eraExited:
		if err := s.carrier.Restart(ctx); err != nil {
			return err
		}
		stop()
		start, stop = s.starting(ctx)
	}
	a := s.initialize(start, transport.Legacy)
	if result, ok := s.lateDiscovery(); ok {
		s.become(Handshake{transport.Modern, methodDiscover, methodDiscover + " was answered late", result})
		return nil
	}
	if e.silent && a.rpc != nil && modernCode(a.rpc.Code) {
		// No legacy server knows these codes, so this one was only slow. It is asked again for as long as a start may take.
		switch e = s.discover(start, false); e.era {
		case eraRefused:
			return e.refusal
		case eraModern:
			because := methodInitialize + " was answered as a modern server does"
			s.become(Handshake{transport.Modern, methodDiscover, because, e.result})
			return nil
		}
	}
	if e.era == eraForbidden && a.result == nil && a.refusesMethod() {
		return methodRefused(methodDiscover)
	}
	return s.settle(start, a, e.because, s.admit)
}

// lateDiscovery returns a DiscoverResult that came after the probe was given up. A server that sends one is modern,
// whatever it made of the initialize that came in between. Only a carrier that stays open can receive one.
func (s *Session) lateDiscovery() (result []byte, ok bool) {
	keeper, ok := s.carrier.(interface {
		Late(method string) (*transport.Response, bool)
	})
	if !ok {
		return nil, false
	}
	late, ok := keeper.Late(methodDiscover)
	if !ok || late.Result == nil {
		return nil, false
	}
	listed, ok := discovered(late.Result)
	return late.Result, ok && slices.Contains(listed, transport.Modern)
}

// initializePinned is Open where the configuration pins a version that has a handshake.
func (s *Session) initializePinned(ctx context.Context, version string) error {
	start, stop := s.starting(ctx)
	defer stop()
	err := s.initializeAs(start, version, pinned)
	if refusal.Is(err, refusal.ProtocolVersion) || refusal.Is(err, refusal.ProtocolError) {
		return notPinned(version)
	}
	return err
}

// initializeAs offers the one version that the answer must name.
func (s *Session) initializeAs(start context.Context, version, because string) error {
	a := s.initialize(start, version)
	return s.settle(start, a, because, func(answered string) bool { return answered == version })
}

func (s *Session) admit(version string) bool { return admits(s.server, version) }

// initialize sends the first message of a legacy session. No version is agreed on before its answer, so no header may
// name one.
func (s *Session) initialize(start context.Context, offer string) answer {
	s.carrier.Use(transport.Protocol{Legacy: true})
	return s.send(start, initializeRequest(s.client, offer), s.note)
}

// settle judges the answer to initialize and ends the handshake.
func (s *Session) settle(start context.Context, a answer, because string, admit func(string) bool) error {
	if a.result == nil {
		return s.stale(s.initializeRefusal(start, a), a)
	}
	member, _ := strictjson.Member(a.result, "protocolVersion")
	version, ok := strictjson.Text(member)
	switch {
	case !ok:
		return refusal.New(refusal.ProtocolResult, refusal.Own("method", methodInitialize),
			refusal.Own("fault", "protocolVersion is not a string"))
	case !admit(version):
		return s.stale(unknownVersion(version), a)
	}
	s.become(Handshake{Protocol: version, Method: methodInitialize, Because: because, Result: a.result})
	return s.carrier.Notify(start, &transport.Request{Method: methodInitialized})
}

// initializeRefusal says why there is no session.
func (s *Session) initializeRefusal(start context.Context, a answer) *refusal.Refusal {
	switch {
	case a.refusedByDoor() || a.broken():
		return a.fail.Refusal
	case a.forbidden():
		return methodRefused(methodInitialize)
	case a.status == http.StatusMethodNotAllowed, a.status == http.StatusNotFound && a.rpc == nil:
		return refusal.New(refusal.TransportHTTPSSE, refusal.Num("status", a.status))
	case a.rpc == nil:
		return s.startRefusal(start, methodInitialize, a)
	}
	if listed := supported(a.rpc.Data); listed != nil || a.rpc.Code == codeUnsupportedVersion {
		return unknownVersion(listed...)
	}
	return protocolError(methodInitialize, a)
}

// startRefusal gives the deadline its name and its limit: the carrier knows only what was left of it.
func (s *Session) startRefusal(start context.Context, method string, a answer) *refusal.Refusal {
	limit, ok := limitReached(start)
	if !ok || !a.timedOut() {
		return a.fail.Refusal
	}
	if s.heard || a.is(refusal.DeadlineRequest) && s.server.Stdio != nil {
		return refusal.New(refusal.DeadlineRequest, refusal.Own("method", method), limit)
	}
	return refusal.New(refusal.DeadlineStart, limit)
}
