package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcpc/internal/strictjson"
)

func strictPointer(token string) string { return strictjson.Pointer(token) }

func unescape(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// lookup follows the tokens of a pointer. An index must be spelled as 0, 1, 2, …, or one place would have many names.
func lookup(value any, tokens []string) (any, bool) {
	for _, raw := range tokens {
		token := unescape(raw)
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[token]
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

// counts are the keywords whose value is a number of things. The evaluator would wrap one over 2^63 around to a small
// number, and a minimum would vanish.
var counts = []string{
	"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
}

// Count reports whether a number literal is a whole number from 0 to 2^31-1, spelled within the bounds.
func Count(literal string) bool {
	n, ok := Number(literal)
	return ok && n.IsInt() && n.Sign() >= 0 && n.Num().BitLen() <= 31
}

var keywords = append([]string{
	"$ref", "$anchor", "$vocabulary", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas",
	"dependencies", "dependentRequired", "properties", "$defs", "definitions", "patternProperties",
	"additionalProperties", "unevaluatedProperties", "propertyNames", "prefixItems", "items", "additionalItems",
	"contains", "unevaluatedItems", "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
	"exclusiveMinimum", "pattern", "uniqueItems", "required",
}, slices.Concat(counts, annotations)...)

func known(keyword string) bool { return slices.Contains(keywords, keyword) }

func values(m map[string]*node) []*node { return slices.Collect(maps.Values(m)) }
