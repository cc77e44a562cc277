package arguments

import (
	"slices"

	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// present returns the arguments as the pinned schema is to see them: without the nulls of optional parameters that are
// mirrored into headers. Such a parameter is declared a string, an integer or a boolean, and may be null all the same,
// which means that there is no value (MCP 2026-07-28, Streamable HTTP, the table of "Server Behavior for Custom
// Headers"). What is sent keeps them, and the authority document judges what is sent.
func (p *parser) present(object []byte) []byte {
	params, ok := snapshot.HeaderParams(p.input.schema)
	if !ok {
		return object
	}
	for _, param := range params {
		if len(param.Path) == 1 && slices.Contains(p.input.required, param.Path[0]) {
			continue
		}
		if value, ok := at(object, param.Path); ok && strictjson.Kind(value) == 'n' {
			object = without(object, param.Path)
		}
	}
	return object
}

// without returns an object that lacks the member at a path, which it has.
func without(object []byte, path []string) []byte {
	b := []byte{'{'}
	for name, value := range strictjson.Members(object) {
		if name == path[0] {
			if len(path) == 1 {
				continue
			}
			value = without(value, path[1:])
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strictjson.AppendQuote(b, name), ':')
		b = append(b, value...)
	}
	return append(b, '}')
}
