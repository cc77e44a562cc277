package schema

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compiling costs about the square of the positions, and a reference to a place that is no position costs a copy of
// what is known so far.
const (
	maxPositions = 1000
	maxForeign   = 32
)

// guard is the walk over a schema before anything else sees it.
type guard struct {
	doc      any
	draft    *jsonschema.Draft
	root     *node
	nodes    map[string]*node // by JSON pointer
	refs     []reference      // still to be resolved
	foreign  int
	patterns map[string]*regexp.Regexp
	sizes    int
	tracks   bool // unevaluated… makes every visit note all members
	why      string
}

type reference struct {
	from *node
	to   string // JSON pointer
}

// node is one schema position, with what it costs at an instance.
type node struct {
	same     []*node          // evaluated at the same instance: $ref, allOf, anyOf, oneOf, not, if, …
	props    map[string]*node // properties
	patterns []patternNode    // patternProperties; each is taken to match every name
	each     []*node          // at every member: additionalProperties, unevaluatedProperties
	names    *node            // propertyNames
	prefix   []*node          // at the item of the same index
	items    []*node          // at every item: items, additionalItems, contains, unevaluatedItems
	text     int              // program size of pattern
	values   int              // weight of enum and const
	unique   bool
}

type patternNode struct {
	size int
	sub  *node
}

// dialects that are evaluated. The schema's own $schema is looked up here and then taken out, so that the evaluator
// has nothing to fetch.
func dialect(name string) (*jsonschema.Draft, bool) {
	name = strings.TrimSuffix(name, "#")
	_, name, _ = strings.Cut(name, "://")
	switch name {
	case "json-schema.org/draft/2020-12/schema":
		return jsonschema.Draft2020, true
	case "json-schema.org/draft-07/schema":
		return jsonschema.Draft7, true
	}
	return nil, false
}

// inspect walks the decoded schema, takes out of it what must not be evaluated, and counts what the rest costs.
func inspect(doc any) (*guard, string) {
	g := &guard{doc: doc, draft: jsonschema.Draft2020, nodes: map[string]*node{}, patterns: map[string]*regexp.Regexp{}}
	if root, ok := doc.(map[string]any); ok {
		if named, present := root["$schema"]; present {
			name, _ := named.(string)
			if g.draft, ok = dialect(name); !ok {
				return nil, "the schema is in a dialect other than 2020-12 and draft-07"
			}
		}
		delete(root, "$schema")
		delete(root, "$id")
	}
	g.root = g.position(doc, "")
	for len(g.refs) > 0 && g.why == "" {
		r := g.refs[0]
		g.refs = g.refs[1:]
		if target := g.resolve(r.to); target != nil {
			r.from.same = append(r.from.same, target)
		}
	}
	return g, g.why
}

func (g *guard) refuse(why string) {
	if g.why == "" {
		g.why = why
	}
}

// position walks one schema. A value that is neither an object nor a boolean costs nothing here; the meta-schema
// refuses it later.
func (g *guard) position(value any, at string) *node {
	n := &node{}
	if g.nodes[at] = n; len(g.nodes) > maxPositions {
		g.refuse("the schema has too many subschemas")
	}
	obj, ok := value.(map[string]any)
	if !ok || g.why != "" {
		return n
	}
	for key, member := range obj {
		g.keyword(n, obj, key, member, at+strictPointer(key))
	}
	return n
}

// annotations carry prose and hints and decide nothing. "format" asserts in draft-07 unless it is taken out.
var annotations = []string{
	"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "format",
	"contentEncoding", "contentMediaType", "contentSchema",
}

func (g *guard) keyword(n *node, obj map[string]any, key string, value any, at string) {
	switch key {
	case "$ref":
		g.reference(n, value)
	case "$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor":
		g.refuse("the schema uses " + key)
	case "$id", "$schema":
		g.refuse("the schema has a nested " + key)
	case "allOf", "anyOf", "oneOf":
		n.same = append(n.same, g.list(value, at)...)
	case "not", "if", "then", "else":
		n.same = append(n.same, g.position(value, at))
	case "dependentSchemas", "dependencies":
		n.same = append(n.same, values(g.named(value, at))...)
	case "properties":
		n.props = g.named(value, at)
	case "$defs", "definitions":
		g.named(value, at)
	case "patternProperties":
		for name, sub := range g.named(value, at) {
			n.patterns = append(n.patterns, patternNode{g.pattern(name), sub})
		}
	case "additionalProperties", "unevaluatedProperties":
		n.each = append(n.each, g.position(value, at))
		g.tracks = g.tracks || key == "unevaluatedProperties"
	case "propertyNames":
		n.names = g.position(value, at)
	case "prefixItems":
		n.prefix = append(n.prefix, g.list(value, at)...)
	case "items", "additionalItems", "contains", "unevaluatedItems":
		g.items(n, key, value, at)
	default:
		g.assertion(n, obj, key, value)
	}
}

func (g *guard) items(n *node, key string, value any, at string) {
	if _, list := value.([]any); list && key == "items" { // draft-07
		n.prefix = append(n.prefix, g.list(value, at)...)
		return
	}
	n.items = append(n.items, g.position(value, at))
	g.tracks = g.tracks || key == "unevaluatedItems"
}

func (g *guard) assertion(n *node, obj map[string]any, key string, value any) {
	switch {
	case key == "enum" || key == "const":
		n.values += weight(value)
	case key == "uniqueItems":
		n.unique = true
	case key == "pattern":
		if text, ok := value.(string); ok {
			n.text = g.pattern(text)
		}
	case slices.Contains(counts, key):
		if literal, ok := value.(json.Number); !ok || !Count(string(literal)) {
			g.refuse("a count in the schema is not a whole number below 2^31")
		}
	case slices.Contains(annotations, key):
		delete(obj, key)
	}
}

func (g *guard) list(value any, at string) []*node {
	elements, _ := value.([]any)
	out := make([]*node, 0, min(len(elements), maxPositions))
	for i, e := range elements {
		if g.why != "" {
			break
		}
		out = append(out, g.position(e, at+"/"+strconv.Itoa(i)))
	}
	return out
}

func (g *guard) named(value any, at string) map[string]*node {
	members, _ := value.(map[string]any)
	out := make(map[string]*node, min(len(members), maxPositions))
	for name, m := range members {
		if g.why != "" {
			break
		}
		out[name] = g.position(m, at+strictPointer(name))
	}
	return out
}

func (g *guard) pattern(text string) (size int) {
	if _, known := g.patterns[text]; !known {
		re, ok := Pattern(text)
		if !ok {
			g.refuse("a regular expression in the schema is not RE2, or too large")
			return 0
		}
		g.patterns[text] = re
		g.sizes += patternSize(text)
	}
	if g.sizes > maxPatternSizeSum {
		g.refuse("the regular expressions of the schema are too large")
	}
	return patternSize(text)
}

func (g *guard) reference(n *node, value any) {
	text, ok := value.(string)
	if !ok {
		return // the meta-schema refuses it
	}
	fragment, local := strings.CutPrefix(text, "#")
	to, err := url.PathUnescape(fragment)
	if !local || err != nil || (to != "" && to[0] != '/') {
		g.refuse("the schema refers to something other than a pointer into itself")
		return
	}
	g.refs = append(g.refs, reference{n, to})
}

// resolve returns the node at a pointer. A place that no keyword made a schema is admitted below an unknown member
// of the root only ("#/components/schemas/X"), since anywhere else it may be a value.
func (g *guard) resolve(to string) *node {
	if n, ok := g.nodes[to]; ok {
		return n
	}
	if g.foreign++; g.foreign > maxForeign {
		g.refuse("the schema refers to too many places that are no subschemas")
		return nil
	}
	tokens := strings.Split(to, "/")[1:]
	value, ok := lookup(g.doc, tokens)
	if !ok || known(unescape(tokens[0])) {
		g.refuse("a reference in the schema leads nowhere")
		return nil
	}
	return g.position(value, to)
}
