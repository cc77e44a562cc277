package authority

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/schema"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

const drafted = `{
  "mcpc": "authority/1",
  "server": {"http": "https://mcp.example.com/mcp"},
  "snapshot": "PIN",
  "review": {"by": "ana@example.com", "at": "2026-12-01T12:00:00Z"},
  "notAfter": "2027-03-01T00:00:00Z",
  "auth": {"issuer": "https://as.example.com", "scopesWithin": ["read", "mail.send"]},
  "tools": {
    "ping": {
      "allow": ["publish", "invoke"],
      "arguments": {"type": "object", "additionalProperties": false, "properties": {}}
    },
    "send": {
      "allow": ["publish", "invoke"],
      "arguments": {
        "type": "object",
        "additionalProperties": false,
        "required": ["to"],
        "properties": {
          "to": {"type": "string", "pattern": "@"},
          "n": {"maximum": 9007199254740993}
        }
      }
    }
  }
}
`

func TestDraftText(t *testing.T) {
	t.Parallel()
	snap := taken(descriptor("send", `{"type":"object","title":"PROSE","required":["to","to","other"],"properties":{`+
		`"to":{"type":"string","format":"email","description":"PROSE","pattern":"@","default":"PROSE"},`+
		`"n":{"maximum":9007199254740993}}}`), descriptor("ping", `{"type":"object"}`))
	snap.Auth = &snapshot.Auth{Kind: "oauth", Issuer: "https://as.example.com", Scopes: []string{"read", "mail.send"}}
	text, err := Draft(snap, DraftOptions{
		Tools: []string{"ping", "send", "ping"}, By: "ana@example.com", Now: noon,
		NotAfter: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(drafted, "PIN", string(pin), 1); string(text) != want {
		t.Fatalf("got\n%s", text)
	}
}

func TestUnsignedDraftDecidesNothing(t *testing.T) {
	t.Parallel()
	snap := taken(descriptor("t", `{}`))
	text, err := Draft(snap, DraftOptions{Tools: []string{"t"}, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if r := Decide(doc, snap, invoke("t", `{}`), noon, nil); name(r) != "authority.unreviewed" {
		t.Errorf("got %v", r)
	}
}

func TestDraftRefuses(t *testing.T) {
	t.Parallel()
	snap := taken(descriptor("send_email", `{}`), descriptor("odd\u202e", `{}`))
	snap.Rejected = []snapshot.Rejected{{Name: "twice", Reason: snapshot.ReasonDuplicate}}
	for tool, want := range map[string]string{
		"sendemail": "authority.tool_not_in_snapshot", "odd": "authority.tool_not_in_snapshot",
		"twice": "authority.tool_rejected",
	} {
		text, err := Draft(snap, DraftOptions{Tools: []string{tool}, Now: noon})
		r := refusal.From(err)
		if text != nil || r.Name() != want {
			t.Errorf("%s: %v", tool, err)
		}
		if near := r.Detail("near"); tool == "sendemail" && near != "send_email" || tool == "odd" && near != nil {
			t.Errorf("%s: near is %v", tool, near)
		}
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{`true`, `true`},
		{`false`, `false`},
		{`7`, `true`},
		{`{}`, `true`},
		{`{"description":"d"}`, `true`},
		{`{"type":"text"}`, `true`},
		{`{"type":["string","null"]}`, `{"type":["string","null"]}`},
		{`{"type":"string","x-mcp-header":"a"}`, `{"type":"string"}`},
		{`{"enum":["a",1.0,1e5]}`, `{"enum":["a",1.0,1e5]}`},
		{`{"enum":[1e5000000],"type":"number"}`, `{"type":"number"}`},
		{`{"pattern":"^(?=a)","type":"string"}`, `{"type":"string"}`},
		{`{"minimum":0,"exclusiveMinimum":true}`, `{"minimum":0}`},
		{
			`{"type":"array","items":[{"type":"string"}],"additionalItems":false}`,
			`{"type":"array","prefixItems":[{"type":"string"}],"items":false}`,
		},
		{`{"patternProperties":{"^x":true},"additionalProperties":false,"type":"object"}`, `{"type":"object"}`},
		{`{"additionalProperties":{"format":"x","type":"string"}}`, `{"additionalProperties":{"type":"string"}}`},
		{`{"if":{"type":"string"},"then":false,"type":"string"}`, `{"type":"string"}`},
		{
			`{"anyOf":[{"type":"string","format":"x"},{"type":"null"}]}`,
			`{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		},
		{`{"oneOf":[{"type":"string"},{"type":"null"}]}`, `{"oneOf":[{"type":"string"},{"type":"null"}]}`},
		{
			`{"oneOf":[{"type":"string","format":"a"},{"type":"string","format":"b"}],"type":"string"}`,
			`{"type":"string"}`,
		},
		{`{"not":{"const":"a"}}`, `{"not":{"const":"a"}}`},
		{`{"not":{"type":"string","format":"email"},"type":"string"}`, `{"type":"string"}`},
		{`{"$ref":"#/$defs/s","description":"d"}`, `{"type":"string","maxLength":3}`},
		{`{"$ref":"#/definitions/l"}`, `{"type":"array","items":{"type":"string","maxLength":3}}`},
		{`{"$ref":"#/$defs/tree"}`, `{"type":"object","properties":{"next":true}}`},
		{`{"$ref":"https://a.example/s"}`, `true`},
		{`{"$ref":"#/$defs/none"}`, `true`},
		{`{"allOf":[{"$ref":"#/$defs/s"}]}`, `{"allOf":[{"type":"string","maxLength":3}]}`},
	} {
		property, want := pair[0], pair[1]
		input := `{"type":"object","properties":{"p":` + property + `},"$defs":{"s":{"type":"string","maxLength":3},` +
			`"tree":{"type":"object","properties":{"next":{"$ref":"#/$defs/tree"}}}},` +
			`"definitions":{"l":{"type":"array","items":{"$ref":"#/$defs/s"}}}}`
		tool := descriptor("t", input)
		want = `{"type":"object","additionalProperties":false,"properties":{"p":` + want + `}}`
		if got := string(closed(tool.Descriptor)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", property, got, want)
		}
	}
}

// What a draft cannot say in full falls back to types, and never to an open object.
func TestDraftOfHostileSchemas(t *testing.T) {
	t.Parallel()
	doubling := `"a16":{"type":"string"}`
	for i := range 16 {
		n, m := string(rune('a'+i)), string(rune('b'+i))
		if i == 15 {
			m = "a16"
		}
		doubling += `,"` + n + `":{"allOf":[{"$ref":"#/$defs/` + m + `"},{"$ref":"#/$defs/` + m + `"}]}`
	}
	for what, input := range map[string]string{
		"doubling":  `{"properties":{"p":{"$ref":"#/$defs/a"},"q":{"type":"integer"}},"$defs":{` + doubling + `}}`,
		"many":      `{"properties":{"p":{"allOf":[` + strings.Repeat(`true,`, 2000) + `true]},"q":{"type":"integer"}}}`,
		"no object": `{"properties":[],"required":{}}`,
		"reference": `{"$ref":"#"}`,
		"null":      `null`,
	} {
		snap := taken(descriptor("t", input))
		text, err := Draft(snap, DraftOptions{Tools: []string{"t"}, By: "ana", Now: noon})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		doc, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if r := Decide(doc, snap, invoke("t", `{"undeclared":1}`), noon, nil); name(r) != "authority.arguments" {
			t.Errorf("%s: %v", what, r)
		}
		if what == "many" && !bytes.Contains(text, []byte(`"q": {"type": "integer"}`)) {
			t.Errorf("%s: the types are lost:\n%s", what, text)
		}
	}
}

// captured returns the tool lists of real servers, as they were received.
func captured(t *testing.T) map[string]*snapshot.Snapshot {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/captured/*.jsonl")
	if err != nil || len(paths) < 13 {
		t.Fatalf("%d captured lists (%v)", len(paths), err)
	}
	all := map[string]*snapshot.Snapshot{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		snap := taken()
		for line := range bytes.Lines(raw) {
			result, _ := strictjson.Member(line, "result")
			tools, _ := strictjson.Member(result, "tools")
			for _, d := range strictjson.Elements(tools) {
				digest, _ := strictjson.CanonicalDigest(d)
				snap.Tools = append(snap.Tools, snapshot.Tool{
					Name: strictjson.MemberText(d, "name"), Raw: strictjson.Sum(d), Digest: digest, Descriptor: d,
				})
			}
		}
		if len(snap.Tools) == 0 {
			t.Fatalf("%s holds no tools", path)
		}
		all[filepath.Base(path)] = snap
	}
	return all
}

// Every real tool can be drafted, the draft parses, is closed, and says nothing of the server's prose.
func TestDraftOfRealServers(t *testing.T) {
	t.Parallel()
	for file, snap := range captured(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			o := DraftOptions{By: "ana@example.com", Now: noon}
			for _, tool := range snap.Tools {
				o.Tools = append(o.Tools, tool.Name)
			}
			text, err := Draft(snap, o)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte(`"description": "`)) {
				t.Error("a description came into the draft")
			}
			for i, g := range doc.Tools {
				input, _ := strictjson.Member(snap.Tools[i].Descriptor, "inputSchema")
				if _, why := schema.Compile(input); why != "" {
					t.Errorf("%s: not evaluated: %s", g.Tool, why)
				}
				r := Decide(doc, snap, invoke(g.Tool, `{"no such argument":1}`), noon, nil)
				if name(r) != "authority.arguments" {
					t.Errorf("%s: %v", g.Tool, r)
				}
			}
			for _, v := range Check(doc, snap, noon, nil) {
				if v.Refusal != nil {
					t.Errorf("%s: %v", v.Grant.Tool, v.Refusal)
				}
			}
		})
	}
}
