package schema

import (
	"strings"

	"mcpc/internal/strictjson"
)

// Bounds on what is kept of a schema. Memory is by position; a reference to a place that is no position is a guess at
// what its writer meant, and a schema that lives off such guesses is not worth one.
const (
	maxPositions = 1000
	maxPointer   = 4096 // bytes; every position is kept under its pointer, which long names above it would multiply
	maxForeign   = 32
)

// Reasons for which a schema is not evaluated at all.
const (
	invalid   = "the schema is not valid by its own dialect"
	noRegexp  = "a regular expression in the schema is not RE2, or too large"
	noPointer = "the schema refers to something other than a pointer into itself"
)

// node is one schema position, read once. A keyword that is absent is a nil field, so that it asks nothing.
type node struct {
	never bool // the schema false
	ref   *node

	allOf, anyOf, oneOf []*node
	not                 *node
	cond, then, other   *node // if, then, else

	types          kinds
	enum, constant map[string]bool // keys of the values

	limits   map[string]decimal // minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf
	counts   map[string]int     // minLength, maxLength, minItems, …
	pattern  *matcher
	unique   bool
	required []string

	props       map[string]*node
	patterns    []patternNode
	additional  *node
	names       *node // propertyNames
	dependents  []dependent
	unevaluated *node // unevaluatedProperties

	prefix   []*node
	items    *node // at the items behind the prefix
	contains *node
	leftover *node // unevaluatedItems
}

type patternNode struct {
	*matcher
	sub *node
}

// dependent is what a member asks for by being there.
type dependent struct {
	name, keyword string
	required      []string
	sub           *node
}

// compiler is the walk over a schema. Members are walked in the order of their names, so that one schema always gets
// one answer.
type compiler struct {
	doc      any
	old      bool             // draft-07
	nodes    map[string]*node // by JSON pointer
	refs     []reference      // still to be resolved
	foreign  int
	patterns map[string]*matcher
	sizes    int
	tracks   bool // unevaluated… makes every visit note what it has seen
	why      string
}

type reference struct {
	from *node
	to   string // JSON pointer
}

func (c *compiler) refuse(why string) {
	if c.why == "" {
		c.why = why
	}
}

// compile makes a decoded schema ready, or says why not.
func compile(doc any) (*Schema, string) {
	c := &compiler{doc: doc, nodes: map[string]*node{}, patterns: map[string]*matcher{}}
	if root, ok := doc.(object); ok {
		if named, present := root.members["$schema"]; present {
			name, _ := named.(string)
			if c.old, ok = dialect(name); !ok {
				return nil, "the schema is in a dialect other than 2020-12 and draft-07"
			}
		}
	}
	root := c.position(doc, "")
	for len(c.refs) > 0 && c.why == "" {
		r := c.refs[0]
		c.refs = c.refs[1:]
		r.from.ref = c.resolve(r.to)
	}
	if c.why != "" {
		return nil, c.why
	}
	return &Schema{root: root, tracks: c.tracks}, ""
}

// dialect reports whether a dialect is evaluated, and whether it is the older of the two.
func dialect(name string) (old, ok bool) {
	_, name, _ = strings.Cut(strings.TrimSuffix(name, "#"), "://")
	switch name {
	case "json-schema.org/draft/2020-12/schema":
		return false, true
	case "json-schema.org/draft-07/schema":
		return true, true
	}
	return false, false
}

// position reads the schema at a place, once however many refer to it.
func (c *compiler) position(value any, at string) *node {
	if n, ok := c.nodes[at]; ok {
		return n
	}
	n := &node{}
	if c.nodes[at] = n; len(c.nodes) > maxPositions || len(at) > maxPointer {
		c.refuse("the schema has too many subschemas, or too long names above them")
		return n
	}
	switch v := value.(type) {
	case bool:
		n.never = !v
	case object:
		c.object(n, v, at)
	default:
		c.refuse(invalid)
	}
	return n
}

func (c *compiler) object(n *node, schema object, at string) {
	for _, key := range schema.names {
		if c.why != "" {
			return
		}
		if !c.elsewhere(key) {
			c.keyword(n, schema, key, at+strictjson.Pointer(key))
		}
	}
	if _, refers := schema.members["$ref"]; refers && c.old {
		*n = node{} // draft-07, core 8.3: what stands beside $ref is ignored; the reference itself is resolved later
	}
}

// elsewhere reports whether a keyword belongs to the other dialect only. "dependencies" is kept in both: 2020-12 allows
// it, and who writes it means it.
func (c *compiler) elsewhere(key string) bool {
	switch key {
	case "additionalItems":
		return !c.old
	case "prefixItems", "dependentSchemas", "dependentRequired", "minContains", "maxContains", "unevaluatedItems",
		"unevaluatedProperties", "$anchor", "$vocabulary":
		return c.old
	}
	return false
}
