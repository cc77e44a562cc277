package negotiate

import (
	"context"
	"net/http"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// ListPage asks for one page of tools/list; nil asks for the first. It returns the result's bytes as received. A
// legacy session that the server forgot is begun again once, since listing may be repeated. An error is a
// *refusal.Refusal.
func (s *Session) ListPage(ctx context.Context, cursor *string) ([]byte, error) {
	ctx, stop := within(ctx, s.server.Limits.Request)
	defer stop()
	a := s.send(ctx, listRequest(s.handshake.Protocol, s.client, cursor), s.note)
	if forgotten(a) && !s.reopened {
		if err := s.reopen(ctx); err != nil {
			return nil, refusal.From(err)
		}
		if cursor != nil {
			s.changes++
		}
		a = s.send(ctx, listRequest(s.handshake.Protocol, s.client, cursor), s.note)
	}
	if a.result == nil {
		return nil, s.listRefusal(ctx, a)
	}
	if no := s.checkResult(methodList, a.result); no != nil {
		return nil, no
	}
	return a.result, nil
}

// forgotten reports whether a legacy server no longer knows the session: a 404 says so, and says that the request was
// not handled (specification 2025-11-25, basic/transports, Session Management). A 400 may mean it, but is no such word.
func forgotten(a answer) bool {
	return a.is(refusal.TransportSessionLost) && a.status == http.StatusNotFound
}

// reopen begins the session again, without the id of the old one, in the same protocol.
func (s *Session) reopen(ctx context.Context) error {
	s.reopened = true
	if err := s.carrier.Restart(ctx); err != nil {
		return err
	}
	first := s.handshake
	if err := s.initializeAs(ctx, first.Protocol, first.Because); err != nil {
		return err
	}
	s.handshake = first
	return nil
}

func (s *Session) listRefusal(ctx context.Context, a answer) *refusal.Refusal {
	switch {
	case a.refusedByDoor() || a.is(refusal.TransportSessionLost):
		return a.fail.Refusal
	case a.rpc != nil && a.rpc.Code == codeMethodNotFound && s.withoutTools():
		return refusal.New(refusal.ProtocolToolsMissing)
	case a.rpc != nil:
		return s.errorRefusal(methodList, a)
	case a.forbidden():
		return methodRefused(methodList)
	}
	if limit, ok := limitReached(ctx); ok && a.timedOut() {
		return refusal.New(refusal.DeadlineRequest, refusal.Own("method", methodList), limit)
	}
	return s.stale(a.fail.Refusal, a)
}

// withoutTools reports whether the handshake is known and has no capability for tools.
func (s *Session) withoutTools() bool {
	capabilities, ok := strictjson.Member(s.handshake.Result, "capabilities")
	if !ok {
		return false
	}
	_, has := strictjson.Member(capabilities, "tools")
	return !has
}
