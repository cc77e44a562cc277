package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcpc/internal/strictjson"
)

// lines renders records as "class tool pointer op old -> new" for comparison.
func lines(records []Record) []string {
	out := []string{}
	for i := range records {
		r := &records[i]
		text := fmt.Sprintf("%s %s %s %s %s -> %s", r.Class, r.Tool, r.Pointer, r.Op, r.Old, r.New)
		for _, h := range r.NewHidden {
			text += fmt.Sprintf(" +%s×%d", h, h.Count)
		}
		for _, h := range r.OldHidden {
			text += fmt.Sprintf(" -%s×%d", h, h.Count)
		}
		if r.SameBody != nil {
			text += fmt.Sprintf(" same %q", r.SameBody)
		}
		if r.Reason != "" {
			text += " " + r.Reason
		}
		out = append(out, text)
	}
	return out
}

// oneTool makes a descriptor "a" with more members.
func oneTool(members string) string { return `{"name":"a",` + members + `}` }

func TestDiffWithinATool(t *testing.T) {
	t.Parallel()
	in := func(schema string) string { return oneTool(`"inputSchema":` + schema) }
	for _, tt := range []struct {
		name, old, new string
		want           []string
	}{
		{
			"attack 1: description", oneTool(`"inputSchema":{},"description":"Adds."`), oneTool(`"inputSchema":{},"description":"Adds!"`),
			[]string{`text a /description replace "Adds." -> "Adds!"`},
		},
		{
			"attack 2: poison in _meta", oneTool(`"inputSchema":{},"_meta":{"x":1}`), oneTool(`"inputSchema":{},"_meta":{"x":1,"y/z":"p"}`),
			[]string{`meta a /_meta/y~1z add  -> "p"`},
		},
		{
			"attack 3: TAG characters", oneTool(`"inputSchema":{},"description":"A\n\t."`), oneTool("\"inputSchema\":{},\"description\":\"A\U000E0041\u200b\\udb40\\udc41.\""),
			[]string{"text a /description replace \"A\\n\\t.\" -> \"A\U000E0041\u200b\\udb40\\udc41.\" +U+200B×1 +U+E0041×2"},
		},
		{
			"attack 4: a big integer", in(`{"maximum":9007199254740992}`), in(`{"maximum":9007199254740993}`),
			[]string{`input-schema a /inputSchema/maximum replace 9007199254740992 -> 9007199254740993`},
		},
		{
			"attack 5: annotation", oneTool(`"inputSchema":{},"annotations":{"readOnlyHint":false}`), oneTool(`"inputSchema":{},"annotations":{"readOnlyHint":true}`),
			[]string{`annotations a /annotations/readOnlyHint replace false -> true`},
		},
		{
			"annotation title is no text", oneTool(`"inputSchema":{},"annotations":{"title":"A"}`), oneTool(`"inputSchema":{},"annotations":{"title":"B"}`),
			[]string{`annotations a /annotations/title replace "A" -> "B"`},
		},
		{
			"a property named description is schema", in(`{"properties":{"description":{"type":"string"}}}`), in(`{"properties":{"description":{"type":"integer"}}}`),
			[]string{`input-schema a /inputSchema/properties/description/type replace "string" -> "integer"`},
		},
		{
			"a description in a schema is text", in(`{"properties":{"x":{"description":"A"}}}`), in(`{"properties":{"x":{"description":"B"}}}`),
			[]string{`text a /inputSchema/properties/x/description replace "A" -> "B"`},
		},
		{
			"a description in plain data is schema", in(`{"const":{"description":"A"}}`), in(`{"const":{"description":"B"}}`),
			[]string{`input-schema a /inputSchema/const/description replace "A" -> "B"`},
		},
		{
			"nothing in plain data is a keyword", in(`{"const":{"items":{"description":"A"}}}`), in(`{"const":{"items":{"description":"B"}}}`),
			[]string{`input-schema a /inputSchema/const/items/description replace "A" -> "B"`},
		},
		{
			"an array that grew is no other spelling", in(`{"enum":[1.0]}`), in(`{"enum":[1,2]}`),
			[]string{`input-schema a /inputSchema/enum replace [1.0] -> [1,2]`},
		},
		{
			"a hidden name in a value", in(`{}`), in(`{"const":{"x\u200b":[{"\u200b":1}]}}`),
			[]string{`input-schema a /inputSchema/const add  -> {"x\u200b":[{"\u200b":1}]} +U+200B×2`},
		},
		{
			"a definition named default is schema", in(`{"$defs":{"default":{"x":1}}}`), in(`{"$defs":{"default":{"x":2}}}`),
			[]string{`input-schema a /inputSchema/$defs/default/x replace 1 -> 2`},
		},
		{
			"default", in(`{"properties":{"x":{"default":{"title":"A"}}}}`), in(`{"properties":{"x":{"default":{"title":"B"}}}}`),
			[]string{`default a /inputSchema/properties/x/default/title replace "A" -> "B"`},
		},
		{
			"header mirror", in(`{"properties":{"x":{"type":"string"}}}`), in(`{"properties":{"x":{"type":"string","x-mcp-header":"X"}}}`),
			[]string{`header-mirror a /inputSchema/properties/x/x-mcp-header add  -> "X"`},
		},
		{
			"a header mirror in an output schema is none", oneTool(`"inputSchema":{},"outputSchema":{}`), oneTool(`"inputSchema":{},"outputSchema":{"x-mcp-header":"X","title":"T"}`),
			[]string{`output-schema a /outputSchema/x-mcp-header add  -> "X"`, `text a /outputSchema/title add  -> "T"`},
		},
		{
			"a whole member", in(`{}`), oneTool(`"inputSchema":{},"outputSchema":{"type":"object"}`),
			[]string{`output-schema a /outputSchema add  -> {"type":"object"}`},
		},
		{
			"required is compared as a whole", in(`{"required":["a","b"]}`), in(`{"required":["b","c"]}`),
			[]string{`input-schema a /inputSchema/required replace ["a","b"] -> ["b","c"]`},
		},
		{
			"arrays of schemas by position", in(`{"allOf":[{"a":1},{"b":1},{"c":1}]}`), in(`{"allOf":[{"a":2}]}`),
			[]string{
				`input-schema a /inputSchema/allOf/0/a replace 1 -> 2`, `input-schema a /inputSchema/allOf/2 remove {"c":1} -> `,
				`input-schema a /inputSchema/allOf/1 remove {"b":1} -> `,
			},
		},
		{
			"number spelling", in(`{"n":[1.0,{"x":100}]}`), in(`{"n":[1,{"x":1e2}]}`),
			[]string{`number-spelling a /inputSchema/n replace [1.0,{"x":100}] -> [1,{"x":1e2}]`},
		},
		{
			"number spelling in an annotation", oneTool(`"inputSchema":{},"annotations":{"n":-0.0}`), oneTool(`"inputSchema":{},"annotations":{"n":0}`),
			[]string{`number-spelling a /annotations/n replace -0.0 -> 0`},
		},
		{
			"icons, execution, unknown", oneTool(`"inputSchema":{},"icons":[],"execution":{},"x":null`), oneTool(`"inputSchema":{},"icons":[{"src":"data:"}],"execution":{"taskSupport":"optional"},"x":false`),
			[]string{
				`icons a /icons/0 add  -> {"src":"data:"}`, `execution a /execution/taskSupport add  -> "optional"`,
				`unknown-member a /x replace null -> false`,
			},
		},
		{
			"null is not absent", oneTool(`"inputSchema":{},"title":null`), oneTool(`"inputSchema":{}`),
			[]string{`text a /title remove null -> `},
		},
		{
			"another kind", in(`{"items":{}}`), in(`{"items":[]}`),
			[]string{`input-schema a /inputSchema/items replace {} -> []`},
		},
		{
			"a hidden member name", in(`{"properties":{}}`), in("{\"properties\":{\"x\u202e\":{\"type\":\"string\"}}}"),
			[]string{"input-schema a /inputSchema/properties/x\u202e add  -> {\"type\":\"string\"} +U+202E×1"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Diff(take(t, overHTTP, page(tt.old)), take(t, overHTTP, page(tt.new)))
			if diff := cmp.Diff(tt.want, lines(r.Changes)); diff != "" {
				t.Fatal(diff)
			}
			if len(r.Informational) != 0 || r.Same() || !slices.Equal(r.Tools(), []string{"a"}) {
				t.Fatal(lines(r.Informational), r.Tools())
			}
		})
	}
}

func TestDiffSurface(t *testing.T) {
	t.Parallel()
	a := contextOf(overStdio)
	a.Handshake = []byte(`{"capabilities":{"tools":{"x":1}},"serverInfo":{"version":"1"},"ttlMs":1}`)
	a.Recorded.Executable = "/bin/a"
	a.Recorded.ExecutableDigest = strictjson.Sum(nil)
	b := contextOf(overHTTP)
	b.Protocol = "2025-11-25"
	b.Handshake = []byte(`{"capabilities":{"tools":{}},"instructions":"Obey.","ttlMs":2,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"version":"2"}},"new":1}`)
	b.Auth = &Auth{Kind: "oauth", Scopes: []string{"read"}}
	b.Limits.Pages = 3
	r := Diff(
		takeWith(t, a, page(tool("keep1"), tool("keep2"), `{"name":"old","inputSchema":{},"title":"T"}`, tool("gone"), `7`, `null`)),
		takeWith(t, b, page(`null`, tool("keep2"), `{ "name":"keep1","inputSchema":{"type":"object"}}`, `{"title":"T","name":"new","inputSchema":{}}`, `"x"`, `"x"`)),
	)
	changes := []string{
		`identity  /server replace {"stdio":["npx","-y","server"]} -> {"http":"https://mcp.example.com/mcp"}`,
		`protocol  /protocol replace "2026-07-28" -> "2025-11-25"`,
		`capabilities  /handshake/capabilities/tools/x remove 1 -> `,
		`instructions  /handshake/instructions add  -> "Obey."`,
		`tool-removed old  remove {"name":"old","inputSchema":{},"title":"T"} ->  same ["new"]`,
		`tool-removed gone  remove ` + tool("gone") + ` -> `,
		`tool-added new  add  -> {"title":"T","name":"new","inputSchema":{}} same ["old"]`,
		`rejected  /rejected/0 remove 7 ->  tool-not-object`,
		`rejected  /rejected/1 add  -> "x" tool-not-object`,
		`rejected  /rejected/2 add  -> "x" tool-not-object`,
	}
	informational := []string{
		`format keep1  replace ` + tool("keep1") + ` -> { "name":"keep1","inputSchema":{"type":"object"}}`,
		`order  /tools replace ["keep1","keep2"] -> ["keep2","keep1"]`,
		`server-info  /handshake/serverInfo remove {"version":"1"} -> `,
		`ttl  /handshake/ttlMs replace 1 -> 2`,
		`ttl  /handshake/cacheScope add  -> "private"`,
		`handshake  /handshake/_meta add  -> {"io.modelcontextprotocol/serverInfo":{"version":"2"}}`,
		`handshake  /handshake/new add  -> 1`,
		`executable  /recorded/executable remove "/bin/a" -> `,
		`executable  /recorded/sha256 remove "` + string(strictjson.Sum(nil)) + `" -> `,
		`auth-context  /auth add  -> {"kind":"oauth","scopes":["read"]}`,
		`bounds  /bounds/pages replace 256 -> 3`,
	}
	if diff := cmp.Diff(changes, lines(r.Changes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(informational, lines(r.Informational)); diff != "" {
		t.Error(diff)
	}
}

func TestDiffServerInfoOfTheModernEra(t *testing.T) {
	t.Parallel()
	with := func(version string) *Snapshot {
		c := contextOf(overHTTP)
		c.Handshake = []byte(`{"_meta":{"io.modelcontextprotocol/serverInfo":{"version":"` + version + `"}}}`)
		return takeWith(t, c, page())
	}
	r := Diff(with("1"), with("2"))
	want := []string{`server-info  /handshake/_meta/io.modelcontextprotocol~1serverInfo/version replace "1" -> "2"`}
	if diff := cmp.Diff(want, lines(r.Informational)); diff != "" || !r.Same() {
		t.Fatal(diff)
	}
}

func TestDiffNoCapabilitiesAndNullAreOne(t *testing.T) {
	t.Parallel()
	none, null := contextOf(overHTTP), contextOf(overHTTP)
	none.Handshake, null.Handshake = []byte(`{}`), []byte(`{"capabilities":null}`)
	if r := Diff(takeWith(t, none, page()), takeWith(t, null, page())); !r.Same() || len(r.Changes) != 0 {
		t.Fatal(lines(r.Changes))
	}
}

func TestDiffPIN05AnotherAuthorization(t *testing.T) {
	t.Parallel()
	wide, narrow := contextOf(overHTTP), contextOf(overHTTP)
	wide.Auth = &Auth{Kind: "oauth", Scopes: []string{"read", "write"}}
	narrow.Auth = &Auth{Kind: "oauth", Scopes: []string{"read"}}
	r := Diff(takeWith(t, wide, page(tool("a"), tool("b"))), takeWith(t, narrow, page(tool("a"))))
	if len(r.Changes) != 1 || len(r.Informational) != 1 || r.Informational[0].Class != ClassAuth {
		t.Fatal(lines(r.Changes), lines(r.Informational))
	}
}

func TestDiffPIN02ARenameIsRemoveAndAdd(t *testing.T) {
	t.Parallel()
	r := Diff(take(t, overHTTP, page(tool("send"))), take(t, overHTTP, page(tool("Send"))))
	want := []string{
		`tool-removed send  remove ` + tool("send") + ` ->  same ["Send"]`,
		`tool-added Send  add  -> ` + tool("Send") + ` same ["send"]`,
	}
	if diff := cmp.Diff(want, lines(r.Changes)); diff != "" {
		t.Fatal(diff)
	}
}

// TestDiffOfAWideObjectIsLinear counts allocations, since a clock on a busy machine proves nothing: looking up one
// member after the other makes a string of every name before it, two million here.
func TestDiffOfAWideObjectIsLinear(t *testing.T) {
	const members = 2000
	wide := func(n int) string {
		var b strings.Builder
		for i := range members {
			fmt.Fprintf(&b, `,"p%d":%d`, i, i+n)
		}
		return oneTool(`"inputSchema":{"properties":{"x":{}` + b.String() + `}}`)
	}
	old, now := take(t, overHTTP, page(wide(0))), take(t, overHTTP, page(wide(1)))
	allocations := testing.AllocsPerRun(1, func() {
		if r := Diff(old, now); len(r.Changes) != members {
			t.Fatal(len(r.Changes))
		}
	})
	if allocations > 200*members {
		t.Fatal(allocations)
	}
}

func TestDiffJSON(t *testing.T) {
	t.Parallel()
	r := Diff(take(t, overHTTP, page(tool("a"), `null`)), take(t, overHTTP, page(tool("b"), oneTool(`"inputSchema":{},"title":"\u200b"`))))
	text := r.AppendJSON(nil)
	if err := strictjson.ValidateObject(text, strictjson.MaxDepth); err != nil {
		t.Fatal(err)
	}
	want := `{"mcpc":"diff/1","old":"` + string(r.Old) + `","new":"` + string(r.New) + `","changes":[` +
		`{"class":"text","tool":"a","pointer":"/title","op":"add","new":"\u200b","newHidden":[{"codePoint":"U+200B","count":1}]},` +
		`{"class":"input-schema","tool":"a","pointer":"/inputSchema/type","op":"remove","old":"object"},` +
		`{"class":"tool-added","tool":"b","pointer":"","op":"add","new":` + tool("b") + `},` +
		`{"class":"rejected","pointer":"/rejected/0","op":"remove","old":null,"reason":"tool-not-object"}],"informational":[]}`
	if diff := cmp.Diff(sortedLines(want), sortedLines(string(text))); diff != "" {
		t.Fatal(diff)
	}
}

// sortedLines cuts a report at its records, whose order within a tool is the descriptor's.
func sortedLines(s string) []string {
	return slices.Sorted(slices.Values(strings.Split(s, `{"class"`)))
}

func TestSameNumber(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"1", "1.0"},
		{"1e2", "100"},
		{"1E+2", "100.00"},
		{"0.1", "1e-1"},
		{"0", "-0"},
		{"0e99999999999999999999", "0.0"},
		{"123e400", "1.23E402"},
		{"-5", "-50e-1"},
		{"1e99999999999999999999", "1e99999999999999999999"},
	} {
		if !sameNumber([]byte(same[0]), []byte(same[1])) {
			t.Errorf("%s is %s", same[0], same[1])
		}
	}
	for _, other := range [][2]string{
		{"1", "-1"},
		{"9007199254740992", "9007199254740993"},
		{"1e400", "1e401"},
		{"0.1", "0.10000000000000001"},
		{"1e99999999999999999999", "10e99999999999999999998"},
		{"10", "1"},
		{"1", "0"},
	} {
		if sameNumber([]byte(other[0]), []byte(other[1])) {
			t.Errorf("%s is not %s", other[0], other[1])
		}
	}
}

// jsonValue draws JSON values that are rich in what the comparison tells apart.
func jsonValue(depth int) *rapid.Generator[string] {
	scalar := rapid.SampledFrom([]string{`1`, `1.0`, `2`, `"a"`, `"b\u200b"`, `true`, `null`, `""`})
	if depth == 0 {
		return scalar
	}
	key := rapid.SampledFrom([]string{"description", "default", "properties", "x-mcp-header", "allOf", "const", "a/b", "~", "x"})
	object := rapid.Custom(func(t *rapid.T) string {
		keys := rapid.SliceOfNDistinct(key, 0, 4, rapid.ID[string]).Draw(t, "keys")
		for i, k := range keys {
			keys[i] = string(strictjson.Quote(k)) + ":" + jsonValue(depth-1).Draw(t, "value")
		}
		return "{" + strings.Join(keys, ",") + "}"
	})
	array := rapid.Map(rapid.SliceOfN(jsonValue(depth-1), 0, 3), func(v []string) string { return "[" + strings.Join(v, ",") + "]" })
	return rapid.OneOf(scalar, object, array)
}

func descriptor() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		d := `{"name":"a","inputSchema":{"x":` + jsonValue(3).Draw(t, "schema") + `,"properties":` + jsonValue(2).Draw(t, "properties") + `}`
		for _, member := range []string{"title", "annotations", "_meta", "icons", "other"} {
			if rapid.Bool().Draw(t, member) {
				d += `,"` + member + `":` + jsonValue(2).Draw(t, "value")
			}
		}
		return d + "}"
	})
}

func TestDiffRecordsMakeTheNewDescriptor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		old, now := descriptor().Draw(rt, "old"), descriptor().Draw(rt, "new")
		r := Diff(take(t, overStdio, page(old)), take(t, overStdio, page(now)))
		doc := decode(rt, []byte(old))
		for i := range r.Changes {
			doc = applied(rt, doc, r.Changes[i].Pointer, &r.Changes[i])
		}
		if diff := cmp.Diff(decode(rt, []byte(now)), doc); diff != "" {
			rt.Fatal(diff, lines(r.Changes))
		}
		if r.Same() != (len(r.Changes) == 0) {
			rt.Fatal("changes and ids disagree")
		}
	})
}

func decode(t *rapid.T, data []byte) any {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// applied applies one record as a JSON patch (RFC 6902) and checks that the old value was there.
func applied(t *rapid.T, doc any, pointer string, r *Record) any {
	if pointer == "" {
		if r.Old != nil && !cmp.Equal(decode(t, r.Old), doc) {
			t.Fatalf("%s %s was not there", r.Pointer, r.Old)
		}
		if r.New == nil {
			return nil
		}
		return decode(t, r.New)
	}
	token, rest, more := strings.Cut(pointer[1:], "/")
	token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	if more {
		rest = "/" + rest
	}
	switch doc := doc.(type) {
	case map[string]any:
		value, exists := doc[token]
		if !more && exists == (r.Op == OpAdd) {
			t.Fatalf("%s at %s", r.Op, r.Pointer)
		}
		value = applied(t, value, rest, r)
		if delete(doc, token); more || r.Op != OpRemove {
			doc[token] = value
		}
		return doc
	case []any:
		i, err := strconv.Atoi(token)
		switch {
		case err != nil || i > len(doc):
			t.Fatalf("no %s", r.Pointer)
		case !more && r.Op == OpAdd:
			return slices.Insert(doc, i, applied(t, nil, "", r))
		case !more && r.Op == OpRemove:
			applied(t, doc[i], "", r)
			return slices.Delete(doc, i, i+1)
		}
		doc[i] = applied(t, doc[i], rest, r)
		return doc
	}
	t.Fatalf("nothing at %s", r.Pointer)
	return nil
}

func TestDiffHasAChangeExactlyWhenIDsDiffer(t *testing.T) {
	t.Parallel()
	draw := func(rt *rapid.T) *Snapshot {
		c := contextOf(rapid.SampledFrom([]Identity{overHTTP, overStdio}).Draw(rt, "server"))
		c.Protocol = rapid.SampledFrom([]string{"2025-11-25", "2026-07-28"}).Draw(rt, "protocol")
		c.Handshake = []byte(rapid.SampledFrom([]string{
			``, `{}`, `{"capabilities":null}`, `{"capabilities":{}}`, `{"capabilities":{"x":1}}`, `{"capabilities":{"x":1.0}}`,
			`{"instructions":null}`, `{"instructions":"x","serverInfo":{}}`, `{"instructions":"\u0078"}`,
		}).Draw(rt, "handshake"))
		tools := rapid.SliceOfN(rapid.SampledFrom([]string{
			tool("a"), tool("b"), tool("c"), `{ "name":"a","inputSchema":{"type":"object"}}`, `null`, ` 7`, `{"name":""}`,
			`{"name":"b","inputSchema":null}`, `{"name":"c","inputSchema":{},"title":"x"}`, `{"name":"","x":1}`,
		}), 0, 5).Draw(rt, "tools")
		return takeWith(t, c, page(tools...))
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := draw(rt), draw(rt)
		r := Diff(a, b)
		if r.Same() != (len(r.Changes) == 0) {
			rt.Fatalf("%s and %s: %q", a.ID, b.ID, lines(r.Changes))
		}
		back := Diff(b, a)
		if len(back.Changes) != len(r.Changes) || len(back.Informational) != len(r.Informational) {
			rt.Fatalf("one way %q, the other %q", lines(r.Changes), lines(back.Changes))
		}
		if self := Diff(a, a); len(self.Changes)+len(self.Informational) != 0 {
			rt.Fatalf("%q", lines(self.Changes))
		}
	})
}
