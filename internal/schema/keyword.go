package schema

import (
	"slices"
	"strconv"

	"mcpc/internal/strictjson"
)

// keywords are all that either dialect gives a meaning. A place below one of them is a schema only when the keyword
// makes it one.
var keywords = []string{
	"$ref", "$anchor", "$vocabulary", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas",
	"dependencies", "dependentRequired", "properties", "$defs", "definitions", "patternProperties",
	"additionalProperties", "unevaluatedProperties", "propertyNames", "prefixItems", "items", "additionalItems",
	"contains", "unevaluatedItems", "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
	"exclusiveMinimum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "minContains", "maxContains",
	"uniqueItems", "minProperties", "maxProperties", "required", "title", "description", "default", "examples",
	"$comment", "deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType", "contentSchema",
}

func known(keyword string) bool { return slices.Contains(keywords, keyword) }

// keyword reads one member of a schema. Unknown members and annotations, "format" among them, decide nothing and are
// not looked at, whatever they hold.
func (c *compiler) keyword(n *node, schema object, key, at string) {
	value := schema.members[key]
	switch key {
	case "$ref":
		c.reference(n, value)
	case "$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor":
		c.refuse("the schema uses " + key)
	case "$id", "$schema":
		if at != strictjson.Pointer(key) { // at the root they name the whole, and nothing is resolved against that
			c.refuse("the schema has a nested " + key)
		}
	case "$defs", "definitions":
		c.named(value, at)
	case "allOf":
		n.allOf = c.list(value, at)
	case "anyOf":
		n.anyOf = c.list(value, at)
	case "oneOf":
		n.oneOf = c.list(value, at)
	case "not":
		n.not = c.position(value, at)
	case "if":
		n.cond = c.position(value, at)
	case "then":
		n.then = c.position(value, at)
	case "else":
		n.other = c.position(value, at)
	default:
		c.inside(n, schema, key, at)
	}
}

// inside reads the keywords that go down into members and elements.
func (c *compiler) inside(n *node, schema object, key, at string) {
	value := schema.members[key]
	switch key {
	case "properties":
		n.props = c.named(value, at)
	case "patternProperties":
		subs := c.named(value, at)
		for _, name := range sortedNames(subs) {
			n.patterns = append(n.patterns, patternNode{c.matcher(name), subs[name]})
		}
	case "additionalProperties":
		n.additional = c.position(value, at)
	case "propertyNames":
		n.names = c.position(value, at)
	case "dependentSchemas", "dependentRequired", "dependencies":
		c.dependents(n, key, value, at)
	case "unevaluatedProperties":
		n.unevaluated, c.tracks = c.position(value, at), true
	case "prefixItems":
		n.prefix = c.list(value, at)
	case "items", "additionalItems":
		c.items(n, schema, key, at)
	case "contains":
		n.contains = c.position(value, at)
	case "unevaluatedItems":
		n.leftover, c.tracks = c.position(value, at), true
	default:
		if !c.assertion(n, key, value) {
			c.refuse(invalid)
		}
	}
}

// items reads the two forms that draft-07 has: one schema for all, or a list, behind which additionalItems begins.
func (c *compiler) items(n *node, schema object, key, at string) {
	_, tuple := schema.members["items"].([]any)
	switch tuple = tuple && c.old; {
	case key == "items" && tuple:
		n.prefix = c.list(schema.members[key], at)
	default:
		sub := c.position(schema.members[key], at)
		if key == "items" || tuple {
			n.items = sub
		}
	}
}

func (c *compiler) dependents(n *node, key string, value any, at string) {
	members, ok := value.(object)
	if !ok {
		c.refuse(invalid)
	}
	for _, name := range members.names {
		d := dependent{name: name, keyword: key}
		names, list := members.members[name].([]any)
		switch {
		case key == "dependentRequired" || key == "dependencies" && list:
			if d.required, ok = texts(names); !ok || !list {
				c.refuse(invalid)
			}
		default:
			d.sub = c.position(members.members[name], at+strictjson.Pointer(name))
		}
		n.dependents = append(n.dependents, d)
	}
}

// list reads a list of schemas, which both dialects want to hold at least one.
func (c *compiler) list(value any, at string) []*node {
	elements, _ := value.([]any)
	if len(elements) == 0 {
		c.refuse(invalid)
	}
	out := make([]*node, 0, min(len(elements), maxPositions))
	for i, e := range elements {
		if c.why != "" {
			break
		}
		out = append(out, c.position(e, at+"/"+strconv.Itoa(i)))
	}
	return out
}

func (c *compiler) named(value any, at string) map[string]*node {
	members, ok := value.(object)
	if !ok {
		c.refuse(invalid)
	}
	out := make(map[string]*node, min(len(members.names), maxPositions))
	for _, name := range members.names {
		if c.why != "" {
			break
		}
		out[name] = c.position(members.members[name], at+strictjson.Pointer(name))
	}
	return out
}
