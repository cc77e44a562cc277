// Package snapshot turns one discovery into a bounded, immutable document with every descriptor's exact bytes.
//
// It guarantees that a snapshot is whole or is not there: a limit, a paging fault or a list that does not stand still
// refuses the discovery. Descriptors are kept as received, a descriptor that is invalid by itself is kept apart and can
// never be granted, and a document is verified in full every time it is read. The id covers the server, the protocol,
// the capabilities, the instructions and every descriptor; it covers neither order nor time.
//
// The package reads and writes no files, starts no exchange by itself, never follows a reference in a schema, and
// reads no annotation to decide anything.
package snapshot

import (
	"context"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/strictjson"
)

// Snapshot is a verified discovery. It is never edited.
type Snapshot struct {
	ID        strictjson.Digest
	Server    Identity
	Protocol  string
	Recorded  Recorded
	Auth      *Auth // nil when no stored credential was used
	Bounds    []Bound
	Handshake []byte // DiscoverResult or InitializeResult as received; nil when there was none
	Tools     []Tool // in the order of the list
	Rejected  []Rejected
}

// Identity says which server: the configured URL or the exact argv. Never the alias, never serverInfo.
type Identity struct {
	HTTP  string   // normalised: scheme and host lower case, default port dropped, path and query as configured
	Stdio []string // argv
	Cwd   string
}

// Recorded is when and by what a snapshot was taken, and for stdio what ran; none of it is in the id.
type Recorded struct {
	At               time.Time // UTC, seconds
	By               string    // "mcpc 0.1.0"
	Executable       string    // resolved path, stdio only
	ExecutableDigest strictjson.Digest
	Env              []string // names that the child inherited
}

// Auth is the authorization context a snapshot was taken under. It holds no secret.
type Auth struct {
	Kind, Issuer, Resource, Client, Handle string
	Scopes                                 []string
}

// Bound is one limit in force when the snapshot was taken, in the limit's unit.
type Bound struct {
	Member string
	Value  int64
}

// Tool is one descriptor.
type Tool struct {
	Name       string
	Raw        strictjson.Digest // over Descriptor as it stands
	Digest     strictjson.Digest // over its canonical form: the tool's identity
	Descriptor []byte
}

// Rejected is a descriptor that is invalid by itself and can never be granted.
type Rejected struct {
	Page, Index int
	Name        string // "" where there is none; the peer's text
	Reason      string // one of the Reason constants
	Raw         strictjson.Digest
	Descriptor  []byte
}

// Lister is the session that a snapshot is taken from.
type Lister interface {
	// ListPage returns the result of one tools/list as received: strict JSON, within the frame limit, and not touched
	// again by the session.
	ListPage(ctx context.Context, cursor *string) (result []byte, err error)
	// Changes counts the list_changed notifications so far.
	Changes() int
	// Modern reports whether the server speaks 2026-07-28 or later.
	Modern() bool
}

// Context is everything of a snapshot that does not come from tools/list.
type Context struct {
	Server    Identity // also says whether x-mcp-header annotations matter: they do over HTTP
	Protocol  string
	Recorded  Recorded
	Auth      *Auth
	Handshake []byte
	Limits    config.Limits
}

// Tool returns a tool by its exact name.
func (s *Snapshot) Tool(name string) (*Tool, bool) {
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return &s.Tools[i], true
		}
	}
	return nil, false
}

// RejectedAs returns the reason for which a name was rejected, if it was.
func (s *Snapshot) RejectedAs(name string) (reason string, ok bool) {
	for i := range s.Rejected {
		if s.Rejected[i].Name == name && name != "" {
			return s.Rejected[i].Reason, true
		}
	}
	return "", false
}
