package schema

import (
	"net/url"
	"strconv"
	"strings"
)

func unescape(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// reference notes where a $ref leads. It is resolved when all positions are known.
func (c *compiler) reference(n *node, value any) {
	text, ok := value.(string)
	if !ok {
		c.refuse(invalid)
		return
	}
	fragment, local := strings.CutPrefix(text, "#")
	to, err := url.PathUnescape(fragment)
	if !local || err != nil || (to != "" && to[0] != '/') {
		c.refuse(noPointer)
		return
	}
	c.refs = append(c.refs, reference{n, to})
}

// resolve returns the node at a pointer.
func (c *compiler) resolve(to string) *node {
	if n, ok := c.nodes[to]; ok {
		return n
	}
	if c.foreign++; c.foreign > maxForeign {
		c.refuse("the schema refers to too many places that are no subschemas")
		return nil
	}
	tokens := strings.Split(to, "/")[1:]
	value, ok := lookup(c.doc, tokens)
	if !ok || c.isValue(tokens) {
		c.refuse("a reference in the schema leads nowhere")
		return nil
	}
	return c.position(value, to)
}

// isValue reports whether a place that no keyword made a schema may be a value instead. It is one below any keyword, as
// in "#/enum/0"; below an unknown member of a schema, as in "#/components/schemas/X", nothing else gives it a meaning.
func (c *compiler) isValue(tokens []string) bool {
	for i := len(tokens) - 1; i >= 0; i-- {
		if _, position := c.nodes[strings.Join(append([]string{""}, tokens[:i]...), "/")]; position {
			return known(unescape(tokens[i]))
		}
	}
	return true
}

// lookup follows the tokens of a pointer. An index must be spelled as 0, 1, 2, …, or one place would have many names.
func lookup(value any, tokens []string) (any, bool) {
	for _, raw := range tokens {
		token := unescape(raw)
		switch v := value.(type) {
		case object:
			member, ok := v.members[token]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != token {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}
