package schema

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const draft07 = `"$schema":"http://json-schema.org/draft-07/schema#"`

func TestEvaluate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema, instance string
		want                   Verdict
		pointer, keyword       string
	}{
		{"true", `true`, `{"a":1}`, Valid, "", ""},
		{"false", `false`, `1`, Invalid, "", "false"},
		{"type", `{"type":"object"}`, `[]`, Invalid, "", "type"},
		{
			"dialect with a mark",
			`{"$schema":"https://json-schema.org/draft/2020-12/schema#","type":"null"}`, `null`,
			Valid, "", "",
		},
		{
			"dialect over http",
			`{"$schema":"http://json-schema.org/draft/2020-12/schema","type":"null"}`, `1`,
			Invalid, "", "type",
		},
		{
			"root id",
			`{"$id":"https://example.com/a","$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}`, `1`,
			Invalid, "", "type",
		},
		{
			"pointer",
			`{"properties":{"a/b":{"items":{"maxLength":2}}}}`, `{"a/b":["x","xyz"]}`,
			Invalid, "/a~1b/1", "maxLength",
		},
		{"required", `{"required":["secret"]}`, `{}`, Invalid, "", "required"},
		{"additional", `{"additionalProperties":false}`, `{"x":1}`, Invalid, "", "additionalProperties"},
		{
			"one way of several",
			`{"properties":{"a":{"anyOf":[{"type":"null"},{"properties":{"b":{"type":"null"}}}]}}}`, `{"a":{"b":1}}`,
			Invalid, "/a", "anyOf",
		},
		{"not", `{"not":{"type":"null"}}`, `null`, Invalid, "", "not"},
		{"all of", `{"allOf":[true,{"properties":{"b":{"type":"null"}}}]}`, `{"b":1}`, Invalid, "/b", "type"},
		{"property names", `{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, Invalid, "", "propertyNames"},
		{"exact, over", `{"maximum":9007199254740992}`, `9007199254740993`, Invalid, "", "maximum"},
		{"exact, at", `{"maximum":9007199254740993}`, `9007199254740993`, Valid, "", ""},
		{"exact const", `{"const":9007199254740992}`, `9007199254740993`, Invalid, "", "const"},
		{"one number, two spellings", `{"const":1}`, `1.0`, Valid, "", ""},
		{"integer by value", `{"type":"integer"}`, `1e2`, Valid, "", ""},
		{"not an integer", `{"type":"integer"}`, `1.5`, Invalid, "", "type"},
		{"multiple", `{"multipleOf":0.1}`, `0.3`, Valid, "", ""},
		{"not a multiple", `{"multipleOf":1}`, `0.5`, Invalid, "", "multipleOf"},
		{"not a multiple of a large number", `{"multipleOf":100}`, `250`, Invalid, "", "multipleOf"},
		{"exponent at the bound", `{"maximum":1e400}`, `1e400`, Valid, "", ""},
		{"digits at the bound", `{"type":"integer"}`, strings.Repeat("9", 400), Valid, "", ""},
		{"format is no assertion", `{"format":"email"}`, `"x"`, Valid, "", ""},
		{"format in draft-07", `{` + draft07 + `,"properties":{"a":{"format":"email"}}}`, `{"a":"x"}`, Valid, "", ""},
		{
			"property called format",
			`{"properties":{"format":{"type":"string"}}}`, `{"format":1}`,
			Invalid, "/format", "type",
		},
		{"enum with a member called title", `{"enum":[{"title":1}]}`, `{"title":1}`, Valid, "", ""},
		{"property called $ref", `{"properties":{"$ref":{"type":"string"}}}`, `{"$ref":1}`, Invalid, "/$ref", "type"},
		{"tuple of draft-07", `{` + draft07 + `,"items":[{"type":"null"}]}`, `[1]`, Invalid, "/0", "type"},
		{
			"siblings of a reference, draft-07",
			`{` + draft07 + `,"definitions":{"a":true},"properties":{"x":{"$ref":"#/definitions/a","type":"null"}}}`, `{"x":1}`,
			Valid, "", "",
		},
		{
			"siblings of a reference",
			`{"$defs":{"a":true},"properties":{"x":{"$ref":"#/$defs/a","type":"null"}}}`, `{"x":1}`,
			Invalid, "/x", "type",
		},
		{
			"defs under draft-07",
			`{` + draft07 + `,"$defs":{"a":{"type":"null"}},"$ref":"#/$defs/a"}`, `1`,
			Invalid, "", "type",
		},
		{
			"components",
			`{"$ref":"#/components/schemas/R","components":{"schemas":{"R":{"type":"object"}}}}`, `1`,
			Invalid, "", "type",
		},
		{"escaped reference", `{"$ref":"#/$defs/a~1%62","$defs":{"a/b":{"type":"null"}}}`, `1`, Invalid, "", "type"},
		{
			"tree",
			`{"properties":{"next":{"$ref":"#"}},"required":["v"]}`, `{"v":1,"next":{"v":2,"next":{}}}`,
			Invalid, "/next/next", "required",
		},
		{"pattern", `{"pattern":"^a+$"}`, `"aaab"`, Invalid, "", "pattern"},
		{
			"pattern of names",
			`{"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}`, `{"xa":null}`,
			Valid, "", "",
		},
		{
			"unevaluated",
			`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`,
			Invalid, "/b", "false",
		},
		{
			"unevaluated, by each way that fits",
			`{"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`,
			Valid, "", "",
		},
		{
			"unevaluated items behind what is contained",
			`{"contains":{"const":1},"unevaluatedItems":false}`, `[1,2]`,
			Invalid, "/1", "false",
		},
		{"at least none is contained", `{"contains":{"const":1},"minContains":0}`, `[]`, Valid, "", ""},
		{"two are contained", `{"contains":{"const":1},"minContains":2}`, `[1]`, Invalid, "", "minContains"},
		{"none is contained", `{"contains":{"const":1}}`, `[2]`, Invalid, "", "contains"},
		{"negative, below", `{"minimum":-20}`, `-21`, Invalid, "", "minimum"},
		{"negative, above", `{"maximum":-20}`, `-3`, Invalid, "", "maximum"},
		{"zero with a sign", `{"const":0}`, `-0.0e3`, Valid, "", ""},
		{"code points", `{"maxLength":2}`, `"😀é"`, Valid, "", ""},
		{"unique by value", `{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2.0,"a":10e-1}]`, Invalid, "", "uniqueItems"},
		{"rest without a tuple, draft-07", `{` + draft07 + `,"additionalItems":false}`, `[1]`, Valid, "", ""},
		{
			"rest behind a tuple, draft-07",
			`{` + draft07 + `,"items":[true],"additionalItems":false}`, `[1,2]`,
			Invalid, "/1", "false",
		},
		{"keyword of draft-07 only", `{"additionalItems":7,"items":{"type":"null"}}`, `[null]`, Valid, "", ""},
		{"keyword of 2020-12 only", `{` + draft07 + `,"prefixItems":[false],"minContains":-1}`, `[1]`, Valid, "", ""},
		{
			"place below an unknown member",
			`{"properties":{"a":{"$ref":"#/$defs/g/x-more/b"}},"$defs":{"g":{"x-more":{"b":false}}}}`, `{"a":1}`,
			Invalid, "/a", "false",
		},
		{"unused cycle", `{"type":"null","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `null`, Valid, "", ""},
		{
			"doubling that is never reached",
			`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, `{"b":1}`,
			Valid, "", "",
		},
		{
			"first fault by location",
			`{"additionalProperties":{"type":"null"}}`, `{"d":1,"c":1,"b":1,"a":1}`,
			Invalid, "/a", "type",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 5 { // the evaluator walks Go maps
				r := Evaluate([]byte(tt.schema), []byte(tt.instance))
				if r.Verdict != tt.want || r.Pointer != tt.pointer || r.Keyword != tt.keyword {
					t.Fatalf("got %+v", r)
				}
				if (r.Why != "") != (r.Verdict == NotEvaluated) {
					t.Fatalf("a reason and a verdict that do not go together: %+v", r)
				}
			}
		})
	}
}

func TestResultHoldsNoValueAndNoSchemaText(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{`{"required":["CANARY"]}`, `{}`},
		{`{"const":"CANARY"}`, `"CANARY2"`},
		{`{"pattern":"CANARY("}`, `""`},
		{`{"$ref":"#/CANARY"}`, `""`},
		{`{"$schema":"https://CANARY.example"}`, `""`},
		{`{"dependentRequired":{"a":["CANARY"]}}`, `{"a":1}`},
		{`{"type":"CANARY"}`, `1`},
	} {
		r := Evaluate([]byte(pair[0]), []byte(pair[1]))
		if r.Verdict == Valid || strings.Contains(r.Pointer+r.Keyword+r.Why, "CANARY") {
			t.Errorf("%s: %+v", pair[0], r)
		}
	}
}

func TestNumberBounds(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]bool{
		"0": true, "-1.5e+400": true, "1E-400": true, "1e401": false, "1e-401": false,
		"1e9223372036854775808": false, "-" + strings.Repeat("1", 400) + ".": true, strings.Repeat("1", 403): false,
	} {
		if got := ordinaryNumber(literal); got != want {
			t.Errorf("%.20s… : %v", literal, got)
		}
	}
}

func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	wide := `{"items":{"anyOf":[{"type":"string"},{"type":"string"},{"type":"number"}]}}`
	fits := "[" + strings.TrimSuffix(strings.Repeat("0,", 1000), ",") + "]"
	tooWide := "[" + strings.TrimSuffix(strings.Repeat("0,", 100_000), ",") + "]"
	if r := Evaluate([]byte(wide), []byte(fits)); r.Verdict != Valid {
		t.Errorf("within the bound: %+v", r)
	}
	if r := Evaluate([]byte(wide), []byte(tooWide)); r.Why != tooMuch {
		t.Errorf("over the bound: %+v", r)
	}
}

// Whatever the schema, evaluation ends with a verdict and does not panic.
func TestAnySchemaHasAVerdict(t *testing.T) {
	t.Parallel()
	scalars := []string{
		`true`, `false`, `null`, `0`, `-1`, `1e400`, `1e401`, `"#"`, `"#/a"`, `"a"`, `"("`, `"object"`, `[]`, `{}`,
	}
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if depth == 0 || kind == 0 {
				return rapid.SampledFrom(scalars).Draw(t, "scalar")
			}
			parts := rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "parts")
			if kind == 1 {
				return "[" + strings.Join(parts, ",") + "]"
			}
			names := rapid.SliceOfNDistinct(rapid.SampledFrom(keywords), len(parts), len(parts), rapid.ID).Draw(t, "names")
			for i := range parts {
				parts[i] = `"` + names[i] + `":` + parts[i]
			}
			return "{" + strings.Join(parts, ",") + "}"
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		schema, instance := value(4).Draw(t, "schema"), value(3).Draw(t, "instance")
		r := Evaluate([]byte(schema), []byte(instance))
		if r.Why == panicked {
			t.Fatalf("the evaluator panicked on %s with %s", schema, instance)
		}
		if r.Verdict == NotEvaluated && r.Why == "" {
			t.Fatal("no reason")
		}
	})
}
