package authority

import (
	"slices"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// DraftOptions are the choices of a draft.
type DraftOptions struct {
	Tools    []string
	By       string // "" leaves review.by null, and the document decides nothing until someone fills it in
	Now      time.Time
	NotAfter time.Time // zero for none
}

// Draft returns a document, as text, that grants the tools with arguments closed to the declared properties. Prose of
// the server (titles, descriptions, defaults) does not come into it.
func Draft(snap *snapshot.Snapshot, o DraftOptions) ([]byte, error) {
	tools, err := draftTools(snap, o.Tools)
	if err != nil {
		return nil, err
	}
	b := append([]byte(nil), `{"mcpc":"`+Kind+`","server":`...)
	b = snap.Server.AppendJSON(b)
	b = append(append(b, `,"snapshot":`...), strictjson.Quote(string(snap.ID))...)
	b = append(append(b, `,"review":`...), review(o.By, o.Now)...)
	if !o.NotAfter.IsZero() {
		b = append(append(b, `,"notAfter":`...), strictjson.Quote(stamp(o.NotAfter))...)
	}
	b = append(b, draftAuth(snap.Auth)...)
	b = append(append(b, `,"tools":`...), tools...)
	text := layout(append(b, '}'), opened)
	if _, err := Parse(text); err != nil {
		return nil, err
	}
	return text, nil
}

// opened are the places of a document where each member has its own line.
func opened(at string) bool { return at == "" || at == "/tools" }

func stamp(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

func review(by string, now time.Time) []byte {
	if by == "" {
		return []byte(`{"by":null}`)
	}
	b := strictjson.AppendQuote([]byte(`{"by":`), by)
	b = strictjson.AppendQuote(append(b, `,"at":`...), stamp(now))
	return append(b, '}')
}

// draftAuth bounds the sign-in to the one that the snapshot was taken under, since that is what was looked at.
func draftAuth(auth *snapshot.Auth) []byte {
	if auth == nil || auth.Issuer == "" {
		return nil
	}
	b := strictjson.AppendQuote([]byte(`,"auth":{"issuer":`), auth.Issuer)
	if len(auth.Scopes) > 0 {
		b = append(b, `,"scopesWithin":[`...)
		for i, scope := range auth.Scopes {
			if i > 0 {
				b = append(b, ',')
			}
			b = strictjson.AppendQuote(b, scope)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func draftTools(snap *snapshot.Snapshot, names []string) ([]byte, error) {
	b := []byte{'{'}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		tool, err := draftable(snap, name)
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = strictjson.AppendQuote(b, name)
		b = append(b, `:{"allow":["publish","invoke"],"arguments":`...)
		b = append(append(b, closed(tool.Descriptor)...), '}')
	}
	return append(b, '}'), nil
}

func draftable(snap *snapshot.Snapshot, name string) (*snapshot.Tool, error) {
	if r := present(snap, name); r != nil && !refusal.Is(r, refusal.AuthorityToolMissing) {
		return nil, r
	}
	tool, ok := snap.Tool(name)
	if !ok {
		return nil, notInSnapshot(snap, name)
	}
	return tool, nil
}
