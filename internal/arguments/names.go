package arguments

import (
	"strconv"

	"mcpc/internal/refusal"
	"mcpc/internal/spelling"
)

// maxShown bounds the list of known names in a refusal; a longer one helps nobody.
const maxShown = 24

// plainNames are the declared names that may be shown, in the schema's order. They come from the server, and of a
// granted tool, which a person has reviewed.
func (p *parser) plainNames() (names []string) {
	for _, name := range p.input.order {
		if spelling.Plain(name) {
			names = append(names, name)
		}
	}
	return names
}

func (p *parser) unknown(name string) error {
	names := p.plainNames()
	r := refusal.New(refusal.ArgumentsUnknown, refusal.Own("argument", name), p.named())
	if len(names) > 0 && len(names) <= maxShown {
		r = r.With(refusal.Owns("known", names))
	}
	if near := spelling.Nearest(name, names); near != "" {
		r = r.Hint("did you mean " + strconv.Quote(near) + "?")
	}
	return r
}

func (p *parser) missing(name string) error {
	r := refusal.New(refusal.ArgumentsMissing, p.named())
	if spelling.Plain(name) {
		r = r.With(refusal.Own("argument", name))
	}
	return r
}
