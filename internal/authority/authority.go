// Package authority reads the document in which a person says what may be published and invoked, and decides.
// (The guarantee is stated in full by its author.)
package authority

import (
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// Actions that a grant can allow.
const (
	Publish = "publish"
	Invoke  = "invoke"
)

// Document is a valid authority document.
type Document struct {
	Server           snapshot.Identity
	Snapshot         strictjson.Digest
	Reviewer         string // review.by; "" in a draft
	ReviewedAt       string
	NotAfter         time.Time // zero when the document does not end
	Auth             *Auth
	MaxArgumentBytes int64 // 0 when not set
	Tools            []Grant // in the document's order
	Digest           strictjson.Digest // over the canonical form of the whole document
}

// Auth bounds the sign-in that may be used.
type Auth struct {
	Issuer       string
	ScopesWithin []string // nil when not set
}

// Grant is one tool's entry.
type Grant struct {
	Tool      string
	Allow     []string // Publish, Invoke
	Arguments *Schema  // nil stands for true
}

// Schema is a compiled argument schema.
type Schema struct{}

// Request is what someone wants to do.
type Request struct {
	Server    snapshot.Identity
	Tool      string
	Action    string
	Arguments []byte // strict JSON object; nil for Publish
}

// AuthContext is the sign-in in use; nil when there is none.
type AuthContext struct {
	Issuer string
	Scopes []string
}

// Parse reads a document. Its errors are refusals of the family authority.
func Parse(data []byte) (*Document, error) { panic("unwritten") }

// Decide returns nil when the request is within authority ∩ snapshot, and the first reason against it otherwise. It
// is pure: same inputs, same answer.
func Decide(doc *Document, snap *snapshot.Snapshot, req Request, now time.Time, auth *AuthContext) *refusal.Refusal {
	panic("unwritten")
}

// DraftOptions are the choices of a draft.
type DraftOptions struct {
	Tools    []string
	By       string // "" leaves review.by null
	Now      time.Time
	NotAfter time.Time // zero for none
}

// Draft returns a document, as text, that grants the tools with arguments closed to the declared properties.
func Draft(snap *snapshot.Snapshot, o DraftOptions) ([]byte, error) { panic("unwritten") }

// Verdict is one line of a check.
type Verdict struct {
	Grant   Grant
	Refusal *refusal.Refusal // nil when effective
}

// Check decides every grant of the document without arguments.
func Check(doc *Document, snap *snapshot.Snapshot, now time.Time, auth *AuthContext) []Verdict {
	panic("unwritten")
}
