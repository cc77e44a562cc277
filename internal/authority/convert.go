package authority

import (
	"net/url"
	"slices"
	"strings"

	"mcpc/internal/strictjson"
)

// closed drafts the argument schema of a descriptor: the declared properties and no others. Each property gets what
// of its schema the keywords of a document can say; where that fails, its type alone.
func closed(descriptor []byte) []byte {
	input, _ := strictjson.Member(descriptor, "inputSchema")
	c := &converter{root: input, left: maxConverted, found: map[string][]byte{}}
	object := c.follow(input)
	text := closedObject(object, func(_ string, property []byte) []byte {
		out, _ := c.convert(property)
		return out
	})
	if _, err := compile(text, ""); err == nil {
		return text
	}
	return closedObject(object, func(_ string, property []byte) []byte { return typeOnly(property) })
}

// closedObject writes the members in a fixed order: type, additionalProperties, required, properties.
func closedObject(object []byte, property func(name string, schema []byte) []byte) []byte {
	properties, _ := strictjson.Member(object, "properties")
	b := []byte(`{"type":"object","additionalProperties":false`)
	if names := declared(object, properties); len(names) > 0 {
		b = append(b, `,"required":[`...)
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = strictjson.AppendQuote(b, name)
		}
		b = append(b, ']')
	}
	b = append(b, `,"properties":{`...)
	first := true
	for name, value := range strictjson.Members(properties) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(strictjson.AppendQuote(b, name), ':')
		b = append(b, property(name, value)...)
	}
	return append(b, "}}"...)
}

// declared returns the required names that are properties; another name could never be given to a closed object.
func declared(object, properties []byte) (names []string) {
	fresh := map[string]bool{} // properties that were not yet required
	for name := range strictjson.Members(properties) {
		fresh[name] = true
	}
	required, _ := strictjson.Member(object, "required")
	for _, v := range strictjson.Elements(required) {
		if name, ok := strictjson.Text(v); ok && fresh[name] {
			names = append(names, name)
			fresh[name] = false
		}
	}
	return names
}

func typeOnly(property []byte) []byte {
	value, ok := strictjson.Member(property, "type")
	if !ok || typeNames(value, "") != nil {
		return []byte("true")
	}
	return append(append([]byte(`{"type":`), value...), '}')
}

// Bounds on a conversion: references are written out where they stand, which can multiply.
const (
	maxConverted  = 8000 // schema positions, and 64 bytes of values each
	maxReferences = 16   // one inside another
)

// converter rewrites a server's schema with the keywords of a document. What it writes never says more than the
// server's schema does, so it admits at least as much; closing the top is what bounds the arguments, and the server
// checks the rest itself.
type converter struct {
	root  []byte
	left  int
	stack []string // references that are being written out
	found map[string][]byte
}

// convert returns the schema and whether it says all that the original does.
func (c *converter) convert(original []byte) (out []byte, exact bool) {
	c.left--
	switch {
	case strictjson.Kind(original) == 'f':
		return []byte("false"), true
	case strictjson.Kind(original) != '{' || c.left < 0:
		return []byte("true"), strictjson.Kind(original) == 't'
	}
	if ref, ok := strictjson.Member(original, "$ref"); ok {
		return c.inline(original, ref)
	}
	w := &writer{exact: true}
	for name, value := range strictjson.Members(original) {
		c.keyword(w, original, name, value)
	}
	return w.schema(), w.exact
}

// writer collects the members of a converted schema.
type writer struct {
	members []byte
	exact   bool
}

func (w *writer) add(name string, value []byte) {
	if len(w.members) > 0 {
		w.members = append(w.members, ',')
	}
	w.members = append(strictjson.AppendQuote(w.members, name), ':')
	w.members = append(w.members, value...)
}

// addIf adds a converted value and takes over whether it is exact.
func (w *writer) addIf(name string, value []byte, exact bool) {
	w.exact = w.exact && exact
	w.add(name, value)
}

func (w *writer) schema() []byte {
	if len(w.members) == 0 {
		return []byte("true")
	}
	return append(append([]byte{'{'}, w.members...), '}')
}

// prose are the keywords that assert nothing.
var prose = []string{
	"title", "description", "$comment", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
}

func (c *converter) keyword(w *writer, original []byte, name string, value []byte) {
	switch name {
	case "properties":
		c.named(w, value)
	case "additionalProperties":
		if _, patterns := strictjson.Member(original, "patternProperties"); !patterns {
			out, exact := c.convert(value)
			w.addIf(name, out, exact)
		}
	case "propertyNames":
		out, exact := c.convert(value)
		w.addIf(name, out, exact)
	case "items":
		c.items(w, original, value)
	case "prefixItems", "allOf", "anyOf":
		c.list(w, name, value, false)
	case "oneOf": // a branch that admits more would make two of them fit
		c.list(w, name, value, true)
	case "not": // what admits more inside admits less outside
		out, exact := c.convert(value)
		if exact {
			w.add(name, out)
		}
		w.exact = w.exact && exact
	case "$defs", "definitions": // written out where they are used
	default:
		c.assertion(w, name, value)
	}
}

func (c *converter) assertion(w *writer, name string, value []byte) {
	switch {
	case slices.Contains(prose, name):
	case c.left >= len(value)/64 && assertion(name, value, "") == nil:
		c.left -= len(value) / 64
		w.add(name, value)
	default:
		w.exact = false
	}
}

func (c *converter) named(w *writer, properties []byte) {
	inner := &writer{}
	for name, value := range strictjson.Members(properties) {
		out, exact := c.convert(value)
		w.exact = w.exact && exact
		inner.add(name, out)
	}
	w.add("properties", append(append([]byte{'{'}, inner.members...), '}'))
}

// items also writes the array form of draft-07 as what it became in 2020-12.
func (c *converter) items(w *writer, original, value []byte) {
	if strictjson.Kind(value) != '[' {
		out, exact := c.convert(value)
		w.addIf("items", out, exact)
		return
	}
	c.list(w, "prefixItems", value, false)
	if rest, ok := strictjson.Member(original, "additionalItems"); ok {
		out, exact := c.convert(rest)
		w.addIf("items", out, exact)
	}
}

func (c *converter) list(w *writer, name string, value []byte, onlyExact bool) {
	b, all := []byte{'['}, true
	for i, v := range strictjson.Elements(value) {
		out, exact := c.convert(v)
		if i > 0 {
			b = append(b, ',')
		}
		b, all = append(b, out...), all && exact
	}
	w.exact = w.exact && all
	if len(b) > 1 && (all || !onlyExact) {
		w.add(name, append(b, ']'))
	}
}

// inline writes a reference out. In 2020-12 the other members beside it count, in draft-07 they do not; leaving them
// out is right for both, and exact when there are none but prose.
func (c *converter) inline(original, ref []byte) (out []byte, exact bool) {
	pointer, _ := strictjson.Text(ref)
	target, ok := c.lookup(pointer)
	if !ok || slices.Contains(c.stack, pointer) || len(c.stack) >= maxReferences {
		return []byte("true"), false
	}
	c.stack = append(c.stack, pointer)
	out, exact = c.convert(target)
	c.stack = c.stack[:len(c.stack)-1]
	for name := range strictjson.Members(original) {
		exact = exact && (name == "$ref" || slices.Contains(prose, name))
	}
	return out, exact
}

// follow returns the schema that the root stands for when it is a reference into itself.
func (c *converter) follow(object []byte) []byte {
	for range maxReferences {
		ref, ok := strictjson.Member(object, "$ref")
		if !ok {
			break
		}
		pointer, _ := strictjson.Text(ref)
		target, ok := c.lookup(pointer)
		if !ok {
			break
		}
		object = target
	}
	return object
}

// lookup finds a JSON pointer in the input schema, members only.
func (c *converter) lookup(ref string) (value []byte, ok bool) {
	if value, ok = c.found[ref]; ok {
		return value, true
	}
	fragment, local := strings.CutPrefix(ref, "#")
	path, err := url.PathUnescape(fragment)
	if !local || err != nil || (path != "" && path[0] != '/') {
		return nil, false
	}
	value = c.root
	for _, token := range strings.Split(path, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if value, ok = strictjson.Member(value, token); !ok {
			return nil, false
		}
	}
	c.found[ref] = value
	return value, true
}
