package snapshot

// Place is what a JSON value inside a JSON Schema document stands for. A member called "description" is the author's
// text in one place and the name of a parameter in another, and only the way from the root tells which.
type Place int

// Places.
const (
	InSchema  Place = iota // a schema, or an array of them: members are keywords
	InNames                // an object of schemas under names that the author chose (properties, $defs)
	InData                 // plain data (const, default): nothing below is a schema
	InUnknown              // below a keyword of no dialect; a $ref may still point in here
)

// Under returns the place of a member's value. Elements of an array have the place of the array. The keywords are
// those of draft-07 and 2020-12 together: reading a value as a schema where one dialect does not is the careful side.
func (p Place) Under(member string) Place {
	switch p {
	case InNames:
		return InSchema
	case InData:
		return InData
	}
	if place, known := keywords[member]; known {
		return place
	}
	return InUnknown
}

// keywords gives the place below each keyword; those whose value is never a container are data too.
var keywords = func() map[string]Place {
	m := map[string]Place{}
	add := func(p Place, names ...string) {
		for _, name := range names {
			m[name] = p
		}
	}
	add(InSchema, "additionalProperties", "additionalItems", "items", "prefixItems", "contains", "not", "if", "then",
		"else", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema", "allOf", "anyOf", "oneOf")
	add(InNames, "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
	add(InData, "const", "enum", "default", "examples", "required", "dependentRequired", "type", "title",
		"description", "$comment", "$id", "$schema", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor",
		"$vocabulary", "format", "pattern", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
		"exclusiveMinimum", "maxLength", "minLength", "maxItems", "minItems", "uniqueItems", "maxContains",
		"minContains", "maxProperties", "minProperties", "contentEncoding", "contentMediaType", "deprecated",
		"readOnly", "writeOnly", headerKeyword)
	return m
}()
