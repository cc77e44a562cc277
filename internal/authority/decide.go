package authority

import (
	"errors"
	"slices"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/schema"
	"mcpc/internal/snapshot"
	"mcpc/internal/spelling"
	"mcpc/internal/strictjson"
)

// Decide returns nil when the request is within authority ∩ snapshot, and the first reason against it otherwise:
// document, time, server, sign-in, snapshot, tool, arguments. It is pure: same inputs, same answer.
func Decide(doc *Document, snap *snapshot.Snapshot, req Request, now time.Time, auth *AuthContext) *refusal.Refusal {
	if r := Granted(doc, snap, req, now, auth); r != nil {
		return r
	}
	if req.Action != Invoke {
		return nil
	}
	grant, _ := doc.grant(req.Tool)
	return arguments(doc, grant, req.Arguments)
}

// Granted is Decide without the arguments, for finding out whether a tool may be used at all before its arguments are
// read. It is not enough to invoke.
func Granted(doc *Document, snap *snapshot.Snapshot, req Request, now time.Time, auth *AuthContext) *refusal.Refusal {
	if r := standing(doc, snap, req.Server, now, auth); r != nil {
		return r
	}
	grant, ok := doc.grant(req.Tool)
	if !ok {
		return notGranted(doc, req.Tool)
	}
	if !slices.Contains(grant.Allow, req.Action) {
		return refusal.New(refusal.AuthorityNotAllowed, refusal.Own("tool", req.Tool), refusal.Own("action", req.Action))
	}
	return present(snap, req.Tool)
}

// standing decides what does not depend on the tool.
func standing(
	doc *Document, snap *snapshot.Snapshot, server snapshot.Identity, now time.Time, auth *AuthContext,
) *refusal.Refusal {
	switch {
	case doc == nil:
		return refusal.New(refusal.AuthorityMissing)
	case doc.Reviewer == "":
		return refusal.New(refusal.AuthorityUnreviewed).Hint("read the grants, then put your name into review.by")
	case !doc.NotAfter.IsZero() && now.After(doc.NotAfter):
		return refusal.New(refusal.AuthorityExpired, refusal.Own("at", doc.NotAfter.UTC().Format(time.RFC3339)))
	case !doc.Server.Equal(server):
		return refusal.New(refusal.AuthorityServer)
	}
	if what := outside(doc.Auth, auth); what != "" {
		return refusal.New(refusal.AuthorityAuth, refusal.Own("what", what))
	}
	return pinned(doc, snap)
}

// outside says in which way a sign-in is not the reviewed one, and "" when it is. A document without auth was reviewed
// for any.
func outside(reviewed *Auth, used *AuthContext) string {
	switch {
	case reviewed == nil:
		return ""
	case used == nil:
		return "no sign-in is in use"
	case used.Issuer != reviewed.Issuer:
		return "another issuer"
	case reviewed.ScopesWithin == nil:
		return ""
	}
	for _, scope := range used.Scopes {
		if !slices.Contains(reviewed.ScopesWithin, scope) {
			return "wider scopes"
		}
	}
	return ""
}

// pinned compares the pin with the snapshot. The id covers the server too; it is compared once more because a
// snapshot made in memory could say anything.
func pinned(doc *Document, snap *snapshot.Snapshot) *refusal.Refusal {
	switch {
	case snap == nil:
		return refusal.New(refusal.SnapshotMissing, refusal.Hash("snapshot", doc.Snapshot))
	case snap.ID != doc.Snapshot:
		return refusal.New(refusal.AuthoritySnapshot, refusal.Hash("snapshot", doc.Snapshot))
	case !snap.Server.Equal(doc.Server):
		return refusal.New(refusal.AuthorityServer)
	}
	return nil
}

func notGranted(doc *Document, tool string) *refusal.Refusal {
	r := refusal.New(refusal.AuthorityToolNotGranted, refusal.Own("tool", tool))
	if near := spelling.Nearest(tool, doc.names()); near != "" {
		r = r.With(refusal.Own("near", near))
	}
	return r
}

// present decides whether a granted name is a tool of the snapshot. A name among the rejected is none, even if a tool
// of the same name is there.
func present(snap *snapshot.Snapshot, tool string) *refusal.Refusal {
	if reason, rejected := snap.RejectedAs(tool); rejected {
		return refusal.New(refusal.AuthorityToolRejected, refusal.Own("tool", tool), refusal.Own("reason", reason))
	}
	if _, ok := snap.Tool(tool); !ok {
		return refusal.New(refusal.AuthorityToolMissing, refusal.Own("tool", tool))
	}
	return nil
}

// arguments decides about the bytes that would be sent. They are read strictly first: of two members of one name the
// schema would see one and the server perhaps the other.
func arguments(doc *Document, grant *Grant, args []byte) *refusal.Refusal {
	tool := refusal.Own("tool", grant.Tool)
	if doc.MaxArgumentBytes > 0 && int64(len(args)) > doc.MaxArgumentBytes {
		return refusal.New(refusal.AuthorityArgumentBytes, tool, refusal.Num("limit", doc.MaxArgumentBytes))
	}
	err := strictjson.ValidateObject(args, strictjson.MaxDepth)
	var fault *strictjson.Error
	if errors.As(err, &fault) {
		return refusal.New(refusal.ArgumentsJSON, tool, refusal.Own("fault", string(fault.Fault)))
	}
	if grant.Arguments == nil {
		return nil
	}
	switch result := grant.Arguments.compiled.Evaluate(args); result.Verdict {
	case schema.Valid:
		return nil
	case schema.Invalid:
		r := refusal.New(refusal.AuthorityArguments, tool)
		if result.Keyword != "" {
			r = r.With(refusal.Own("keyword", result.Keyword))
		}
		if result.Pointer != "" {
			r = r.With(refusal.Own("pointer", result.Pointer))
		}
		return r
	default:
		return refusal.New(refusal.AuthorityNotEvaluated, tool)
	}
}

// Verdict is one line of a check.
type Verdict struct {
	Grant   Grant
	Refusal *refusal.Refusal // nil when effective
}

// Check decides every grant of the document without arguments, in the document's order.
func Check(doc *Document, snap *snapshot.Snapshot, now time.Time, auth *AuthContext) []Verdict {
	var verdicts []Verdict
	for _, g := range doc.Tools {
		v := Verdict{Grant: g, Refusal: standing(doc, snap, doc.Server, now, auth)}
		switch {
		case v.Refusal != nil:
		case len(g.Allow) == 0:
			v.Refusal = refusal.New(refusal.AuthorityNotAllowed,
				refusal.Own("tool", g.Tool), refusal.Own("action", Publish+" or "+Invoke))
		default:
			v.Refusal = present(snap, g.Tool)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// notInSnapshot refuses a name that the operator gave, with the name that was probably meant.
func notInSnapshot(snap *snapshot.Snapshot, tool string) *refusal.Refusal {
	var names []string
	for i := range snap.Tools {
		if spelling.Plain(snap.Tools[i].Name) {
			names = append(names, snap.Tools[i].Name)
		}
	}
	r := refusal.New(refusal.AuthorityToolMissing, refusal.Own("tool", tool))
	if near := spelling.Nearest(tool, names); near != "" {
		r = r.With(refusal.Own("near", near))
	}
	return r
}
