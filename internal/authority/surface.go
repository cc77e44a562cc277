package authority

import (
	"slices"
	"strings"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// Surface returns what may be published: one JSON document that names snapshot and authority, with the pinned bytes of
// each descriptor, one tool a line, sorted by name. The same authority and snapshot give the same bytes. A grant to
// publish that is not effective refuses the whole, so that a surface is never silently smaller than what was reviewed.
func Surface(doc *Document, snap *snapshot.Snapshot, now time.Time, auth *AuthContext) ([]byte, error) {
	if r := standing(doc, snap, serverOf(doc), now, auth); r != nil {
		return nil, r
	}
	tools, r := published(doc, snap)
	if r != nil {
		return nil, r
	}
	b := append([]byte(nil), `{"mcpc":"published/1",`+"\n"+`"snapshot":`...)
	b = append(append(b, strictjson.Quote(string(doc.Snapshot))...), ",\n\"authority\":"...)
	b = append(append(b, strictjson.Quote(string(doc.Digest))...), ",\n\"server\":"...)
	b = append(doc.Server.AppendJSON(b), ",\n\"tools\":["...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, "\n{\"name\":"...), strictjson.Quote(t.Name)...)
		b = append(append(b, `,"digest":`...), strictjson.Quote(string(t.Digest))...)
		b = append(append(append(b, `,"descriptor":`...), t.Descriptor...), '}')
	}
	return append(b, "]}\n"...), nil
}

func serverOf(doc *Document) snapshot.Identity {
	if doc == nil {
		return snapshot.Identity{}
	}
	return doc.Server
}

func published(doc *Document, snap *snapshot.Snapshot) (tools []*snapshot.Tool, r *refusal.Refusal) {
	for _, g := range doc.Tools {
		if !slices.Contains(g.Allow, Publish) {
			continue
		}
		if r := present(snap, g.Tool); r != nil {
			return nil, r
		}
		tool, _ := snap.Tool(g.Tool)
		tools = append(tools, tool)
	}
	slices.SortFunc(tools, func(a, b *snapshot.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, nil
}
