// Package refusal is the closed catalogue of named refusals: every error that a person or a program sees from mcpc.
//
// A refusal has a dotted name that scripts may rely on, an exit code, one sentence of our own and a closed list of
// detail fields. No field can hold text chosen by a peer: a detail is a number, a digest, one of our own constants, or
// a name that the operator wrote in the configuration, in an authority document or on the command line. The two
// exceptions are URL and Scopes, each held to the entries that need it.
//
// The package imports nothing of mcpc and knows nothing of terminals; escaping for a terminal is the printer's work.
package refusal

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Exit codes are an API; see the help topic exit-codes.
const (
	ExitDone        = 0   // done; snapshots equal; every grant effective
	ExitNo          = 1   // an honest "no": isError, a difference, a grant that is not effective
	ExitUsage       = 2   // usage or configuration error
	ExitRefused     = 3   // refused by name: authority, feature, limit, policy
	ExitSignIn      = 4   // sign-in needed, or the authorization failed
	ExitPeer        = 5   // unreachable, interrupted, or the peer broke the protocol
	ExitInterrupted = 130 // interrupted by the user
)

// Entry is one line of the catalogue.
type Entry struct {
	Name     string   // dotted name, family first: "limit.frame"
	Exit     int      // exit code of a command that ends with this refusal
	Sentence string   // our words; {field} is replaced by that detail, [ ... {field} ...] is left out where the field is absent
	Fields   []string // detail fields that may be set; "server" is always allowed
}

// catalogue is in the order of definition. It is filled at every start, and few runs ask for an entry by its name: the
// index is made for the first that does.
var (
	catalogue = make([]*Entry, 0, 256)
	byName    = sync.OnceValue(index)
)

// define adds an entry to the catalogue.
func define(name string, exit int, sentence string, fields ...string) *Entry {
	e := &Entry{Name: name, Exit: exit, Sentence: sentence, Fields: fields}
	catalogue = append(catalogue, e)
	return e
}

// index finds entries by name; a second entry of the same name is a programmer's error.
func index() map[string]*Entry {
	entries := make(map[string]*Entry, len(catalogue))
	for _, e := range catalogue {
		if entries[e.Name] != nil {
			panic("refusal: defined twice: " + e.Name)
		}
		entries[e.Name] = e
	}
	return entries
}

// All returns the catalogue sorted by name.
func All() []*Entry {
	return slices.SortedFunc(maps.Values(byName()), func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
}

// Lookup returns the entry of that name.
func Lookup(name string) (*Entry, bool) {
	e, ok := byName()[name]
	return e, ok
}

func (e *Entry) allows(field string) bool {
	if field == "server" {
		return true
	}
	for _, f := range e.Fields {
		if f == field {
			return true
		}
	}
	return false
}

// Field is one detail of a refusal. Make one with Num, Own, Owns or Hash.
type Field struct {
	key   string
	value any      // int64, string or []string
	peer  peerText // which exception it is, if any
}

// Key returns the field's name.
func (f Field) Key() string { return f.key }

// Value returns an int64, a string or a []string.
func (f Field) Value() any { return f.value }

// Num is a count, a limit in bytes, an HTTP status, a JSON-RPC code or an exit code.
func Num[N int | int64 | uint64](key string, n N) Field { return Field{key: key, value: int64(n)} }

// Own is a constant of ours or a name the operator wrote. Never give it text that a peer chose.
func Own(key, s string) Field { return Field{key: key, value: s} }

// Owns is a list of what Own takes.
func Owns(key string, s []string) Field { return Field{key: key, value: append([]string{}, s...)} }

// Hash is a digest, "sha256:" and 64 hex digits.
func Hash[S ~string](key string, digest S) Field { return Field{key: key, value: string(digest)} }

// Refusal is an error with a name. The zero value is not usable; use New.
type Refusal struct {
	entry  *Entry
	fields []Field
	hint   string
}

// New makes a refusal. A field that the catalogue does not allow for it is a programmer's error and panics.
func New(e *Entry, fields ...Field) *Refusal {
	r := &Refusal{entry: e}
	for _, f := range fields {
		r.set(f)
	}
	return r
}

func (r *Refusal) set(f Field) {
	if !f.peer.admitted(r.entry) {
		panic("refusal: " + r.entry.Name + " may not hold a peer's text")
	}
	if !r.entry.allows(f.key) {
		panic("refusal: " + r.entry.Name + " has no field " + f.key)
	}
	for i := range r.fields {
		if r.fields[i].key == f.key {
			r.fields[i] = f
			return
		}
	}
	r.fields = append(r.fields, f)
}

// With returns a copy that carries the fields too; a field already there is replaced.
func (r *Refusal) With(fields ...Field) *Refusal {
	c := &Refusal{entry: r.entry, fields: append([]Field{}, r.fields...), hint: r.hint}
	for _, f := range fields {
		c.set(f)
	}
	return c
}

// Hint returns a copy with a hint: a command that would help, or a short remark of ours.
func (r *Refusal) Hint(hint string) *Refusal {
	c := r.With()
	c.hint = hint
	return c
}

// Name returns the dotted name.
func (r *Refusal) Name() string { return r.entry.Name }

// Entry returns the catalogue's line.
func (r *Refusal) Entry() *Entry { return r.entry }

// ExitCode returns the exit code of a command that ends with this refusal.
func (r *Refusal) ExitCode() int { return r.entry.Exit }

// HintText returns the hint, or "".
func (r *Refusal) HintText() string { return r.hint }

// Detail returns the value of one field: an int64, a string, a []string, or nil.
func (r *Refusal) Detail(key string) any {
	for _, f := range r.fields {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// Error returns "name: sentence", lower case, without a full stop.
func (r *Refusal) Error() string { return r.entry.Name + ": " + r.Message() }

// Message returns the sentence with its details filled in, led by the server's name where that is known.
func (r *Refusal) Message() string {
	text := fill(r.entry.Sentence, r.fields)
	if s, ok := r.Detail("server").(string); ok && !strings.Contains(r.entry.Sentence, "{server}") {
		return "server " + strconv.Quote(s) + ": " + text
	}
	return text
}

// fill replaces {field} and drops [optional] parts whose field is absent.
func fill(sentence string, fields []Field) string {
	var b strings.Builder
	for len(sentence) > 0 {
		i := strings.IndexAny(sentence, "[{")
		if i < 0 {
			b.WriteString(sentence)
			break
		}
		b.WriteString(sentence[:i])
		end := closing(sentence, i)
		inner := sentence[i+1 : end]
		if sentence[i] == '{' {
			b.WriteString(show(inner, fields))
		} else if complete(inner, fields) {
			b.WriteString(fill(inner, fields))
		}
		sentence = sentence[end+1:]
	}
	return b.String()
}

func closing(s string, i int) int {
	mark := byte('}')
	if s[i] == '[' {
		mark = ']'
	}
	if j := strings.IndexByte(s[i:], mark); j >= 0 {
		return i + j
	}
	panic("refusal: unclosed mark in sentence: " + s)
}

func complete(part string, fields []Field) bool {
	for _, f := range fields {
		part = strings.ReplaceAll(part, "{"+f.key+"}", "")
	}
	return !strings.Contains(part, "{")
}

// quoted are the fields that hold a name which somebody chose; the others are numbers, digests or our own words.
var quoted = map[string]bool{"server": true, "name": true, "tool": true, "argument": true, "command": true, "near": true}

func show(key string, fields []Field) string {
	for _, f := range fields {
		if f.key != key {
			continue
		}
		switch v := f.value.(type) {
		case int64:
			return strconv.FormatInt(v, 10)
		case []string:
			return strings.Join(v, ", ")
		case string:
			if quoted[key] {
				return strconv.Quote(v)
			}
			return v
		}
	}
	return "(unknown)"
}

// MarshalJSON gives the refusal/1 document, without a newline.
func (r *Refusal) MarshalJSON() ([]byte, error) {
	detail := make(map[string]any, len(r.fields))
	for _, f := range r.fields {
		detail[f.key] = f.value
	}
	doc := struct {
		Kind    string         `json:"mcpc"`
		Name    string         `json:"refusal"`
		Message string         `json:"message"`
		Detail  map[string]any `json:"detail"`
		Hint    string         `json:"hint,omitempty"`
	}{"refusal/1", r.entry.Name, r.Message(), detail, r.hint}
	return json.Marshal(doc)
}

// As returns the refusal in err's chain.
func As(err error) (*Refusal, bool) {
	var r *Refusal
	ok := errors.As(err, &r)
	return r, ok
}

// Is reports whether err's chain holds a refusal of that entry.
func Is(err error, e *Entry) bool {
	r, ok := As(err)
	return ok && r.entry == e
}

// From returns the refusal in err's chain, and Internal for any other error: what is not a refusal is a bug, and its
// text may hold anything.
func From(err error) *Refusal {
	if err == nil {
		return nil
	}
	if r, ok := As(err); ok {
		return r
	}
	return New(Internal)
}
