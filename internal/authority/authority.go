// Package authority reads the document in which a person says what may be published and invoked, and decides.
//
// It guarantees that the answer to a request is no unless the document, reviewed and in force, grants that tool of
// that server's pinned snapshot that action with those arguments; that removing anything from a document's tools never
// turns a no into a yes; and that no snapshot can, since a name that the document does not hold is never granted.
// Deciding is pure: no clock, no file, no network, and the same question has the same answer.
//
// It does not read annotations, knows no patterns or wildcards, merges no documents, and writes none by itself: what
// Draft and Renew return is text for a person to read.
package authority

import (
	"time"

	"mcpc/internal/schema"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// Actions that a grant can allow.
const (
	Publish = "publish"
	Invoke  = "invoke"
)

// Kind is the first member of a document of the version that this package reads.
const Kind = "authority/1"

// Document is a valid authority document.
type Document struct {
	Server           snapshot.Identity
	Snapshot         strictjson.Digest
	Reviewer         string    // review.by; "" in a draft
	ReviewedAt       string    // review.at as written, RFC 3339; "" when not set
	NotAfter         time.Time // zero when the document does not end
	Auth             *Auth
	MaxArgumentBytes int64             // 0 when not set
	Tools            []Grant           // in the document's order
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
type Schema struct{ compiled *schema.Schema }

// Request is what someone wants to do.
type Request struct {
	Server    snapshot.Identity
	Tool      string
	Action    string
	Arguments []byte // strict JSON object; looked at for Invoke only
}

// AuthContext is the sign-in in use; nil when there is none.
type AuthContext struct {
	Issuer string
	Scopes []string
}

// grant returns the entry of a tool by its exact name.
func (d *Document) grant(tool string) (*Grant, bool) {
	for i := range d.Tools {
		if d.Tools[i].Tool == tool {
			return &d.Tools[i], true
		}
	}
	return nil, false
}

func (d *Document) names() []string {
	names := make([]string, len(d.Tools))
	for i := range d.Tools {
		names[i] = d.Tools[i].Tool
	}
	return names
}
