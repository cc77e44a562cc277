package authority

import (
	"slices"
	"strconv"
	"strings"

	"mcpc/internal/schema"
	"mcpc/internal/strictjson"
)

// readArguments reads true or a schema. false is refused: a tool that takes nothing is written as the closed object
// without properties, and one that is not granted is left out.
func readArguments(g *Grant, value []byte, at string) (err error) {
	if strictjson.Kind(value) == 't' {
		return nil
	}
	g.Arguments, err = compile(value, at)
	return err
}

// compile checks a schema against the keywords that a person can judge, and makes it ready. Only what this package
// understands in full is admitted: a keyword that the evaluator ignored would read like a bound and be none.
func compile(value []byte, at string) (*Schema, error) {
	if strictjson.Kind(value) != '{' {
		return nil, invalid(at, "must be true or a schema")
	}
	if t := strictjson.MemberText(value, "type"); t != "object" {
		return nil, invalid(at+"/type", `must be "object" at the top of a schema`)
	}
	if _, ok := strictjson.Member(value, "additionalProperties"); !ok {
		return nil, invalid(at+"/additionalProperties", "is missing, so other arguments would pass unseen")
	}
	c := newChecker(value, at)
	if err := c.root(value); err != nil {
		return nil, err
	}
	compiled, why := schema.Compile(value)
	if why != "" {
		return nil, invalid(at, why)
	}
	return &Schema{compiled}, nil
}

// checker walks one argument schema.
type checker struct {
	top   string
	defs  map[string]bool     // names under $defs
	owner string              // the definition that is being walked; "" outside of $defs
	uses  map[string][]string // which definitions a definition refers to
}

func newChecker(root []byte, at string) *checker {
	c := &checker{top: at, defs: map[string]bool{}, uses: map[string][]string{}}
	defs, _ := strictjson.Member(root, "$defs")
	for name := range strictjson.Members(defs) {
		c.defs[name] = true
	}
	return c
}

func (c *checker) root(value []byte) error {
	if err := c.schema(value, c.top); err != nil {
		return err
	}
	for name := range c.defs {
		if c.reaches(name, name, map[string]bool{}) {
			return invalid(c.top+"/$defs", "has a definition that refers to itself")
		}
	}
	return nil
}

// reaches reports whether a definition refers to another, over any number of steps.
func (c *checker) reaches(from, to string, seen map[string]bool) bool {
	for _, next := range c.uses[from] {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if c.reaches(next, to, seen) {
				return true
			}
		}
	}
	return false
}

func (c *checker) schema(value []byte, at string) error {
	switch strictjson.Kind(value) {
	case 't', 'f':
		return nil
	case '{':
	default:
		return invalid(at, "must be a schema")
	}
	for name, v := range strictjson.Members(value) {
		if err := c.keyword(name, v, at+strictjson.Pointer(name), at == c.top); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) keyword(name string, value []byte, at string, top bool) error {
	switch name {
	case "properties":
		return c.named(value, at)
	case "$defs":
		if !top {
			return invalid(at, "stands at the top of a schema only")
		}
		return c.definitions(value, at)
	case "additionalProperties", "items", "propertyNames", "not":
		return c.schema(value, at)
	case "prefixItems", "allOf", "anyOf", "oneOf":
		return c.list(value, at)
	case "$ref":
		return c.reference(value, at)
	}
	return assertion(name, value, at)
}

func (c *checker) named(value []byte, at string) error {
	if strictjson.Kind(value) != '{' {
		return invalid(at, "must be an object of schemas")
	}
	for name, v := range strictjson.Members(value) {
		if err := c.schema(v, at+strictjson.Pointer(name)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) definitions(value []byte, at string) error {
	if strictjson.Kind(value) != '{' {
		return invalid(at, "must be an object of schemas")
	}
	defer func() { c.owner = "" }()
	for name, v := range strictjson.Members(value) {
		c.owner = name
		if err := c.schema(v, at+strictjson.Pointer(name)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) list(value []byte, at string) error {
	if !hasElements(value) {
		return invalid(at, "must be an array of schemas, and not empty")
	}
	for i, v := range strictjson.Elements(value) {
		if err := c.schema(v, at+"/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

func hasElements(value []byte) bool {
	for range strictjson.Elements(value) {
		return true
	}
	return false
}

func (c *checker) reference(value []byte, at string) error {
	text, _ := strictjson.Text(value)
	name, ok := strings.CutPrefix(text, "#/$defs/")
	if !ok || strings.ContainsAny(name, "/~%") {
		return invalid(at, `must be "#/$defs/NAME"`)
	}
	if !c.defs[name] {
		return invalid(at, "names no definition")
	}
	c.uses[c.owner] = append(c.uses[c.owner], name)
	return nil
}

var types = []string{"null", "boolean", "integer", "number", "string", "array", "object"}

// assertion checks a keyword that holds no schema.
func assertion(name string, value []byte, at string) error {
	switch name {
	case "type":
		return typeNames(value, at)
	case "const":
		return comparable(value, at)
	case "enum":
		if !hasElements(value) {
			return invalid(at, "must be an array, and not empty")
		}
		return comparable(value, at)
	case "required":
		_, err := texts(value, at)
		return err
	case "uniqueItems":
		if k := strictjson.Kind(value); k != 't' && k != 'f' {
			return invalid(at, "must be true or false")
		}
	case "pattern":
		s, ok := strictjson.Text(value)
		if _, fine := schema.Pattern(s); !ok || !fine {
			return invalid(at, "must be a regular expression as RE2 takes it, and not too large")
		}
	case "title", "description", "$comment":
		return ignore[struct{}](nil, value, at)
	default:
		return number(name, value, at)
	}
	return nil
}

func number(name string, value []byte, at string) error {
	switch name {
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		if strictjson.Kind(value) != '0' || !schema.Count(string(value)) {
			return invalid(at, "must be a whole number from 0 to 2147483647")
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		if strictjson.Kind(value) != '0' {
			return invalid(at, "must be a number")
		}
		n, ok := schema.Number(string(value))
		if !ok {
			return invalid(at, "must be a number of at most 400 digits and an exponent within ±400")
		}
		if name == "multipleOf" && n.Sign() <= 0 {
			return invalid(at, "must be over 0")
		}
	default:
		return invalid(at, "is no keyword that an authority document may use")
	}
	return nil
}

func comparable(value []byte, at string) error {
	if !schema.Comparable(value) {
		return invalid(at, "holds a number over 400 digits or with an exponent beyond ±400")
	}
	return nil
}

func typeNames(value []byte, at string) error {
	if s, ok := strictjson.Text(value); ok && slices.Contains(types, s) {
		return nil
	}
	names, err := texts(value, at)
	if err != nil || len(names) == 0 {
		return invalid(at, "must be a type or an array of different types")
	}
	for i, name := range names {
		if !slices.Contains(types, name) {
			return invalid(at+"/"+strconv.Itoa(i), "must be a type")
		}
	}
	return nil
}
