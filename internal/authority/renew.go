package authority

import (
	"slices"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// RenewOptions are the choices of a renewal.
type RenewOptions struct {
	Accept   []string  // changed tools to carry over, and removed ones to drop
	By       string    // "" leaves review.by null
	Now      time.Time // of the review
	NotAfter time.Time // zero keeps what the document says
}

// Changes of one grant from the old snapshot to the new one.
const (
	Unchanged = "unchanged" // the same descriptor digest; carried over
	Changed   = "changed"   // another descriptor; carried over because it was named
	Removed   = "removed"   // gone or rejected; dropped because it was named
)

// Renewal is what became of one grant.
type Renewal struct {
	Tool   string
	Change string // Unchanged, Changed or Removed
}

// Renew returns the document moved on to a new snapshot of the same server, as text. Grants are carried over byte for
// byte. One whose tool changed or went away is not, unless it is named; the refusal names the first that is missing.
// Only the pin, the review and, where asked for, the end are new: who reviewed the old snapshot did not review this.
func Renew(old []byte, from, to *snapshot.Snapshot, o RenewOptions) ([]byte, []Renewal, error) {
	doc, err := Parse(old)
	if err != nil {
		return nil, nil, err
	}
	if r := renewable(doc, from, to, o.Accept); r != nil {
		return nil, nil, r
	}
	renewals, r := compare(doc, from, to, o.Accept)
	if r != nil {
		return nil, nil, r
	}
	text := rewrite(old, to.ID, renewals, o)
	if _, err := Parse(text); err != nil {
		return nil, nil, err
	}
	return text, renewals, nil
}

// renewable decides what does not depend on a grant. The end of the old document does not matter: renewing is what one
// does about it.
func renewable(doc *Document, from, to *snapshot.Snapshot, accept []string) *refusal.Refusal {
	if doc.Reviewer == "" {
		return refusal.New(refusal.AuthorityUnreviewed)
	}
	if r := pinned(doc, from); r != nil {
		return r
	}
	if !to.Server.Equal(doc.Server) {
		return refusal.New(refusal.SnapshotServer)
	}
	for _, name := range accept {
		if _, ok := doc.grant(name); !ok {
			return notGranted(doc, name)
		}
	}
	return nil
}

func compare(doc *Document, from, to *snapshot.Snapshot, accept []string) ([]Renewal, *refusal.Refusal) {
	var all []Renewal
	for _, g := range doc.Tools {
		change := changeOf(g.Tool, from, to)
		if change != Unchanged && !slices.Contains(accept, g.Tool) {
			return nil, refusal.New(refusal.AuthorityChangedNotNamed, refusal.Own("tool", g.Tool)).
				Hint("read the diff of the two snapshots, then name the tool with --accept")
		}
		all = append(all, Renewal{g.Tool, change})
	}
	return all, nil
}

func changeOf(tool string, from, to *snapshot.Snapshot) string {
	if present(to, tool) != nil {
		return Removed
	}
	now, _ := to.Tool(tool)
	if was, ok := from.Tool(tool); ok && present(from, tool) == nil && was.Digest == now.Digest {
		return Unchanged
	}
	return Changed
}

// rewrite builds the text from the old members, each as it stands, in their order.
func rewrite(old []byte, id strictjson.Digest, renewals []Renewal, o RenewOptions) []byte {
	b := []byte("{")
	add := func(name string, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, "\n  "...), strictjson.Quote(name)...)
		b = append(append(b, ": "...), value...)
	}
	for name, value := range strictjson.Members(old) {
		switch name {
		case "snapshot":
			value = strictjson.Quote(string(id))
		case "review":
			value = oneLine(nil, review(o.By, o.Now))
		case "notAfter":
			if !o.NotAfter.IsZero() {
				continue // written after the review
			}
		case "tools":
			value = carried(value, renewals)
		}
		add(name, value)
		if name == "review" && !o.NotAfter.IsZero() {
			add("notAfter", strictjson.Quote(stamp(o.NotAfter)))
		}
	}
	return append(b, "\n}\n"...)
}

// carried returns the tools object without the removed grants.
func carried(tools []byte, renewals []Renewal) []byte {
	b := []byte("{")
	i := 0
	for name, value := range strictjson.Members(tools) {
		if i++; renewals[i-1].Change == Removed {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, "\n    "...), strictjson.Quote(name)...)
		b = append(append(b, ": "...), value...)
	}
	if len(b) == 1 {
		return []byte("{}")
	}
	return append(b, "\n  }"...)
}
