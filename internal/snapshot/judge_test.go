package snapshot

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSCHOddDescriptors asserts the verdict on every odd descriptor, over HTTP and over stdio.
func TestSCHOddDescriptors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/tools-odd-descriptors.json")
	if err != nil {
		t.Fatal(err)
	}
	kept := []string{
		"good=", "schema-marker-only=", "empty-schema=", "root-anyof=", "root-ref=", "root-string=", "required-null=",
		"external-ref=", "catalog.query=", "catalog_query=", "a/b=", "Get User=", "数据库=", "--help=",
		"xmcp-with-type-array-sibling=",
	}
	rejected := []string{
		"schema-true=" + ReasonInputSchema, "schema-null=" + ReasonInputSchema, "schema-missing=" + ReasonInputSchema,
		"=" + ReasonName, strings.Repeat("x", 300) + "=" + ReasonName,
		"dup=" + ReasonDuplicate, "dup=" + ReasonDuplicate,
	}
	annotated := []string{"xmcp-number", "xmcp-dup", "xmcp-under-items"}
	escape := "esc\x1b[2J=" + ReasonName

	wantHTTP := slices.Concat(kept, rejected)
	wantStdio := slices.Clone(kept[:len(kept)-1])
	for _, name := range annotated {
		wantHTTP = append(wantHTTP, name+"="+ReasonHeaderAnnotation)
		wantStdio = append(wantStdio, name+"=")
	}
	wantHTTP = append(wantHTTP, escape)
	wantStdio = slices.Concat(wantStdio, kept[len(kept)-1:], rejected, []string{escape})
	if diff := cmp.Diff(wantHTTP, verdicts(take(t, overHTTP, string(data)))); diff != "" {
		t.Error("http", diff)
	}
	if diff := cmp.Diff(wantStdio, verdicts(take(t, overStdio, string(data)))); diff != "" {
		t.Error("stdio", diff)
	}
}

func TestSCHNotesOnOddDescriptors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/tools-odd-descriptors.json")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`alike: "catalog.query" and "catalog_query" differ only in case or in - . _`,
		`schema: the input schema of "schema-marker-only" does not say "type":"object" at its root`,
		`schema: the input schema of "empty-schema" does not say "type":"object" at its root`,
		`schema: the input schema of "root-anyof" does not say "type":"object" at its root`,
		`schema: the input schema of "root-ref" does not say "type":"object" at its root`,
		`schema: the input schema of "root-string" has another type than "object" at its root`,
	}
	if diff := cmp.Diff(want, take(t, overHTTP, string(data)).Notes()); diff != "" {
		t.Fatal(diff)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	named := func(name string) string { return `{"name":"` + name + `","inputSchema":{}}` }
	for _, tt := range []struct{ name, descriptor, want string }{
		{"SCH-03 null", `null`, ReasonNotObject},
		{"a string", `"x"`, ReasonNotObject},
		{"an array", `[{"name":"a","inputSchema":{}}]`, ReasonNotObject},
		{"no name", `{"inputSchema":{}}`, ReasonName},
		{"name is null", `{"name":null,"inputSchema":{}}`, ReasonName},
		{"name is a number", `{"name":1,"inputSchema":{}}`, ReasonName},
		{"name of 255 bytes", named(strings.Repeat("x", 255)), ""},
		{"name of 256 bytes", named(strings.Repeat("é", 128)), ""},
		{"name of 257 bytes", named(strings.Repeat("x", 257)), ReasonName},
		{"name of 258 bytes and 129 letters", named(strings.Repeat("é", 129)), ReasonName},
		{"C0 in the name", named(`a\n`), ReasonName},
		{"NUL in the name", named(`\u0000`), ReasonName},
		{"DEL in the name", named(`a\u007f`), ReasonName},
		{"C1 in the name", named("a\u009b"), ReasonName},
		{"SCH-05 odd names are legal", named(`: /.,\"\\\u2028`), ""},
		{"SCH-04 null description", `{"name":"a","description":null,"inputSchema":{"required":null}}`, ""},
		{"SCH-04 inputSchema null", `{"name":"a","inputSchema":null}`, ReasonInputSchema},
		{"inputSchema an array", `{"name":"a","inputSchema":[]}`, ReasonInputSchema},
		{"inputSchema a string", `{"name":"a","inputSchema":"{}"}`, ReasonInputSchema},
		{"member of another case", `{"name":"a","inputschema":{}}`, ReasonInputSchema},
		{"SCH-07 external reference", `{"name":"a","inputSchema":{"$ref":"http://169.254.169.254/x.json"}}`, ""},
		{"task required", `{"name":"a","inputSchema":{},"execution":{"taskSupport":"required"}}`, ReasonRequiresTask},
		{"task required in escapes", `{"name":"a","inputSchema":{},"exec\u0075tion":{"taskSupport":"requir\u0065d"}}`, ReasonRequiresTask},
		{"task optional", `{"name":"a","inputSchema":{},"execution":{"taskSupport":"optional"}}`, ""},
		{"execution is a string", `{"name":"a","inputSchema":{},"execution":"required"}`, ""},
		{"annotation in escapes", `{"name":"a","inputSchema":{"x-mcp-heade\u0072":"A"}}`, ReasonHeaderAnnotation},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := take(t, overHTTP, page(tt.descriptor))
			got := ""
			if len(s.Rejected) == 1 {
				got = s.Rejected[0].Reason
				if string(s.Rejected[0].Descriptor) != tt.descriptor {
					t.Errorf("kept %s", s.Rejected[0].Descriptor)
				}
			} else if string(s.Tools[0].Descriptor) != tt.descriptor {
				t.Errorf("kept %s", s.Tools[0].Descriptor)
			}
			if got != tt.want {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHeaderParams(t *testing.T) {
	t.Parallel()
	root := func(properties string) string { return `{"type":"object","properties":{` + properties + `}}` }
	str := func(header string) string { return `{"type":"string","x-mcp-header":` + header + `}` }
	for _, tt := range []struct {
		name, schema string
		want         []HeaderParam // nil for refused
	}{
		{"none", root(`"a":{"type":"string"}`), []HeaderParam{}},
		{"one", root(`"region":` + str(`"Region"`)), []HeaderParam{{"Region", []string{"region"}, "string"}}},
		{
			"each type, null besides", root(`"s":` + str(`"S"`) + `,"i":{"x-mcp-header":"I","type":["null","integer"]},"b":{"type":["boolean"],"x-mcp-header":"B"}`),
			[]HeaderParam{{"S", []string{"s"}, "string"}, {"I", []string{"i"}, "integer"}, {"B", []string{"b"}, "boolean"}},
		},
		{"nested", root(`"a":{"properties":{"b":{"properties":{"c":` + str(`"C"`) + `}}}}`), []HeaderParam{{"C", []string{"a", "b", "c"}, "string"}}},
		{
			"siblings below one path keep their own", root(`"a":{"properties":{"b":` + str(`"B"`) + `,"c":` + str(`"C"`) + `}}`),
			[]HeaderParam{{"B", []string{"a", "b"}, "string"}, {"C", []string{"a", "c"}, "string"}},
		},
		{
			"siblings deep down keep their own",
			root(`"a":{"properties":{"b":{"properties":{"c":{"properties":{"d":` + str(`"D"`) + `,"e":` + str(`"E"`) + `}}}}}}`),
			[]HeaderParam{{"D", []string{"a", "b", "c", "d"}, "string"}, {"E", []string{"a", "b", "c", "e"}, "string"}},
		},
		{"every kind of token", root(`"a":` + str("\"!#$%&'*+-.^_`|~09azAZ\"")), []HeaderParam{{"!#$%&'*+-.^_`|~09azAZ", []string{"a"}, "string"}}},
		{"a property of that name", root(`"x-mcp-header":{"type":"number"}`), []HeaderParam{}},
		{"a property of that name, annotated", root(`"x-mcp-header":` + str(`"X"`)), []HeaderParam{{"X", []string{"x-mcp-header"}, "string"}}},
		{"a property called properties", root(`"properties":{"type":"string","x-mcp-header":"P"}`), []HeaderParam{{"P", []string{"properties"}, "string"}}},
		{"in plain data", root(`"a":{"const":{"x-mcp-header":1},"enum":[{"x-mcp-header":1}],"default":{"x-mcp-header":1},"examples":[{"x-mcp-header":1}]}`), []HeaderParam{}},
		{"a definition of that name", `{"$defs":{"x-mcp-header":{"type":"number"}}}`, []HeaderParam{}},
		{"no object", `true`, []HeaderParam{}},

		{"at the root", `{"type":"object","x-mcp-header":"A"}`, nil},
		{"at the root, a string", `{"type":"string","x-mcp-header":"A"}`, nil},
		{"empty", root(`"a":` + str(`""`)), nil},
		{"null", root(`"a":` + str(`null`)), nil},
		{"number value", root(`"a":` + str(`1`)), nil},
		{"array value", root(`"a":` + str(`["A"]`)), nil},
		{"object value", root(`"a":` + str(`{}`)), nil},
		{"space", root(`"a":` + str(`"A B"`)), nil},
		{"colon", root(`"a":` + str(`"A:B"`)), nil},
		{"non-ASCII", root(`"a":` + str(`"Ä"`)), nil},
		{"U+0141, whose low byte is a letter", root(`"a":` + str(`"\u0141"`)), nil},
		{"line feed", root(`"a":` + str(`"A\nB"`)), nil},
		{"DEL", root(`"a":` + str(`"A\u007f"`)), nil},
		{"same name", root(`"a":` + str(`"A"`) + `,"b":` + str(`"A"`)), nil},
		{"same name but for case", root(`"a":` + str(`"Region"`) + `,"b":{"properties":{"c":` + str(`"rEGION"`) + `}}`), nil},
		{"type number", root(`"a":{"type":"number","x-mcp-header":"A"}`), nil},
		{"type object", root(`"a":{"type":"object","x-mcp-header":"A"}`), nil},
		{"type array", root(`"a":{"type":"array","x-mcp-header":"A"}`), nil},
		{"type null", root(`"a":{"type":"null","x-mcp-header":"A"}`), nil},
		{"no type", root(`"a":{"x-mcp-header":"A"}`), nil},
		{"two types", root(`"a":{"type":["string","integer"],"x-mcp-header":"A"}`), nil},
		{"types that are none", root(`"a":{"type":["string",1],"x-mcp-header":"A"}`), nil},
		{"items", root(`"a":{"items":` + str(`"A"`) + `}`), nil},
		{"items, a list", root(`"a":{"items":[` + str(`"A"`) + `]}`), nil},
		{"properties below items", root(`"a":{"items":{"properties":{"b":` + str(`"B"`) + `}}}`), nil},
		{"prefixItems", root(`"a":{"prefixItems":[` + str(`"A"`) + `]}`), nil},
		{"contains", root(`"a":{"contains":` + str(`"A"`) + `}`), nil},
		{"allOf", `{"allOf":[` + root(`"a":`+str(`"A"`)) + `]}`, nil},
		{"anyOf", `{"anyOf":[` + root(`"a":`+str(`"A"`)) + `]}`, nil},
		{"oneOf", `{"oneOf":[` + root(`"a":`+str(`"A"`)) + `]}`, nil},
		{"not", `{"not":` + root(`"a":`+str(`"A"`)) + `}`, nil},
		{"if", `{"if":` + root(`"a":`+str(`"A"`)) + `}`, nil},
		{"then", `{"then":` + root(`"a":`+str(`"A"`)) + `}`, nil},
		{"else", `{"else":` + root(`"a":`+str(`"A"`)) + `}`, nil},
		{"$defs", `{"$defs":{"d":` + str(`"A"`) + `}}`, nil},
		{"definitions", `{"definitions":{"d":` + root(`"a":`+str(`"A"`)) + `}}`, nil},
		{"a definition called properties", `{"$defs":{"properties":{"a":` + str(`"A"`) + `}}}`, nil},
		{"patternProperties", `{"patternProperties":{"^a":` + str(`"A"`) + `}}`, nil},
		{"additionalProperties", `{"additionalProperties":` + str(`"A"`) + `}`, nil},
		{"propertyNames", `{"propertyNames":` + str(`"A"`) + `}`, nil},
		{"dependentSchemas", `{"dependentSchemas":{"a":` + root(`"a":`+str(`"A"`)) + `}}`, nil},
		{"dependencies", `{"dependencies":{"a":` + root(`"a":`+str(`"A"`)) + `}}`, nil},
		{"below a keyword that a $ref may point into", `{"$ref":"#/components/schemas/R","components":{"schemas":{"R":` + root(`"a":`+str(`"A"`)) + `}}}`, nil},
		{"properties in an array", `{"properties":[{"a":` + str(`"A"`) + `}]}`, nil},
		{"one good, one bad", root(`"a":` + str(`"A"`) + `,"b":{"type":"number","x-mcp-header":"B"}`), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := HeaderParams([]byte(tt.schema))
			if ok != (tt.want != nil) || len(got) != len(tt.want) {
				t.Fatalf("%v, %v", got, ok)
			}
			if ok && len(tt.want) > 0 {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatal(diff)
				}
			}
			if valid := headersValid([]byte(tt.schema)); valid != ok {
				t.Fatalf("headersValid says %v", valid)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	descriptor := `{"name":"a","title":"A","description":"does","annotations":{ "readOnlyHint":true },"outputSchema":{"x":1},
	"inputSchema":{"type":"object","required":["b","x"],"properties":{"b":{"type":"integer","description":"B"},
	"c":{"type":["string","null"]},"d":true,"description":{"type":7,"description":null}}}}`
	s := take(t, overHTTP, page(descriptor))
	d := s.Tools[0].Describe()
	want := []Argument{
		{"b", []string{"integer"}, true, "B", []byte(`{"type":"integer","description":"B"}`)},
		{"c", []string{"string", "null"}, false, "", []byte(`{"type":["string","null"]}`)},
		{"d", nil, false, "", []byte(`true`)},
		{"description", nil, false, "", []byte(`{"type":7,"description":null}`)},
	}
	if diff := cmp.Diff(want, d.Arguments); diff != "" {
		t.Fatal(diff)
	}
	if d.Title != "A" || d.Description != "does" || string(d.Annotations) != `{ "readOnlyHint":true }` || string(d.OutputSchema) != `{"x":1}` {
		t.Fatalf("%+v", d)
	}
	odd := take(t, overHTTP, page(`{"name":"a","title":1,"inputSchema":{"required":"b","properties":[]}}`)).Tools[0].Describe()
	if odd.Title != "" || odd.Arguments != nil || odd.Annotations != nil {
		t.Fatalf("%+v", odd)
	}
}

func TestSkeleton(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"раураl", "ρaypal", "ｐａｙｐａｌ", "𝓹𝓪𝔂𝓹𝓪𝓵", "pay\u200bpal", "paypa1", "PAYPAL", "pаypаl"} {
		if skeleton(other) != skeleton("paypal") {
			t.Errorf("%+q gives %q", other, skeleton(other))
		}
	}
	for _, other := range []string{"paypals", "pay_pal", "数据库", ""} {
		if skeleton(other) == skeleton("paypal") {
			t.Errorf("%q", other)
		}
	}
}

func TestNotesNameEachPairOnce(t *testing.T) {
	t.Parallel()
	if notes := take(t, overHTTP, page(tool("get"), tool("set"), tool("数据库"))).Notes(); notes != nil {
		t.Fatal(notes)
	}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[aAаoо0_-]{1,3}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		s := &Snapshot{}
		for _, name := range names {
			s.Tools = append(s.Tools, Tool{Name: name, Descriptor: []byte(tool(name))})
		}
		notes := s.Notes()
		if sorted := slices.Sorted(slices.Values(notes)); len(slices.Compact(sorted)) != len(notes) {
			t.Fatal(notes)
		}
	})
}
