package schema

import (
	"maps"
	"slices"
)

// kinds is a set of JSON types.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindObject
	kindArray
	kindString
	kindNumber
	kindInteger
)

func kindNamed(name any) kinds {
	switch name {
	case "null":
		return kindNull
	case "boolean":
		return kindBoolean
	case "object":
		return kindObject
	case "array":
		return kindArray
	case "string":
		return kindString
	case "number":
		return kindNumber
	case "integer":
		return kindInteger
	}
	return 0
}

// kindOf returns the types of a value; a number without a fraction has two.
func kindOf(value any) kinds {
	switch v := value.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case object:
		return kindObject
	case []any:
		return kindArray
	case string:
		return kindString
	case decimal:
		if v.whole() {
			return kindNumber | kindInteger
		}
	}
	return kindNumber
}

// assertion reads a keyword that asks something of the value itself; ok is false when the keyword's own value is not
// what the dialect wants there. Published servers send "required": null and worse.
func (c *compiler) assertion(n *node, key string, value any) (ok bool) {
	ok = true
	switch key {
	case "type":
		n.types, ok = typesOf(value)
	case "const":
		n.constant = keys([]any{value})
	case "enum":
		var list []any
		list, ok = value.([]any)
		n.enum = keys(list)
		ok = ok && (!c.old || len(list) > 0 && len(n.enum) == len(list)) // the first edition of draft-07 asks for both
	case "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "multipleOf":
		var limit decimal
		limit, ok = value.(decimal)
		put(&n.limits, key, limit)
		ok = ok && (key != "multipleOf" || limit.sign() > 0)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		c.count(n, key, value)
	case "pattern":
		var text string
		if text, ok = value.(string); ok {
			n.pattern = c.matcher(text)
		}
	case "uniqueItems":
		n.unique, ok = value.(bool)
	case "required":
		n.required, ok = texts(value)
	case "$anchor": // nothing can refer to it here
		_, ok = value.(string)
	case "$vocabulary":
		_, ok = value.(object)
	}
	return ok
}

// count reads a number of things. One over 2^31 may have been meant for a program in which it wraps around.
func (c *compiler) count(n *node, key string, value any) {
	d, _ := value.(decimal)
	size, ok := d.count()
	if _, number := value.(decimal); !number || !ok {
		c.refuse("a count in the schema is not a whole number below 2^31")
	}
	put(&n.counts, key, size)
}

func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

func typesOf(value any) (set kinds, ok bool) {
	list, many := value.([]any)
	if !many {
		list = []any{value}
	}
	for _, name := range list {
		k := kindNamed(name)
		if k == 0 || set&k != 0 {
			return 0, false
		}
		set |= k
	}
	return set, set != 0
}

// texts returns a list of different strings.
func texts(value any) (out []string, ok bool) {
	list, ok := value.([]any)
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		text, isText := e.(string)
		ok = ok && isText && !seen[text]
		seen[text] = true
		out = append(out, text)
	}
	return out, ok
}

func keys(values []any) map[string]bool {
	out := make(map[string]bool, len(values))
	for _, v := range values {
		out[string(appendKey(nil, v))] = true
	}
	return out
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
