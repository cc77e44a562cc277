package snapshot

import (
	"bytes"
	"slices"
	"strconv"

	"mcpc/internal/strictjson"
)

// Class says what kind of thing a difference is. A class is a fact about a place in the document; it holds no opinion
// on risk, and annotations have one class whatever they say.
type Class string

// Classes of differences that make another id.
const (
	ClassIdentity       Class = "identity"
	ClassProtocol       Class = "protocol"
	ClassCapabilities   Class = "capabilities"
	ClassInstructions   Class = "instructions"
	ClassToolAdded      Class = "tool-added"
	ClassToolRemoved    Class = "tool-removed"
	ClassText           Class = "text" // titles, descriptions and comments, of the tool or in a schema
	ClassInputSchema    Class = "input-schema"
	ClassOutputSchema   Class = "output-schema"
	ClassDefault        Class = "default"
	ClassHeaderMirror   Class = "header-mirror" // x-mcp-header
	ClassAnnotations    Class = "annotations"
	ClassIcons          Class = "icons"
	ClassMeta           Class = "meta"
	ClassExecution      Class = "execution"
	ClassUnknownMember  Class = "unknown-member"
	ClassNumberSpelling Class = "number-spelling" // the same value, spelled otherwise
	ClassRejected       Class = "rejected"
)

// Classes of differences that are in no digest.
const (
	ClassOrder      Class = "order"
	ClassFormat     Class = "format" // other bytes of the same canonical form
	ClassServerInfo Class = "server-info"
	ClassTTL        Class = "ttl"
	ClassHandshake  Class = "handshake" // any other member of it
	ClassExecutable Class = "executable"
	ClassAuth       Class = "auth-context"
	ClassBounds     Class = "bounds"
)

// Ops of a record, as in RFC 6902.
const (
	OpAdd     = "add"
	OpRemove  = "remove"
	OpReplace = "replace"
)

// Record is one difference. Old and New are whole JSON values as they stand, never shortened; they and Tool are the
// peer's.
type Record struct {
	Class                Class
	Tool                 string // "" for what belongs to no tool
	Pointer              string // into the tool's descriptor, or into the document where Tool is ""
	Op                   string
	Old, New             []byte       // nil when absent
	OldHidden, NewHidden []HiddenRune // code points that do not show, of the strings and of the names on the way
	SameBody             []string     // tool-added, tool-removed: tools of the other side that differ in name alone
	Reason               string       // rejected: why
}

// Report is everything in which two snapshots differ.
type Report struct {
	Old, New      strictjson.Digest
	Changes       []Record // none exactly when the ids are equal
	Informational []Record // what is in no digest
}

// Same reports whether both snapshots are of one surface.
func (r *Report) Same() bool { return r.Old == r.New }

// Tools returns the tools of both sides that differ, in the order of the records.
func (r *Report) Tools() []string {
	var names []string
	for i := range r.Changes {
		if name := r.Changes[i].Tool; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Diff compares two snapshots. It is pure, and complete: snapshots of different ids have at least one change. Within
// one tool the records, applied in their order, make the new descriptor of the old one.
func Diff(old, new *Snapshot) Report {
	d := differ{old: old, new: new}
	d.surface()
	d.tools()
	d.rejected()
	d.informational()
	return Report{Old: old.ID, New: new.ID, Changes: d.changes, Informational: d.info}
}

type differ struct {
	old, new      *Snapshot
	changes, info []Record
}

// sides are the two values of one place; nil where there is none.
type sides struct{ old, new []byte }

// record makes a record of two sides that differ.
func record(class Class, tool, pointer string, s sides) Record {
	r := Record{Class: class, Tool: tool, Pointer: pointer, Op: OpReplace, Old: s.old, New: s.new}
	switch {
	case s.old == nil:
		r.Op = OpAdd
	case s.new == nil:
		r.Op = OpRemove
	case sameButSpelling(s.old, s.new):
		r.Class = ClassNumberSpelling
	}
	if r.OldHidden = HiddenRunes(s.old); s.new == nil {
		r.OldHidden = withNames(s.old, pointer)
	} else {
		r.NewHidden = withNames(s.new, pointer)
	}
	return r
}

func (d *differ) surface() {
	if !d.old.Server.Equal(d.new.Server) {
		d.change(ClassIdentity, "/server", sides{d.old.Server.AppendJSON(nil), d.new.Server.AppendJSON(nil)})
	}
	if d.old.Protocol != d.new.Protocol {
		d.change(ClassProtocol, "/protocol", sides{strictjson.Quote(d.old.Protocol), strictjson.Quote(d.new.Protocol)})
	}
	// No capabilities and null are one in the id, and so here.
	capabilities := d.handshake("capabilities")
	if !equal(orNull(capabilities.old), orNull(capabilities.new)) {
		d.changes = append(d.changes, within("", "/handshake/capabilities", capabilities, spot{class: ClassCapabilities})...)
	}
	if s := d.handshake("instructions"); !equal(s.old, s.new) {
		d.change(ClassInstructions, "/handshake/instructions", s)
	}
}

func (d *differ) change(class Class, pointer string, s sides) {
	d.changes = append(d.changes, record(class, "", pointer, s))
}

func (d *differ) handshake(member string) (s sides) {
	s.old, _ = strictjson.Member(d.old.Handshake, member)
	s.new, _ = strictjson.Member(d.new.Handshake, member)
	return s
}

func orNull(value []byte) []byte {
	if value == nil {
		return []byte("null")
	}
	return value
}

// equal compares two values by their canonical forms; nil is equal to nil alone.
func equal(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if bytes.Equal(a, b) {
		return true
	}
	one, errA := strictjson.Canonical(a)
	two, errB := strictjson.Canonical(b)
	return errA == nil && errB == nil && bytes.Equal(one, two)
}

func (d *differ) tools() {
	olds, news := index(d.old), index(d.new)
	removed, added := bodiesWithout(d.old, news), bodiesWithout(d.new, olds)
	for i := range d.old.Tools {
		t := &d.old.Tools[i]
		now := news[t.Name]
		switch {
		case now == nil:
			r := record(ClassToolRemoved, t.Name, "", sides{old: t.Descriptor})
			r.SameBody = added[bodyOf(t)]
			d.changes = append(d.changes, r)
		case now.Digest != t.Digest:
			d.changes = append(d.changes, withinTool(t, now)...)
		case now.Raw != t.Raw:
			r := record(ClassFormat, t.Name, "", sides{t.Descriptor, now.Descriptor})
			r.Class = ClassFormat
			d.info = append(d.info, r)
		}
	}
	for i := range d.new.Tools {
		t := &d.new.Tools[i]
		if olds[t.Name] == nil {
			r := record(ClassToolAdded, t.Name, "", sides{new: t.Descriptor})
			r.SameBody = removed[bodyOf(t)]
			d.changes = append(d.changes, r)
		}
	}
}

func index(s *Snapshot) map[string]*Tool {
	m := make(map[string]*Tool, len(s.Tools))
	for i := range s.Tools {
		m[s.Tools[i].Name] = &s.Tools[i]
	}
	return m
}

// bodiesWithout maps bodies to the names of the tools that the other side does not have: where one body was removed
// and added, the tool may have been renamed.
func bodiesWithout(s *Snapshot, other map[string]*Tool) map[strictjson.Digest][]string {
	m := map[strictjson.Digest][]string{}
	for i := range s.Tools {
		if t := &s.Tools[i]; other[t.Name] == nil {
			m[bodyOf(t)] = append(m[bodyOf(t)], t.Name)
		}
	}
	return m
}

// bodyOf returns the digest of the canonical form of a descriptor without its name.
func bodyOf(t *Tool) strictjson.Digest {
	b := []byte{'{'}
	for name, value := range strictjson.Members(t.Descriptor) {
		if name != "name" {
			b = append(strictjson.AppendQuote(append(b, between(len(b)-1, "", ",")...), name), ':')
			b = append(b, value...)
		}
	}
	digest, _ := strictjson.CanonicalDigest(append(b, '}')) // strict, since the descriptor is
	return digest
}

// rejected compares as sets with repeats; a rejected descriptor is known by its bytes.
func (d *differ) rejected() {
	left := map[strictjson.Digest]int{}
	for i := range d.new.Rejected {
		left[d.new.Rejected[i].Raw]++
	}
	for i := range d.old.Rejected {
		r := &d.old.Rejected[i]
		if left[r.Raw]--; left[r.Raw] < 0 {
			d.changes = append(d.changes, rejectedRecord("/rejected/"+strconv.Itoa(i), r, sides{old: r.Descriptor}))
		}
	}
	for i := range d.new.Rejected {
		r := &d.new.Rejected[i]
		if left[r.Raw] > 0 {
			left[r.Raw]--
			d.changes = append(d.changes, rejectedRecord("/rejected/"+strconv.Itoa(i), r, sides{new: r.Descriptor}))
		}
	}
}

func rejectedRecord(pointer string, r *Rejected, s sides) Record {
	rec := record(ClassRejected, r.Name, pointer, s)
	rec.Reason = r.Reason
	return rec
}
