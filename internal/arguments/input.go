package arguments

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// input is what the root of a tool's input schema says about argument names.
type input struct {
	schema     []byte
	properties map[string][]byte // schema of each declared argument
	order      []string          // their names, as declared
	required   []string
	open       bool // arguments that are not declared are allowed, or declared elsewhere
}

func inputOf(tool *snapshot.Tool) *input {
	text, _ := strictjson.Member(tool.Descriptor, "inputSchema")
	in := &input{schema: text, properties: map[string][]byte{}, open: open(text)}
	for keyword, value := range strictjson.Members(text) {
		switch keyword {
		case "properties":
			for name, property := range strictjson.Members(value) {
				in.properties[name] = property
				in.order = append(in.order, name)
			}
		case "required":
			for _, v := range strictjson.Elements(value) {
				if name, ok := strictjson.Text(v); ok {
					in.required = append(in.required, name)
				}
			}
		}
	}
	return in
}

// elsewhere are the keywords under which a schema can declare more arguments of the same object.
var elsewhere = []string{
	"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies",
}

// open reports whether an argument that is not among the properties of the root may be given. A schema that declares
// properties and says nothing about others is taken at its declaration: a misspelled name would be dropped silently by
// many servers.
func open(schema []byte) bool {
	closed := false
	for keyword, value := range strictjson.Members(schema) {
		switch {
		case keyword == "properties":
			closed = true
		case keyword == "patternProperties":
			return true
		case keyword == "additionalProperties":
			if strictjson.Kind(value) != 'f' {
				return true
			}
			closed = true
		case slices.Contains(elsewhere, keyword):
			if keyword == "$ref" || keyword == "$dynamicRef" || declaresMore(value) {
				return true
			}
		}
	}
	return !closed
}

// declaresMore reports whether a schema below the root may name arguments; "required" alone, for one, does not.
func declaresMore(value []byte) bool {
	return bytes.Contains(value, []byte("ropertie")) || bytes.Contains(value, []byte("Ref")) ||
		bytes.Contains(value, []byte("$ref")) || bytes.Contains(value, []byte(`\u`))
}

// maxSteps bounds how far typeOf looks: a hostile schema may refer to itself, or fan out.
const maxSteps = 64

// typeOf returns the one JSON type besides null that a property can have, whether null is allowed too, and "" when it
// is not one.
func (in *input) typeOf(property []byte) (one string, nullable bool) {
	steps := maxSteps
	types, known := in.types(property, &steps)
	if !known {
		return "", false
	}
	nullable = slices.Contains(types, "null")
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	switch {
	case len(types) == 0 && nullable:
		return "null", true
	case len(types) == 2 && slices.Contains(types, "integer") && slices.Contains(types, "number"):
		return "number", nullable
	case len(types) == 1:
		return types[0], nullable
	}
	return "", false
}

// types returns the JSON types that a schema allows, as far as type, const, enum, $ref and the alternatives say. known
// is false when they do not.
func (in *input) types(schema []byte, steps *int) (types []string, known bool) {
	if *steps--; *steps < 0 {
		return nil, false
	}
	if declared, ok := strictjson.Member(schema, "type"); ok {
		return declaredTypes(declared)
	}
	for keyword, value := range strictjson.Members(schema) {
		switch keyword {
		case "const":
			return []string{kindOf(value)}, true
		case "enum":
			return kindsOf(value)
		case "$ref":
			if target, ok := in.lookup(value); ok {
				return in.types(target, steps)
			}
		case "anyOf", "oneOf":
			return in.union(value, steps)
		case "allOf":
			for _, part := range strictjson.Elements(value) {
				if types, known := in.types(part, steps); known {
					return types, true
				}
			}
		}
	}
	return nil, false
}

func (in *input) union(alternatives []byte, steps *int) (types []string, known bool) {
	for _, a := range strictjson.Elements(alternatives) {
		some, ok := in.types(a, steps)
		if !ok {
			return nil, false
		}
		types = append(types, some...)
	}
	slices.Sort(types)
	return slices.Compact(types), len(types) > 0
}

func declaredTypes(value []byte) (types []string, known bool) {
	if one, ok := strictjson.Text(value); ok {
		return []string{one}, true
	}
	for _, v := range strictjson.Elements(value) {
		t, _ := strictjson.Text(v)
		types = append(types, t)
	}
	slices.Sort(types)
	return slices.Compact(types), len(types) > 0
}

func kindsOf(values []byte) (types []string, known bool) {
	for _, v := range strictjson.Elements(values) {
		types = append(types, kindOf(v))
	}
	slices.Sort(types)
	return slices.Compact(types), len(types) > 0
}

var kinds = map[byte]string{
	'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'f': "boolean", 'n': "null",
}

func kindOf(value []byte) string { return kinds[strictjson.Kind(value)] }

// lookup follows a reference to a member of the schema itself; nothing else is looked at.
func (in *input) lookup(ref []byte) (target []byte, ok bool) {
	text, _ := strictjson.Text(ref)
	fragment, local := strings.CutPrefix(text, "#/")
	path, err := url.PathUnescape(fragment)
	if !local || err != nil {
		return nil, false
	}
	target = in.schema
	for _, token := range strings.Split(path, "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if target, ok = strictjson.Member(target, token); !ok {
			return nil, false
		}
	}
	return target, true
}
