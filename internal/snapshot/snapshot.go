// Package snapshot turns one discovery into a bounded, immutable document with every descriptor's exact bytes.
// (The guarantee is stated in full by its author.)
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
	Handshake []byte // DiscoverResult or InitializeResult as received
	Tools     []Tool
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

// Bound is one limit in force when the snapshot was taken.
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

// IdentityOf returns the identity of a configured server.
func IdentityOf(s *config.Server) (Identity, error) { panic("unwritten") }

// Equal compares two identities.
func (i Identity) Equal(o Identity) bool { panic("unwritten") }

// Lister is the session that a snapshot is taken from.
type Lister interface {
	ListPage(ctx context.Context, cursor *string) (result []byte, err error)
	Changes() int
	Modern() bool
}

// Context is everything of a snapshot that does not come from tools/list.
type Context struct {
	Server    Identity
	HTTP      bool // x-mcp-header annotations matter
	Protocol  string
	Recorded  Recorded
	Auth      *Auth
	Handshake []byte
	Limits    config.Limits
}

// Take lists all tools and makes the snapshot, all or nothing.
func Take(ctx context.Context, l Lister, c Context) (*Snapshot, error) { panic("unwritten") }

// Encode returns the document as it is stored.
func (s *Snapshot) Encode() []byte { panic("unwritten") }

// Parse reads and verifies a document. Any difference between what it says and what is recomputed is refused.
func Parse(data []byte, limits config.Limits) (*Snapshot, error) { panic("unwritten") }

// Tool returns a tool by its exact name.
func (s *Snapshot) Tool(name string) (*Tool, bool) { panic("unwritten") }

// RejectedAs returns the reason for which a name was rejected, if it was.
func (s *Snapshot) RejectedAs(name string) (reason string, ok bool) { panic("unwritten") }

// Descriptor is the readable part of a tool descriptor. All text is the peer's.
type Descriptor struct {
	Title, Description string
	InputSchema        []byte
	OutputSchema       []byte // nil when absent
	Annotations        []byte // nil when absent; shown, never interpreted
	Arguments          []Argument
}

// Argument is one declared property of the input schema's root.
type Argument struct {
	Name        string
	Types       []string // the declared JSON types, empty when none is declared
	Required    bool
	Description string
	Schema      []byte
}

// Describe reads a tool's descriptor.
func (t *Tool) Describe() Descriptor { panic("unwritten") }

// HeaderParam is one x-mcp-header annotation.
type HeaderParam struct {
	Header string   // name after "Mcp-Param-"
	Path   []string // property names from the root
	Type   string   // "string", "integer" or "boolean"
}

// HeaderParams returns the x-mcp-header annotations of an input schema; ok is false when one breaks the rules.
func HeaderParams(inputSchema []byte) (params []HeaderParam, ok bool) { panic("unwritten") }

// Notes returns facts about names that look alike, for people: our words, with the names escaped by %q.
func (s *Snapshot) Notes() []string { panic("unwritten") }
