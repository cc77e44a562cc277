package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hostile schemas, each of which costs an unguarded evaluator seconds, a crash or a connection.
func hostile() map[string][2]string {
	many := func(n int, f func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return strings.Join(parts, ",")
	}
	doubling := func(keyword string) string {
		return `{"$ref":"#/$defs/a0","$defs":{` + many(40, func(i int) string {
			next := fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)
			return fmt.Sprintf(`"a%d":{"%s":[%s,%s]}`, i, keyword, next, next)
		}) + `,"a40":{"type":"object"}}}`
	}
	nested := strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70)
	property := func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }
	pattern := func(i int) string { return fmt.Sprintf(`"x%d[^a]{900}":{}`, i) }
	numbers := "[" + many(3000, func(i int) string { return fmt.Sprint(i) }) + "]"
	return map[string][2]string{
		"self reference":           {`{"$ref":"#"}`, `{}`},
		"self reference by allOf":  {`{"allOf":[{"$ref":"#"}]}`, `{}`},
		"self reference under not": {`{"not":{"$ref":"#"}}`, `{}`},
		"mutual reference": {
			`{"$ref":"#/not","not":{"anyOf":[{"$ref":"#/$defs/b"}]},"$defs":{"b":{"$ref":"#/not"}}}`, `1`,
		},
		"cycle under additional":    {`{"additionalProperties":{"$ref":"#/additionalProperties"}}`, `{"a":1}`},
		"cycle by dependentSchemas": {`{"dependentSchemas":{"a":{"$ref":"#"}}}`, `{"a":1}`},
		"doubling allOf":            {doubling("allOf"), `{}`},
		"doubling anyOf":            {doubling("anyOf"), `{}`},
		"doubling oneOf":            {doubling("oneOf"), `{}`},
		"chain of not":              {nested, `{}`},
		"exponent in the schema":    {`{"maximum":1e5000000}`, `1`},
		"exponent in const":         {`{"const":1E-5000000}`, `1`},
		"exponent in a default":     {`{"default":1e5000000}`, `1`},
		"exponent in the instance":  {`{"type":"integer"}`, `1e5000000`},
		"exponent over int64":       {`{"type":"integer"}`, `1e99999999999999999999`},
		"digits":                    {`{"type":"integer"}`, strings.Repeat("9", 500)},
		"count that wraps":          {`{"minLength":18446744073709551616}`, `""`},
		"many places that are no subschemas": {
			`{"allOf":[` + many(40, func(i int) string { return fmt.Sprintf(`{"$ref":"#/x/a%d"}`, i) }) + `],"x":{` +
				many(40, func(i int) string { return fmt.Sprintf(`"a%d":{}`, i) }) + `}}`, `{}`,
		},
		"external reference":                   {`{"properties":{"a":{"$ref":"http://169.254.169.254/x.json"}}}`, `{"a":1}`},
		"file reference":                       {`{"$ref":"file:///etc/passwd"}`, `{}`},
		"relative reference":                   {`{"$ref":"other.json"}`, `{}`},
		"identified reference":                 {`{"$id":"https://example.com/a","$ref":"b"}`, `{}`},
		"nested id":                            {`{"properties":{"a":{"$id":"https://example.com/a"}}}`, `{}`},
		"foreign dialect":                      {`{"$schema":"https://example.com/my-schema"}`, `{}`},
		"file dialect":                         {`{"$schema":"file:///etc/passwd"}`, `{}`},
		"draft-04":                             {`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `{}`},
		"draft 2019-09":                        {`{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, `{}`},
		"dialect that is no string":            {`{"$schema":7}`, `{}`},
		"dialect that is null":                 {`{"$schema":null}`, `{}`},
		"nested dialect":                       {`{"properties":{"a":{"$schema":"https://example.com/x"}}}`, `{}`},
		"dynamic reference":                    {`{"$dynamicRef":"#x","$dynamicAnchor":"x"}`, `{}`},
		"reference to an anchor":               {`{"$ref":"#x","$anchor":"x"}`, `{}`},
		"reference to nothing":                 {`{"$ref":"#/$defs/none"}`, `{}`},
		"reference into a value":               {`{"$ref":"#/enum/0","enum":[{}]}`, `{}`},
		"index in a list, by another spelling": {`{"$ref":"#/x/00","x":[true]}`, `{}`},
		"multiple of nothing":                  {`{"multipleOf":0}`, `1`},
		"multiple of less":                     {`{"multipleOf":-1}`, `1`},
		"type said twice":                      {`{"type":["null","null"]}`, `1`},
		"required twice":                       {`{"required":["a","a"]}`, `{"a":1}`},
		"required number":                      {`{"required":[1]}`, `{"a":1}`},
		"empty tuple":                          {`{"prefixItems":[]}`, `[]`},
		"tuple of draft-07":                    {`{"items":[true]}`, `[]`},
		"index by another spelling":            {`{"allOf":[{"type":"object"}],"$ref":"#/allOf/00"}`, `{}`},
		"look-ahead":                           {`{"pattern":"^(?=a)"}`, `"a"`},
		"back-reference":                       {`{"pattern":"(a)\\1"}`, `"aa"`},
		"huge repetition":                      {`{"pattern":"` + strings.Repeat("[^a]{1000}", 20) + `"}`, `"b"`},
		"nested repetition":                    {`{"pattern":"((a{30}){30}){30}"}`, `"b"`},
		"long pattern":                         {`{"pattern":"` + strings.Repeat("a", 2000) + `"}`, `"b"`},
		"many patterns":                        {`{"patternProperties":{` + many(30, pattern) + `}}`, `{"b":1}`},
		"pattern over a long string":           {`{"pattern":"([ab]{400}c|x)*$"}`, `"` + strings.Repeat("ab", 1<<19) + `"`},
		"too many subschemas":                  {`{"properties":{` + many(9000, property) + `}}`, `{}`},
		"not a schema":                         {`7`, `{}`},
		"type that is no type":                 {`{"type":"array of string"}`, `{}`},
		"required null":                        {`{"required":null}`, `{}`},
		"required boolean":                     {`{"properties":{"a":{"required":true}}}`, `{}`},
		"duplicate member":                     {`{"type":"object","type":"string"}`, `{}`},
		"empty":                                {``, `{}`},
		"instance not strict":                  {`{}`, `{"a":1,"a":2}`},
		"deep":                                 {strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200), `[]`},
		"long names": {
			`{"` + strings.Repeat("a", 5000) + `":0,"properties":{"` + strings.Repeat("a", 5000) + `":{}}}`, `{}`,
		},
		"many values many times over": {
			`{"not":{"anyOf":[` + many(900, func(int) string { return `{"const":[]}` }) + `]}}`, numbers,
		},
		"unique many times over": {
			`{"allOf":[` + many(200, func(int) string { return `{"uniqueItems":true}` }) + `]}`, numbers,
		},
		"length many times over": {
			`{"allOf":[` + many(500, func(int) string { return `{"minLength":1}` }) + `]}`,
			`"` + strings.Repeat("ab", 1<<17) + `"`,
		},
		"members many times over": {
			`{"allOf":[` + many(900, func(int) string { return `{"properties":{}}` }) + `]}`,
			`{` + many(2000, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + `}`,
		},
		"many steps": {
			`{"items":{"allOf":[` + many(50, func(int) string { return `{"multipleOf":1e-400}` }) + `]}}`,
			`[` + many(100, func(int) string { return "7e399" }) + `]`,
		},
		"many dependents": {
			`{"items":{"dependentRequired":{` + many(9000, func(i int) string { return fmt.Sprintf(`"d%d":[]`, i) }) + `}}}`,
			`[` + many(1000, func(int) string { return "{}" }) + `]`,
		},
		"doubling over a list": {
			`{"$ref":"#/$defs/a0","$defs":{` + many(20, func(i int) string {
				return fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i+1, i+1)
			}) + `,"a20":true}}`, `[]`,
		},
	}
}

func TestHostileSchemasAreNotEvaluated(t *testing.T) {
	t.Parallel()
	for name, pair := range hostile() {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := Evaluate([]byte(pair[0]), []byte(pair[1]))
			took := time.Since(begin)
			if r.Verdict != NotEvaluated || r.Why == "" {
				t.Errorf("got %+v", r)
			}
			if took > time.Minute { // what has no bound takes hours; how fast it is shows in the benchmarks
				t.Errorf("took %v", took)
			}
		})
	}
}

// Schemas that would be costly by another way of counting, and are not by ours.
func TestCheapSchemasAreEvaluated(t *testing.T) {
	t.Parallel()
	list := func(n int, f func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return `[` + strings.Join(parts, ",") + `]`
	}
	numbers := list(3000, strconv.Itoa)
	members := strings.Trim(list(2000, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }), "[]")
	for name, pair := range map[string][2]string{
		"enum of many by many": {`{"items":{"enum":` + numbers + `}}`, numbers},
		"unique items of big values": {`{"items":{"uniqueItems":true}}`, list(300, func(int) string {
			return list(20, func(j int) string { return fmt.Sprintf(`[%d,"x",%d]`, j, j) })
		})},
		"many properties unevaluated": {
			`{"allOf":` + list(200, func(int) string { return `{"minProperties":1}` }) + `,"unevaluatedProperties":true}`,
			`{` + members + `}`,
		},
	} {
		if r := Evaluate([]byte(pair[0]), []byte(pair[1])); r.Verdict != Valid {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Nothing outside the schema is read, also when it could be.
func TestTheEvaluatorLoadsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte(`{"type":"null"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"file://" + filepath.ToSlash(path), "https://example.com/s.json", path} {
		if s, why := Compile([]byte(`{"$ref":` + strconv.Quote(ref) + `}`)); s != nil || why != noPointer {
			t.Errorf("%s: %s", ref, why)
		}
	}
}

// Whatever the bytes, there is a verdict; a fault is at a place of the instance, and the evaluator did not panic.
func FuzzEvaluate(f *testing.F) {
	for _, pair := range hostile() {
		if len(pair[0])+len(pair[1]) < 10_000 {
			f.Add([]byte(pair[0]), []byte(pair[1]))
		}
	}
	f.Fuzz(func(t *testing.T, schema, instance []byte) {
		r := Evaluate(schema, instance)
		switch {
		case r.Why == panicked:
			t.Fatalf("panicked on %s with %s", schema, instance)
		case (r.Verdict == NotEvaluated) != (r.Why != ""):
			t.Fatalf("%+v", r)
		case r.Verdict == Invalid && r.Pointer != "":
			value, _ := decode(instance, maxInstanceBytes, "")
			if _, ok := lookup(value, strings.Split(r.Pointer, "/")[1:]); !ok {
				t.Fatalf("%s is no place of %s", r.Pointer, instance)
			}
		}
	})
}
