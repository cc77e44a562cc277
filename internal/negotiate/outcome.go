package negotiate

import (
	"context"
	"net/http"
	"slices"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// callRefusal says why a call has no result, and whether it may have run.
func (s *Session) callRefusal(ctx context.Context, a answer, asked []string, tool string) *refusal.Refusal {
	name := refusal.Own("tool", tool)
	switch {
	case a.refusedByDoor():
		return a.fail.Refusal
	case a.is(refusal.TransportSessionLost):
		return a.fail.Refusal.Hint("a call is never sent twice by mcpc; run the command again, it begins a new session")
	case a.rpc != nil && len(asked) > 0:
		return featureRefusal(asked, name)
	case a.rpc != nil:
		return s.errorRefusal(methodCall, a, name)
	case a.forbidden():
		return methodRefused(methodCall)
	case a.fail.Cause != "":
		return s.unanswered(ctx, a.fail, asked, tool)
	case a.fail.Sent && a.broken():
		return outcomeUnknown(ctx, a.fail, transport.CauseStatus, tool)
	case a.fail.Sent && a.status < http.StatusMultipleChoices:
		return ran(a.fail.Refusal)
	}
	return s.stale(a.fail.Refusal, a)
}

// inputRefusal is for a call that has a result, and in which the server first asked for input. Roots are no input: they
// are a hint where to work, which a tool can do without.
func inputRefusal(asked []string, tool string) *refusal.Refusal {
	for _, name := range asked {
		if name == "elicitation" || name == "sampling" {
			return refusal.New(Feature(name), refusal.Own("tool", tool)).
				Hint("the tool went on without it; what it answered is on stdout, and it may have acted")
		}
	}
	return nil
}

// unanswered is a call whose answer did not come. Only what was not sent at all has an outcome that is known.
func (s *Session) unanswered(
	ctx context.Context, fail *transport.Failure, asked []string, tool string,
) *refusal.Refusal {
	if !fail.Sent {
		return unsent(ctx, fail)
	}
	waited := fail.Cause == transport.CauseDeadline || fail.Cause == transport.CauseConnection
	if waited && len(asked) > 0 {
		return featureRefusal(asked, refusal.Own("tool", tool)).
			Hint("the call was sent; whether it ran is unknown, and it is not sent again")
	}
	return outcomeUnknown(ctx, fail, fail.Cause, tool)
}

func unsent(ctx context.Context, fail *transport.Failure) *refusal.Refusal {
	limit, ok := limitReached(ctx)
	switch {
	case fail.Cause == transport.CauseInterrupted:
		return refusal.New(refusal.Interrupted)
	case fail.Cause == transport.CauseDeadline && ok && !refusal.Is(fail, refusal.TransportStalled):
		return refusal.New(refusal.DeadlineCall, limit)
	}
	return fail.Refusal
}

func outcomeUnknown(ctx context.Context, fail *transport.Failure, cause, tool string) *refusal.Refusal {
	no := refusal.New(refusal.TransportOutcomeUnknown, refusal.Own("cause", cause), refusal.Own("tool", tool))
	if limit, ok := limitReached(ctx); ok && cause == transport.CauseDeadline {
		no = no.With(limit)
	}
	if fail.Status != 0 {
		no = no.With(refusal.Num("status", fail.Status))
	}
	if after, ok := fail.Refusal.Detail("retry_after").(int64); ok {
		no = no.With(refusal.Num("retry_after", after))
	}
	return no
}

// ran marks a refusal of the answer: the call is behind it all the same.
func ran(no *refusal.Refusal) *refusal.Refusal {
	if no.HintText() != "" {
		return no
	}
	return no.Hint("the call was sent and the server answered; it may have run")
}

// errorRefusal says what a JSON-RPC error means. The codes of the modern protocol mean nothing in the legacy one.
func (s *Session) errorRefusal(method string, a answer, fields ...refusal.Field) *refusal.Refusal {
	code := a.rpc.Code
	switch {
	case code == codeURLElicitation:
		return refusal.New(refusal.FeatureElicitation, fields...)
	case !s.Modern():
	case code == codeHeaderMismatch:
		no := refusal.New(refusal.ProtocolHeaderMismatch, fields...)
		return no.Hint("the schema of the tool may have changed" + s.snapshotCommand())
	case code == codeMissingCapability:
		return missingCapability(a.rpc.Data, fields...)
	case code == codeUnsupportedVersion:
		return s.stale(unknownVersion(supported(a.rpc.Data)...), a)
	}
	return s.stale(protocolError(method, a, fields...), a)
}

// legacyCodes are the errors by which servers answer a request of a protocol that they do not know.
var legacyCodes = []int64{-32000, -32004, -32600, codeMethodNotFound}

// stale adds to a refusal, where the protocol is that of a snapshot and the server answers as if it no longer speaks
// it, that a new snapshot finds out.
func (s *Session) stale(no *refusal.Refusal, a answer) *refusal.Refusal {
	other := refusal.Is(no, refusal.ProtocolVersion) ||
		a.rpc != nil && slices.Contains(legacyCodes, a.rpc.Code) || a.rpc == nil && (a.legacyStatus() || a.unusable())
	if !s.resumed || !other {
		return no
	}
	return no.Hint("the server may no longer speak what its snapshot records" + s.snapshotCommand())
}

// snapshotCommand is the second line of a hint. A server that was given as a command line has no name to type.
func (s *Session) snapshotCommand() string {
	switch {
	case s.server.Name != "":
		return "\nmcpc snapshot take " + refusal.Word(s.server.Name)
	case s.server.HTTP != nil:
		return "\nmcpc snapshot take " + refusal.Word(s.server.HTTP.URL)
	}
	return "; take a new snapshot"
}
