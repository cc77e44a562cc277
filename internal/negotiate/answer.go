package negotiate

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// Error codes of the modern protocol (specification 2026-07-28, schema: HeaderMismatchError and what follows it), and
// one of the legacy protocol that asks for URL elicitation. The codes of drafts are not among them.
const (
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
	codeURLElicitation     = -32042
	codeMethodNotFound     = -32601
)

func modernCode(code int64) bool {
	return code == codeHeaderMismatch || code == codeMissingCapability || code == codeUnsupportedVersion
}

// answer is what came back for one request: a result, or a JSON-RPC error under any HTTP status, or a failure. A
// JSON-RPC error under a status from 400 has its failure beside it.
type answer struct {
	result []byte
	rpc    *transport.RPCError
	fail   *transport.Failure
	status int // HTTP status; 0 on stdio and when nothing came
}

// send is one exchange.
func (s *Session) send(ctx context.Context, req *transport.Request, note func(transport.Notification)) answer {
	resp, err := s.carrier.Exchange(ctx, req, note)
	a := answerOf(resp, err)
	if a.fail == nil || a.status != 0 {
		s.heard = true
	}
	return a
}

func answerOf(resp *transport.Response, err error) answer {
	if err == nil {
		return answer{result: resp.Result, rpc: resp.Err, status: resp.Status}
	}
	var fail *transport.Failure
	if !errors.As(err, &fail) {
		fail = &transport.Failure{Refusal: refusal.From(err)}
	}
	return answer{rpc: fail.RPC, fail: fail, status: fail.Status}
}

// is reports whether the answer is a failure with that refusal.
func (a answer) is(e *refusal.Entry) bool { return a.fail != nil && refusal.Is(a.fail, e) }

// refusedByDoor reports whether authorization or rate limiting answered: then the server itself said nothing.
func (a answer) refusedByDoor() bool {
	return a.fail != nil && (a.status == http.StatusUnauthorized || a.status == http.StatusTooManyRequests ||
		a.status == http.StatusForbidden && a.fail.Bearer)
}

// forbidden reports a 403 that asks for no sign-in.
func (a answer) forbidden() bool {
	return a.fail != nil && a.status == http.StatusForbidden && !a.fail.Bearer
}

// broken reports whether a gateway or a fault of the server answered, whatever its body says.
func (a answer) broken() bool { return a.fail != nil && a.status >= http.StatusInternalServerError }

// refusesMethod reports an answer to initialize that leaves a 403 to server/discover as the reason to name: neither
// authorization nor a fault of the server or the way to it.
func (a answer) refusesMethod() bool {
	class := a.status / 100
	return (class == 2 || class == 4) && !a.refusedByDoor()
}

// legacyStatuses are those by which endpoints that know nothing of the modern protocol answer its requests.
var legacyStatuses = []int{
	http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
	http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

func (a answer) legacyStatus() bool {
	return a.fail != nil && slices.Contains(legacyStatuses, a.status)
}

// unusable reports an answer with a status of success, or on stdio, that is no message at all.
func (a answer) unusable() bool {
	return a.fail != nil && a.fail.Unusable && a.status < http.StatusMultipleChoices
}

// timedOut reports whether only the deadline ended the wait. A server that does not even read is another matter.
func (a answer) timedOut() bool {
	return a.fail != nil && a.fail.Cause == transport.CauseDeadline && !a.is(refusal.TransportStalled)
}

// ended reports whether the child is gone, or has closed its output, which is as good.
func (s *Session) ended(a answer) bool {
	return a.fail != nil && (a.fail.Exited || s.server.Stdio != nil && a.fail.Cause == transport.CauseConnection)
}

// methodRefused names the method that a 403 refused.
func methodRefused(method string) *refusal.Refusal {
	return refusal.New(refusal.TransportMethodRefused,
		refusal.Num("status", http.StatusForbidden), refusal.Own("method", method))
}

// protocolError is protocol.error with what is known.
func protocolError(method string, a answer, fields ...refusal.Field) *refusal.Refusal {
	no := refusal.New(refusal.ProtocolError, refusal.Own("method", method), refusal.Num("code", a.rpc.Code))
	no = no.With(fields...)
	if a.status >= http.StatusBadRequest {
		no = no.With(refusal.Num("status", a.status))
	}
	return no
}
