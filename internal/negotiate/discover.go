package negotiate

import (
	"context"
	"fmt"
	"slices"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// era is what an answer to server/discover says about the server.
type era int

const (
	eraRefused   era = iota // nothing: the refusal of the evidence ends the negotiation
	eraModern               // a DiscoverResult lists our version
	eraAgain                // the server refused our version and lists it all the same
	eraLegacy               // a server from before server/discover
	eraExited               // the child ended: legacy, and nobody is left to say so to
	eraForbidden            // a 403 that asks for no sign-in: perhaps only this method is refused
)

// evidence is an answer to server/discover, judged.
type evidence struct {
	era     era
	because string           // our words
	result  []byte           // of eraModern
	listed  []string         // of eraAgain: the versions of a -32022
	refusal *refusal.Refusal // of eraRefused
	silent  bool             // of eraLegacy: nothing came within the probe limit, which may be a slow server's
}

func refusedBy(no *refusal.Refusal) evidence { return evidence{era: eraRefused, refusal: no} }

func legacyBecause(format string, a ...any) evidence {
	return evidence{era: eraLegacy, because: methodDiscover + " " + fmt.Sprintf(format, a...)}
}

// discover asks what the server speaks, within the probe limit where there is something to go on to, and once more
// where the server says that it does speak what it just refused. The bound on that is ours: such a server would go on
// like this for ever.
func (s *Session) discover(start context.Context, probing bool) evidence {
	s.carrier.Use(transport.Protocol{Version: transport.Modern})
	e := s.probe(start, probing)
	if e.era != eraAgain {
		return e
	}
	if e = s.probe(start, probing); e.era == eraAgain {
		return s.withoutModern(e.listed, "refuses "+transport.Modern+" twice")
	}
	return e
}

func (s *Session) probe(start context.Context, probing bool) evidence {
	ctx, stop := start, func() {}
	if probing {
		ctx, stop = context.WithTimeout(start, s.server.Limits.Probe)
	}
	defer stop()
	a := s.send(ctx, discoverRequest(s.client), s.note)
	if a.timedOut() && !a.fail.Sent && start.Err() == nil {
		// A connection or a refresh of the credential that is slow says nothing about the era.
		a = s.send(start, discoverRequest(s.client), s.note)
	}
	return s.judge(start, a)
}

// judge is the table of what an answer to server/discover means (specification, basic/versioning, Backward
// Compatibility): a modern error is known by its code and never by its status, and what is not known as modern is
// legacy, except where the server itself has not spoken.
func (s *Session) judge(start context.Context, a answer) evidence {
	switch {
	case a.refusedByDoor():
		return refusedBy(a.fail.Refusal)
	case a.rpc != nil && modernCode(a.rpc.Code):
		return s.judgeModernError(a.rpc)
	case a.forbidden():
		return evidence{era: eraForbidden, because: methodDiscover + " answered status 403"}
	case a.broken():
		return refusedBy(a.fail.Refusal)
	case a.rpc != nil:
		return legacyBecause("answered %d", a.rpc.Code)
	case a.legacyStatus():
		return legacyBecause("answered status %d", a.status)
	case a.fail == nil:
		return s.judgeResult(a.result)
	case a.unusable():
		return legacyBecause("answered nothing that is a message")
	case s.ended(a):
		return evidence{era: eraExited, because: "the process ended at " + methodDiscover, refusal: a.fail.Refusal}
	case a.timedOut() && start.Err() == nil:
		e := legacyBecause("was not answered in %d ms", s.server.Limits.Probe.Milliseconds())
		e.silent = true
		return e
	case a.is(refusal.ProtocolServerRequest):
		// The modern protocol has no requests from the server.
		return legacyBecause("was answered with a request")
	}
	return refusedBy(s.startRefusal(start, methodDiscover, a))
}

func (s *Session) judgeModernError(rpc *transport.RPCError) evidence {
	switch rpc.Code {
	case codeHeaderMismatch:
		return refusedBy(refusal.New(refusal.ProtocolHeaderMismatch))
	case codeMissingCapability:
		return refusedBy(missingCapability(rpc.Data))
	}
	listed := supported(rpc.Data)
	if slices.Contains(listed, transport.Modern) {
		return evidence{era: eraAgain, listed: listed}
	}
	return s.withoutModern(listed, "answered -32022")
}

// judgeResult takes a result for a DiscoverResult only if it is one: some legacy servers answer {} to anything.
func (s *Session) judgeResult(result []byte) evidence {
	listed, ok := discovered(result)
	switch {
	case !ok:
		return legacyBecause("answered no DiscoverResult")
	case slices.Contains(listed, transport.Modern):
		return evidence{era: eraModern, result: result}
	}
	return s.withoutModern(listed, "does not list "+transport.Modern)
}

// discovered returns the versions that a usable DiscoverResult lists.
func discovered(result []byte) (listed []string, ok bool) {
	if kind, has := strictjson.Member(result, "resultType"); has && string(kind) != `"complete"` {
		return nil, false
	}
	member, _ := strictjson.Member(result, "supportedVersions")
	return texts(member)
}

// withoutModern goes on to initialize only when the server lists a version that a handshake may end in.
func (s *Session) withoutModern(listed []string, because string) evidence {
	for _, v := range listed {
		if admits(s.server, v) {
			return legacyBecause("%s", because)
		}
	}
	return refusedBy(unknownVersion(listed...))
}

// discoverPinned is Open where the configuration pins the modern version.
func (s *Session) discoverPinned(ctx context.Context) error {
	start, stop := s.starting(ctx)
	defer stop()
	switch e := s.discover(start, false); {
	case e.era == eraModern:
		s.become(Handshake{Protocol: transport.Modern, Method: methodDiscover, Because: pinned, Result: e.result})
		return nil
	case e.era == eraForbidden:
		return methodRefused(methodDiscover)
	case e.era == eraLegacy || refusal.Is(e.refusal, refusal.ProtocolVersion):
		return notPinned(transport.Modern)
	default:
		return e.refusal
	}
}

const pinned = "the configuration pins it"

func notPinned(version string) *refusal.Refusal {
	return refusal.New(refusal.ProtocolPinned, refusal.Own("version", version)).
		Hint("without protocol in the configuration of this server, what it speaks is found out")
}
