package schema

import "encoding/json"

// maxWork bounds one evaluation. A unit is about a microsecond of the evaluator: one schema position at one value.
const maxWork = 100_000

// maxChain bounds how many positions follow one another at the same value. A schema that refers to itself without
// going down into the value never ends; one that chains hundreds of references costs their square.
const maxChain = 64

// Reasons for which an evaluation is not begun.
const (
	tooMuch = "checking this would take too long"
	noEnd   = "the schema refers to itself without end, or through too many steps"
)

// counter is a dry run: it walks schema and instance as the evaluator would, without deciding anything and without
// leaving out what an early fault would save, and stops at the bound. So it costs at most the bound itself.
type counter struct {
	left   int
	tracks bool
	why    string
}

// work returns "" when the evaluation is within the bounds, and the reason when it is not.
func (s *Schema) work(value any) string {
	c := &counter{left: maxWork, tracks: s.tracks}
	c.visit(s.root, value, 0)
	return c.why
}

func (c *counter) spend(n int) {
	if c.left -= n; c.left < 0 && c.why == "" {
		c.why = tooMuch
	}
}

func (c *counter) visit(n *node, value any, chain int) {
	c.spend(1 + n.values)
	if chain > maxChain && c.why == "" {
		c.why = noEnd
	}
	if c.why != "" {
		return
	}
	for _, sub := range n.same {
		c.visit(sub, value, chain+1)
	}
	switch v := value.(type) {
	case map[string]any:
		c.object(n, v)
	case []any:
		c.array(n, v)
	case string:
		c.spend(len(v)/256 + matchWork(n.text, v))
	case json.Number:
		c.spend(literalWork(string(v)))
	}
}

// members is what looking at all members costs before any of them is evaluated.
func (c *counter) members(n int) {
	if !c.tracks {
		n /= 8
	}
	c.spend(n)
}

func (c *counter) object(n *node, members map[string]any) {
	c.members(len(members))
	for name, value := range members {
		if c.why != "" {
			return
		}
		if sub, ok := n.props[name]; ok {
			c.visit(sub, value, 0)
		}
		for _, p := range n.patterns {
			c.spend(1 + matchWork(p.size, name))
			c.visit(p.sub, value, 0)
		}
		for _, sub := range n.each {
			c.visit(sub, value, 0)
		}
		if n.names != nil {
			c.visit(n.names, name, 0)
		}
	}
}

func (c *counter) array(n *node, elements []any) {
	c.members(len(elements))
	if n.unique {
		c.spend(weight(elements) * min(len(elements), 20))
	}
	for i, value := range elements {
		if c.why != "" {
			return
		}
		if i < len(n.prefix) {
			c.visit(n.prefix[i], value, 0)
		}
		for _, sub := range n.items {
			c.visit(sub, value, 0)
		}
	}
}

// matchWork is the work of matching a text: RE2 takes instructions × bytes, at some nanoseconds each.
func matchWork(size int, text string) int { return size * len(text) / 50 }
