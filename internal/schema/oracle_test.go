package schema

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"pgregory.net/rapid"
)

// The evaluator that others rely on is the oracle here: whatever ours evaluates, it evaluates alike.

// oracle compiles a schema; nil when it is not valid by its dialect.
func oracle(schema string) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	if c.AddResource("urn:schema", prepared(doc, strings.Contains(schema, draft07))) != nil {
		return nil
	}
	s, err := c.Compile("urn:schema")
	if err != nil {
		return nil
	}
	return s
}

// prepared takes out of a schema what the oracle asserts and need not ("format" of draft-07) or should not: beside a
// $ref, draft-07 ignores everything (core, section 8.3), and the oracle minds these four.
func prepared(value any, old bool) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = prepared(v[i], old)
		}
	case map[string]any:
		if _, text := v["format"].(string); text {
			delete(v, "format")
		}
		if _, refers := v["$ref"].(string); refers && old {
			for _, key := range []string{"const", "contains", "propertyNames", "if"} {
				delete(v, key)
			}
		}
		for name := range v {
			v[name] = prepared(v[name], old)
		}
	}
	return value
}

// ask returns the oracle's verdict; NotEvaluated when it ends in a cycle, which ours may leave aside.
func ask(s *jsonschema.Schema, instance string) Verdict {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(instance))
	if err != nil {
		return NotEvaluated
	}
	err = s.Validate(value)
	var fault *jsonschema.ValidationError
	switch {
	case err == nil:
		return Valid
	case !errors.As(err, &fault) || cyclic(fault):
		return NotEvaluated
	}
	return Invalid
}

func cyclic(e *jsonschema.ValidationError) bool {
	_, cycle := e.ErrorKind.(*kind.RefCycle)
	return cycle || slices.ContainsFunc(e.Causes, cyclic)
}

func pick(t *rapid.T, from ...string) string { return rapid.SampledFrom(from).Draw(t, "pick") }

func numberText(t *rapid.T) string {
	return pick(t, "0", "1", "1.0", "-1", "2", "3", "0.5", "1e0", "10e-1", "-0.0", "100", "1E2", "0.1", "0.3",
		"9007199254740992", "9007199254740993", "1e400", "1e-400", "0.30000000000000004")
}

func stringText(t *rapid.T) string {
	return pick(t, `""`, `"a"`, `"b"`, `"ab"`, `"é"`, `"😀x"`, `"1"`)
}

func nameText(t *rapid.T) string { return pick(t, `"a"`, `"b"`, `"ab"`, `"c"`) }

func anyValue(t *rapid.T, depth int) string {
	switch k := rapid.IntRange(0, 9).Draw(t, "value"); {
	case k < 3 && depth > 0:
		return object5(t, func() string { return anyValue(t, depth-1) })
	case k < 6 && depth > 0:
		return "[" + strings.Join(many(t, 0, func() string { return anyValue(t, depth-1) }), ",") + "]"
	case k < 8:
		return numberText(t)
	case k == 8:
		return stringText(t)
	}
	return pick(t, "null", "true", "false")
}

func many(t *rapid.T, least int, f func() string) []string {
	out := make([]string, rapid.IntRange(least, 3).Draw(t, "many"))
	for i := range out {
		out[i] = f()
	}
	return out
}

// object5 is an object of up to three of the names that schemas speak of.
func object5(t *rapid.T, f func() string) string {
	names := map[string]bool{}
	var members []string
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		if name := nameText(t); !names[name] {
			names[name] = true
			members = append(members, name+":"+f())
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// keywordText draws a value for a keyword, nearly always one of the right type.
func keywordText(t *rapid.T, key string, depth int) string {
	sub := func() string { return schemaText(t, depth-1) }
	list := func() string { return "[" + strings.Join(many(t, 1, sub), ",") + "]" }
	if rapid.IntRange(0, 200).Draw(t, "malformed") == 77 {
		return anyValue(t, 1)
	}
	switch key {
	case "$ref":
		return pick(t, `"#/$defs/a"`, `"#/definitions/b"`, `"#/x/y"`, `"#/x/y"`)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return list()
	case "items":
		if rapid.IntRange(0, 9).Draw(t, "tuple") == 7 {
			return list()
		}
		return sub()
	case "properties", "dependentSchemas":
		return object5(t, sub)
	case "patternProperties":
		return `{` + pick(t, `"^a"`, `"b$"`, `"."`) + `:` + sub() + `}`
	case "required":
		return pick(t, `[]`, `["a"]`, `["a","b"]`)
	case "dependentRequired":
		return object5(t, func() string { return pick(t, `[]`, `["a"]`, `["b","c"]`) })
	case "dependencies":
		return pick(t, `{"a":["b"]}`, `{"b":[]}`, `{"a":`+sub()+`}`)
	case "type":
		return pick(t, `"null"`, `"boolean"`, `"object"`, `"array"`, `"string"`, `"number"`, `"integer"`,
			`["integer","string"]`, `["object","array","null"]`)
	case "enum":
		return "[" + strings.Join(many(t, 1, func() string { return anyValue(t, 1) }), ",") + "]"
	case "const":
		return anyValue(t, 2)
	case "multipleOf":
		return pick(t, "1", "2", "0.1", "0.5", "3", "1e-400", "1e2")
	case "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum":
		return numberText(t)
	case "pattern":
		return pick(t, `"^a"`, `"b$"`, `"é"`, `"^.$"`)
	case "uniqueItems":
		return pick(t, "true", "false")
	}
	if strings.HasPrefix(key, "min") || strings.HasPrefix(key, "max") {
		return pick(t, "0", "1", "2", "1.0", "3")
	}
	return sub() // not, if, then, else, contains, additionalProperties, …
}

// drawn are the keywords that decide something.
var drawn = slices.DeleteFunc(slices.Clone(keywords[:slices.Index(keywords, "title")]), func(key string) bool {
	return slices.Contains([]string{"$anchor", "$vocabulary", "$defs", "definitions"}, key)
})

func schemaText(t *rapid.T, depth int) string {
	if depth <= 0 || rapid.IntRange(0, 7).Draw(t, "boolean") == 0 {
		return pick(t, "true", "true", "false", `{"type":"object"}`, `{"minimum":1}`, `{"maxLength":1}`)
	}
	return "{" + strings.Join(keywordsText(t, depth), ",") + "}"
}

func keywordsText(t *rapid.T, depth int) []string {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(drawn), 1, 4, rapid.ID).Draw(t, "keywords")
	for i, key := range names {
		names[i] = `"` + key + `":` + keywordText(t, key, depth)
	}
	return names
}

func TestEvaluatesAsTheOracleDoes(t *testing.T) {
	t.Parallel()
	count := map[Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		members := keywordsText(t, 3)
		if rapid.Bool().Draw(t, "old") {
			members = append(members, draft07)
		}
		members = append(members, `"$defs":{"a":`+schemaText(t, 2)+`}`, `"definitions":{"b":`+schemaText(t, 2)+`}`,
			`"x":{"y":`+schemaText(t, 1)+`}`)
		schema := "{" + strings.Join(members, ",") + "}"
		theirs := oracle(schema)
		for range 10 {
			instance := anyValue(t, 3)
			ours := Evaluate([]byte(schema), []byte(instance))
			count[ours.Verdict]++
			if ours.Verdict != NotEvaluated && theirs == nil {
				t.Fatalf("%s is not valid by its dialect, and got %+v", schema, ours)
			}
			if theirs == nil || ours.Verdict == NotEvaluated {
				continue
			}
			if want := ask(theirs, instance); want != NotEvaluated && ours.Verdict != want {
				t.Fatalf("%s with %s: %+v, the oracle says %v", schema, instance, ours, want)
			}
		}
	})
	if count[Valid] < 50 || count[Invalid] < 50 || count[NotEvaluated] > count[Valid]+count[Invalid] {
		t.Errorf("too few schemas say something: %v", count)
	}
}

// captured returns the schemas that published servers list.
func captured(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob("../../testdata/captured/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captured servers: %v", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var frame struct {
				Result struct {
					Tools []struct {
						Name                      string
						InputSchema, OutputSchema json.RawMessage
					}
				}
			}
			if json.Unmarshal(lines.Bytes(), &frame) != nil {
				continue
			}
			for _, tool := range frame.Result.Tools {
				at := strings.TrimSuffix(filepath.Base(name), ".raw.jsonl") + "/" + tool.Name
				out[at] = string(tool.InputSchema)
				if tool.OutputSchema != nil {
					out[at+"/output"] = string(tool.OutputSchema)
				}
			}
		}
	}
	return out
}

// fitting draws a value that often fits a schema.
func fitting(t *rapid.T, schema any, depth int) any {
	s, _ := schema.(map[string]any)
	if depth == 0 || rapid.IntRange(0, 15).Draw(t, "stray") == 0 {
		var stray any
		_ = json.Unmarshal([]byte(anyValue(t, 1)), &stray)
		return stray
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return rapid.SampledFrom(list).Draw(t, "enum")
	}
	if value, ok := s["const"]; ok {
		return value
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			return fitting(t, rapid.SampledFrom(list).Draw(t, key), depth-1)
		}
	}
	switch typeName, _ := s["type"].(string); typeName {
	case "array":
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			out = append(out, fitting(t, s["items"], depth-1))
		}
		return out
	case "object":
		out := map[string]any{}
		props, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range sortedNames(props) {
			if slices.Contains(required, any(name)) || rapid.Bool().Draw(t, "member") {
				out[name] = fitting(t, props[name], depth-1)
			}
		}
		return out
	case "integer", "number":
		return json.Number(numberText(t))
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	}
	return rapid.SampledFrom([]string{"", "a", "https://example.com/a", "2026-12-01", "main"}).Draw(t, "string")
}

func TestPublishedSchemasAsTheOracleDoes(t *testing.T) {
	t.Parallel()
	schemas, count := captured(t), map[Verdict]int{}
	for _, name := range sortedNames(schemas) {
		theirs := oracle(schemas[name])
		if theirs == nil {
			t.Errorf("%s: the oracle does not compile it", name)
			continue
		}
		doc, _ := jsonschema.UnmarshalJSON(strings.NewReader(schemas[name]))
		draw := rapid.Custom(func(t *rapid.T) any { return fitting(t, doc, 5) })
		for seed := range 12 {
			instance, err := json.Marshal(draw.Example(seed))
			if err != nil {
				t.Fatal(err)
			}
			ours := Evaluate([]byte(schemas[name]), instance)
			if count[ours.Verdict]++; ours.Verdict != ask(theirs, string(instance)) {
				t.Errorf("%s with %s: %+v", name, instance, ours)
			}
		}
	}
	if count[Valid] < 100 || count[Invalid] < 100 {
		t.Errorf("too few instances say something: %v", count)
	}
	t.Logf("%d schemas, %v", len(schemas), count)
}
