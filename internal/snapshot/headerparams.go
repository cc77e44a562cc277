package snapshot

import (
	"slices"
	"strings"

	"mcpc/internal/strictjson"
)

// headerKeyword marks a parameter that is mirrored into a request header (2026-07-28, basic/transports,
// "Custom Headers from Tool Parameters").
const headerKeyword = "x-mcp-header"

// HeaderParam is one x-mcp-header annotation.
type HeaderParam struct {
	Header string   // name after "Mcp-Param-"
	Path   []string // property names from the root
	Type   string   // "string", "integer" or "boolean"
}

// HeaderParams returns the x-mcp-header annotations of an input schema, in its order. ok is false when one breaks the
// rules of 2026-07-28: the name is a token, unique without regard to case; the parameter is a string, an integer or a
// boolean, null besides allowed since a null argument sends no header; and the way to it from the root is properties
// alone, since elsewhere a value may be there many times or not at all. A property of the name x-mcp-header is not an
// annotation, nor is one in plain data such as a default.
func HeaderParams(inputSchema []byte) (params []HeaderParam, ok bool) {
	w := annotations{names: map[string]bool{}}
	if !w.walk(inputSchema, InSchema, []string{}, true) {
		return nil, false
	}
	return w.params, true
}

type annotations struct {
	params []HeaderParam
	names  map[string]bool // lower case
}

// walk visits every value that may be a schema. reachable holds as long as path leads here through properties alone.
func (w *annotations) walk(value []byte, place Place, path []string, reachable bool) bool {
	for _, v := range strictjson.Elements(value) {
		if !w.walk(v, place, path, false) {
			return false
		}
	}
	for name, v := range strictjson.Members(value) {
		var ok bool
		switch {
		case place == InNames:
			ok = w.walk(v, InSchema, append(slices.Clone(path), name), reachable)
		case name == headerKeyword:
			ok = reachable && len(path) > 0 && w.annotation(value, v, path)
		default:
			ok = w.below(name, v, place, path, reachable)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (w *annotations) below(keyword string, value []byte, place Place, path []string, reachable bool) bool {
	under := place.Under(keyword)
	return under == InData || w.walk(value, under, path, reachable && keyword == "properties")
}

func (w *annotations) annotation(schema, value []byte, path []string) bool {
	header, ok := strictjson.Text(value)
	kind := primitive(schema)
	lower := strings.ToLower(header)
	if !ok || !isToken(header) || kind == "" || w.names[lower] {
		return false
	}
	w.names[lower] = true
	w.params = append(w.params, HeaderParam{Header: header, Path: path, Type: kind})
	return true
}

// primitive returns the one type other than null that a schema declares, if that can go into a header.
func primitive(schema []byte) string {
	declared, _ := strictjson.Member(schema, "type")
	types := typesOf(declared)
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	if len(types) == 1 && slices.Contains([]string{"string", "integer", "boolean"}, types[0]) {
		return types[0]
	}
	return ""
}

// typesOf returns what the type keyword declares; nothing for a value that is not of its form.
func typesOf(declared []byte) []string {
	if one, ok := strictjson.Text(declared); ok {
		return []string{one}
	}
	types, _ := texts(declared)
	return types
}

// isToken holds for a token of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
