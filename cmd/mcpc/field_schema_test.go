package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestFieldSchema(t *testing.T) { walk(t, schemaCases) }

// oddTools is a list of one odd descriptor each, which the snapshot's own tests use too.
const oddTools = "../../internal/snapshot/testdata/tools-odd-descriptors.json"

// odd discovers the odd descriptors and returns the reason of each that was rejected, and the names of the others.
func (f *field) odd() (end ended, rejected map[string]string, tools map[string]bool) {
	f.Helper()
	text, err := os.ReadFile(oddTools)
	f.must(err)
	p := f.serve(modern().with(replies{"tools/list": result(string(text))}))
	f.http(p.url, "")
	end = f.run("discover", "s")
	var doc struct {
		Tools []struct {
			Name       string
			Descriptor json.RawMessage
		}
		Rejected []struct {
			Reason     string
			Descriptor struct{ Name string }
		}
	}
	f.must(json.Unmarshal([]byte(end.stdout), &doc))
	rejected, tools = map[string]string{}, map[string]bool{}
	for _, r := range doc.Rejected {
		rejected[r.Descriptor.Name] = r.Reason
	}
	for _, tool := range doc.Tools {
		tools[tool.Name] = true
	}
	return end, rejected, tools
}

// verdicts wants these tools rejected for these reasons ("" for not at all).
func verdicts(want map[string]string) func(*field) ended {
	return func(f *field) ended {
		end, rejected, tools := f.odd()
		for name, reason := range want {
			if rejected[name] != reason || tools[name] != (reason == "") {
				f.Errorf("%q is rejected for %q, kept %v; want %q", name, rejected[name], tools[name], reason)
			}
		}
		return end
	}
}

// keptCall pins a server with that tool and calls it with these words.
func keptCall(tool, name string, words ...string) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(modern(tool))
		f.http(p.url, "")
		f.pin(name)
		kept, err := os.ReadFile(f.snapshotFile())
		f.must(err)
		f.want("snapshot", string(kept), tool)
		end := f.call(words...)
		if end.exit == 0 {
			for _, r := range p.requests("tools/call") {
				f.want("request", r.body, `"name":`+quoted(name))
			}
		}
		return end
	}
}

var schemaCases = []fieldCase{
	{"SCH-01", "rejected", 0, "", verdicts(map[string]string{
		"good": "", "xmcp-number": "tool-header-annotation-invalid", "xmcp-dup": "tool-header-annotation-invalid",
		"xmcp-under-items": "tool-header-annotation-invalid", "xmcp-with-type-array-sibling": "",
	})},
	{"SCH-01", "cannot be granted", 3, "authority.tool_rejected", func(f *field) ended {
		bad := `{"name":"bad","inputSchema":{"type":"object","properties":{"x":{"type":"number","x-mcp-header":"X"}}}}`
		p := f.serve(modern(plainTool, bad))
		f.http(p.url, "")
		f.pin("t")
		text := f.read("authority.json")
		f.write("authority.json", strings.Replace(text, `"t"`, `"bad"`, 1))
		end := f.call("bad", "x:=1")
		if len(p.requests("tools/call")) != 0 {
			f.Error("the call was sent")
		}
		return end
	}},
	{"SCH-02", "", 0, "", verdicts(map[string]string{
		"good": "", "schema-marker-only": "", "empty-schema": "", "root-anyof": "", "root-ref": "",
		"schema-true": "tool-input-schema-invalid",
	})},
	{"SCH-02", "a good one beside them is called", 0, "", func(f *field) ended {
		p := f.serve(modern(`{"name":"a","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#"}}`,
			`{"name":"b","inputSchema":{"anyOf":[{"type":"object"}]}}`, plainTool))
		f.http(p.url, "")
		f.pin("t")
		return f.call("t")
	}},
	{"SCH-03", "null", 0, "", func(f *field) ended {
		p := f.serve(modern("null", plainTool))
		f.http(p.url, "")
		end := f.run("discover", "s")
		f.want("stdout", end.stdout, `"page":0,"index":0,"reason":"tool-not-object","descriptor":null`)
		return end
	}},
	{"SCH-03", "reference into a sibling", 0, "", keptCall(`{"name":"a","inputSchema":{"$ref":"#/components/schemas/R",`+
		`"components":{"schemas":{"R":{"type":"object"}}}}}`, "a", "a", "--args", "{}")},
	{"SCH-04", "verdicts", 0, "", verdicts(map[string]string{
		"required-null": "", "schema-null": "tool-input-schema-invalid", "schema-missing": "tool-input-schema-invalid",
	})},
	{"SCH-04", "null is kept", 0, "", keptCall(
		`{"name":"x","description":null,"inputSchema":{"type":"object","properties":{},"required":null}}`, "x", "x")},
	{"SCH-05", "verdicts", 0, "", verdicts(map[string]string{
		"catalog.query": "", "catalog_query": "", "a/b": "", "Get User": "", "数据库": "", "--help": "",
		"": "tool-name-invalid", strings.Repeat("x", 300): "tool-name-invalid",
	})},
	{"SCH-05", "dash, after --tool", 0, "", keptCall(
		`{"name":"--help","inputSchema":{"type":"object"}}`, "--help", "--tool=--help")},
	{"SCH-05", "other script", 0, "", keptCall(
		`{"name":"数据库","inputSchema":{"type":"object"}}`, "数据库", "数据库")},
	{"SCH-05", "space", 0, "", keptCall(`{"name":"Get User","inputSchema":{"type":"object"}}`, "Get User", "Get User")},
	{"SCH-05", "another spelling is another tool", 3, "authority.tool_not_granted", keptCall(
		`{"name":"Get User","inputSchema":{"type":"object"}}`, "Get User", "get_user")},
	{"SCH-07", "external reference", 0, "", func(f *field) ended {
		p := f.serve(replies{})
		tool := `{"name":"t","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
			`"properties":{"a":{"$ref":"` + p.origin + `/x.json"}}}}`
		p.now(modern(tool))
		f.http(p.url, "")
		f.pin("t")
		end := f.run("call", "s", "t", "--authority", f.home+"/authority.json", "--args", `{"a":1}`)
		if len(p.requests("GET /x.json")) != 0 {
			f.Error("the reference was fetched")
		}
		return end
	}},
	{"SCH-07", "unknown dialect", 0, "", keptCall(
		`{"name":"a","inputSchema":{"$schema":"http://dialect.example/x","type":"object"}}`, "a", "a", "--args", "{}")},
}
