package authority

import (
	"bytes"

	"mcpc/internal/strictjson"
)

// width is how far a line of a drafted document goes before an object or array is spread over several.
const width = 100

// layout writes a strict JSON value for people to edit: two spaces a level, and on one line what fits there. open says
// which values are spread over lines in any case. Scalars keep their spelling.
func layout(value []byte, open func(at string) bool) []byte {
	return append(spread(nil, bytes.TrimSpace(value), "", "\n", 0, open), '\n')
}

func spread(dst, value []byte, at, newline string, column int, open func(string) bool) []byte {
	if line := oneLine(nil, value); !open(at) && column+len(line) < width || !container(value) {
		return append(dst, line...)
	}
	inner := newline + "  "
	first, last := value[0], byte('}')
	if first == '[' {
		last = ']'
	}
	dst = append(dst, first)
	empty := true
	each(value, func(name string, v []byte, pointer string) {
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		dst = append(dst, inner...)
		start := len(dst)
		if first == '{' {
			dst = append(strictjson.AppendQuote(dst, name), ": "...)
		}
		dst = spread(dst, v, at+pointer, inner, len(inner)-1+len(dst)-start, open)
	})
	if !empty {
		dst = append(dst, newline...)
	}
	return append(dst, last)
}

func container(value []byte) bool {
	k := strictjson.Kind(value)
	return k == '{' || k == '['
}

// oneLine appends a value with one space after each colon and comma.
func oneLine(dst, value []byte) []byte {
	value = bytes.TrimSpace(value)
	if !container(value) {
		return append(dst, value...)
	}
	last := byte('}')
	if value[0] == '[' {
		last = ']'
	}
	dst = append(dst, value[0])
	first := true
	each(value, func(name string, v []byte, _ string) {
		if !first {
			dst = append(dst, ", "...)
		}
		first = false
		if value[0] == '{' {
			dst = append(strictjson.AppendQuote(dst, name), ": "...)
		}
		dst = oneLine(dst, v)
	})
	return append(dst, last)
}

// each walks an object or an array; name is "" for an element, and pointer is the reference token, for members only.
func each(value []byte, visit func(name string, v []byte, pointer string)) {
	for name, v := range strictjson.Members(value) {
		visit(name, v, strictjson.Pointer(name))
	}
	for _, v := range strictjson.Elements(value) {
		visit("", v, "/-")
	}
}
