package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestFieldResult(t *testing.T)     { walk(t, resultCases) }
func TestFieldPagination(t *testing.T) { walk(t, pagingCases) }

// yields calls a tool that answers with this result, and wants its bytes on stdout.
func yields(json string) func(*field) ended { return yieldsFor(plainTool, json, "") }

// yieldsFor does so for a tool of that descriptor, and wants that note on stderr.
func yieldsFor(tool, json, note string) func(*field) ended {
	return func(f *field) ended {
		f.calledPeer(modern(tool), replies{"tools/call": result(json)})
		end := f.runIn("", "call", "s", "t", "--authority", f.home+"/authority.json")
		f.want("stderr", end.stderr, note)
		end = f.call("t")
		if end.stdout != json+"\n" {
			f.Errorf("stdout is %s, want the bytes %s", end.stdout, json)
		}
		return end
	}
}

const strictOutput = `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object",` +
	`"properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}`

const bigNumbers = `{"content":[],"structuredContent":{"id":9007199254740993,"neg":-7108510333361982070,"d":1.10,` +
	`"e":1E400,"z":-0}}`

const rootsMidCall = `data: {"jsonrpc":"2.0","id":$ID,"method":"roots/list"}` + "\n\n" +
	`data: {"jsonrpc":"2.0","id":"p1","method":"ping"}` + "\n\n"

var resultCases = []fieldCase{
	{"RES-01", "", 1, "", yieldsFor(strictOutput,
		`{"isError":true,"content":[{"type":"text","text":"Authentication failed"}],"structuredContent":{"code":1}}`,
		"the tool reports an error")},
	{"RES-02", "", 0, "", yieldsFor(strictOutput, `{"content":[],"structuredContent":{"n":"5","x":1}}`, "note:")},
	{"RES-03", "", 0, "", yieldsFor(strictOutput, `{"content":[{"type":"text","text":"{...}"}]}`, "note:")},
	{"RES-04", "", 0, "", yieldsFor(plainTool, `{"toolResult":{"content":[{"type":"text","text":"ok"}]}}`,
		"the result has no content list")},
	{"RES-05", "", 0, "", yields(`{"content":[{"type":"text","text":"ok"},{"type":"video","url":"https://x/y"}]}`)},
	{"RES-06", "text", 0, "", yields(`{"content":[{"type":"resource","resource":{"uri":"file:///a.go",` +
		`"mimeType":"text/x-go","text":"package a"}}]}`)},
	{"RES-06", "blob", 0, "", yields(`{"content":[{"type":"resource","resource":{"uri":"file:///a","blob":"AAAA"}}]}`)},
	{"RES-06", "both", 0, "", yields(
		`{"content":[{"type":"resource","resource":{"uri":"file:///a","blob":"AAAA","text":"x"}}]}`)},
	{"RES-06", "neither", 0, "", yields(`{"content":[{"type":"resource","resource":{"uri":"file:///a"}}]}`)},
	{"RES-07", "", 0, "", yields(`{"content":[{"type":"text","text":"x","structuredContent":[{"Data":"1"}]}]}`)},
	{"RES-08", "result", 0, "", yields(bigNumbers)},
	{"RES-08", "arguments", 0, "", func(f *field) ended {
		p := f.calledPeer(modern(`{"name":"t","inputSchema":{"type":"object","properties":{"memory_id":{"type":"integer"},`+
			`"d":{"type":"number"}}}}`), nil)
		end := f.call("t", "memory_id=725653563933458432", "d:=1.10")
		for _, r := range p.requests("tools/call") {
			f.want("request", r.body, `725653563933458432`)
			f.want("request", r.body, `1.10`)
		}
		return end
	}},
	{"RES-10", "http", 0, "", func(f *field) ended {
		p := f.calledPeer(legacy(), replies{
			"POST /mcp":  status(202, "", ""),
			"tools/call": stream(rootsMidCall + "data: " + resultEvent + "\n\n"),
		})
		end := f.call("t")
		var answers []string
		for _, r := range p.requests("POST /mcp") {
			if r.rpc == "" {
				answers = append(answers, r.body)
			}
		}
		all := strings.Join(answers, " ")
		f.want("answers", all, "-32601")
		f.want("answers", all, `"id":"p1","result":{}`)
		return end
	}},
	{"RES-10", "it fails for that", 3, "feature.roots", calling(legacy(), replies{
		"POST /mcp": status(202, "", ""),
		"tools/call": stream(rootsMidCall + `data: {"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"` + prose +
			`"}}` + "\n\n"),
	})},
	{"RES-10", "stdio", 0, "", func(f *field) ended {
		script := legacyChild()
		script["tools/call"] = append([]string{`out {"jsonrpc":"2.0","id":$ID,"method":"roots/list"}` + "\n", "hear"},
			script["tools/call"]...)
		f.child(script, nil, "")
		f.pin("t")
		end := f.call("t")
		f.want("what the child heard", f.heardByChild(), "-32601")
		return end
	}},
	{"RES-10", "modern", 5, "protocol.server_request", callAnswered(
		stream(rootsMidCall + "data: " + resultEvent + "\n\n"))},
	{"RES-10", "every odd result", 0, "", oddResults},
}

// oddResults prints each result of a file with one odd shape a line: what is no result of the protocol is refused by
// name, all else goes out as it came.
func oddResults(f *field) ended {
	text, err := os.ReadFile("testdata/field/results-odd.ndjson")
	f.must(err)
	p := f.calledPeer(modern(), nil)
	last := ended{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		p.now(modern().with(replies{"tools/call": result(s.Text())}))
		end := f.call("t")
		if end.exit > 1 && end.refusal == "" || end.exit <= 1 && end.stdout != s.Text()+"\n" {
			f.Errorf("%s: exit %d, %s", s.Text(), end.exit, end.stdout)
		}
		if end.exit == 0 {
			last = end
		}
	}
	return last
}

// pages is a modern server whose pages of the list are made by f, from their number.
func pages(limits string, page func(n int) string) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(modern().with(replies{"tools/list": numbered(page)}))
		f.http(p.url, limits)
		end := f.run("snapshot", "take", "s")
		f.noSnapshot()
		if end.took > 5*time.Second {
			f.Errorf("took %v", end.took)
		}
		return end
	}
}

func emptyCursor(int) string { return `{"tools":[` + plainTool + `],"nextCursor":""}` }

var pagingCases = []fieldCase{
	{"PAG-01", "modern", 5, "protocol.cursor_repeated", pages("", emptyCursor)},
	{"PAG-01", "legacy ends", 0, "", func(f *field) ended {
		p := f.serve(legacy().with(replies{"tools/list": result(emptyCursor(0))}))
		f.http(p.url, "")
		end := f.run("discover", "s")
		if len(p.requests("tools/list")) != 1 {
			f.Errorf("heard %s", p.said())
		}
		return end
	}},
	{"PAG-03", "", 5, "protocol.cursor_repeated", func(f *field) ended {
		p := f.serve(modern().with(replies{"tools/list": result(`{"tools":[` + plainTool + `],"nextCursor":"8"}`)}))
		f.http(p.url, "")
		end := f.run("snapshot", "take", "s")
		f.noSnapshot()
		if n := len(p.requests("tools/list")); n != 2 {
			f.Errorf("%d pages were asked for", n)
		}
		return end
	}},
	{"PAG-04", "pages", 3, "limit.pages", pages(`"limits":{"pages":20}`, func(n int) string {
		return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n)
	})},
	{"PAG-04", "tools", 3, "limit.tools", pages(`"limits":{"tools":20}`, func(n int) string {
		return fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{}}],"nextCursor":"%d"}`, n, n)
	})},
	{"PAG-04", "bytes", 3, "limit.snapshot", pages(`"limits":{"snapshot_bytes":20000}`, func(n int) string {
		return fmt.Sprintf(`{"tools":[{"name":"t%d","description":%q,"inputSchema":{}}],"nextCursor":"%d"}`,
			n, strings.Repeat("d", 1000), n)
	})},
	{"PAG-04", "cursor", 3, "limit.cursor", pages("", func(int) string {
		return `{"tools":[],"nextCursor":"` + strings.Repeat("c", 5000) + `"}`
	})},
}
