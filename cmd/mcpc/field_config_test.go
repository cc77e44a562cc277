package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFieldConfig(t *testing.T) { walk(t, configCases) }

// foreignFiles are configurations of other programs, which the configuration's own tests use too.
const foreignFiles = "../../internal/config/testdata/foreign/"

// configured reads that text as the configuration; no server is reached.
func configured(text string) func(*field) ended {
	return func(f *field) ended {
		f.write("config/mcpc/config.json", text)
		return f.run("discover", "s")
	}
}

// headed reads a configuration with that value as a header.
func headed(value string) func(*field) ended {
	return configured(`{"servers":{"s":{"http":{"url":"https://h.example/mcp",` +
		`"headers":{"Authorization":` + value + `}}}}}`)
}

// foreign reads a configuration of another program.
func foreign(name, kind string) func(*field) ended {
	return func(f *field) ended {
		text, err := os.ReadFile(foreignFiles + name)
		f.must(err)
		path := f.write(name, string(text))
		end := f.run("--config", path, "discover", "s")
		f.wantDetail(end, "kind", kind)
		return end
	}
}

// broken reads a file that is no strict JSON, and wants the place of the first fault.
func broken(name string, line, column int) func(*field) ended {
	return func(f *field) ended {
		text, err := os.ReadFile(foreignFiles + name)
		f.must(err)
		end := f.run("--config", f.write(name, string(text)), "discover", "s")
		f.wantDetail(end, "line", line)
		f.wantDetail(end, "column", column)
		return end
	}
}

func stdioOf(member, value string) string {
	return `{"servers":{"s":{"stdio":{"command":["npx"],"env":[],"` + member + `":` + value + `}}}}`
}

// likeClaude is what three programs write alike.
const likeClaude = "Claude Desktop, Claude Code or Cursor"

var configCases = []fieldCase{
	{"CFG-01", "${VAR}", 2, "config.secret_value", headed(`"Bearer ${MY_TOKEN}"`)},
	{"CFG-01", "in a URL", 2, "config.template", configured(
		`{"servers":{"s":{"http":{"url":"https://${HOST}/mcp"}}}}`)},
	{"CFG-01", "$VAR in a URL", 2, "config.template", configured(
		`{"servers":{"s":{"http":{"url":"https://$HOST/mcp"}}}}`)},
	{"CFG-01", "${VAR:-default} in a command", 2, "config.template", configured(
		`{"servers":{"s":{"stdio":{"command":["npx","${PKG:-x}"],"env":[]}}}}`)},
	{"CFG-01", "${input:id}", 2, "config.secret_value", headed(`"${input:token}"`)},
	{"CFG-01", "unset source", 2, "source.unset", headed(`{"env":"NOT_SET_ANYWHERE"}`)},
	{"CFG-01", "empty source", 2, "source.empty", func(f *field) ended {
		f.environ = append(f.environ, "EMPTY=")
		return headed(`{"env":"EMPTY"}`)(f)
	}},
	{"CFG-02", "Claude Desktop", 2, "config.foreign_format", foreign("claude-desktop.json", likeClaude)},
	{"CFG-02", "Claude Code", 2, "config.foreign_format", foreign("claude-code-mcp.json", likeClaude)},
	{"CFG-02", "Cursor", 2, "config.foreign_format", foreign("cursor-mcp.json", likeClaude)},
	{"CFG-02", "VS Code", 2, "config.foreign_format", foreign("vscode-mcp.jsonc", "VS Code")},
	{"CFG-02", "Codex", 2, "config.foreign_format", foreign("codex-config.toml", "Codex")},
	{"CFG-02", "Gemini", 2, "config.foreign_format", foreign("gemini-settings.json", "Gemini CLI")},
	{"CFG-02", "Goose", 2, "config.foreign_format", foreign("goose-config.yaml", "Goose")},
	{"CFG-02", "an unknown key", 2, "config.unknown_member", func(f *field) ended {
		end := configured(`{"servers":{"s":{"http":{"httpUrl":"https://h.example/mcp"}}}}`)(f)
		f.wantDetail(end, "pointer", "/servers/s/http/httpUrl")
		return end
	}},
	{"CFG-03", "byte order mark", 2, "config.syntax", broken("broken-bom-dup-trailing.json", 1, 1)},
	{"CFG-03", "UTF-16", 2, "config.syntax", broken("broken-utf16le.json", 1, 1)},
	{"CFG-03", "comment", 2, "config.syntax", configured("{ // c\n\"servers\":{}}")},
	{"CFG-03", "trailing comma", 2, "config.syntax", configured(`{"servers":{},}`)},
	{"CFG-03", "the same name twice", 2, "config.duplicate_member", configured(
		`{"servers":{"s":{"http":{"url":"https://a.example/"}},"s":{"http":{"url":"https://b.example/"}}}}`)},
	{"CFG-03", "CRLF", 2, "config.no_such_server", configured("{\r\n\"servers\":{\r\n}\r\n}\r\n")},
	{"CFG-04", "string", 2, "config.type", configured(`{"servers":{"s":{"stdio":{"command":"npx -y pkg","env":[]}}}}`)},
	{"CFG-04", "true", 2, "config.type", configured(`{"servers":{"s":{"stdio":{"command":true,"env":[]}}}}`)},
	{"CFG-04", "args beside the command", 2, "config.unknown_member", configured(stdioOf("args", `"-y pkg"`))},
	{"CFG-04", "env in one string", 2, "config.type", configured(
		`{"servers":{"s":{"stdio":{"command":["npx"],"env":"PATH,HOME"}}}}`)},
	{"CFG-04", "env with values", 2, "config.secret_value", configured(
		`{"servers":{"s":{"stdio":{"command":["npx"],"env":{"A":"b"}}}}}`)},
	{"CFG-06", "modes", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		f.wantModes()
		return w.run("credentials")
	}},
	{"CFG-06", "readable by others", 2, "custody.mode", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		for _, path := range f.sealed() {
			f.must(os.Chmod(path, 0o644))
		}
		if !modesHold {
			return ended{exit: 2, refusal: "custody.mode"}
		}
		return w.run("discover", "s")
	}},
	{"CFG-06", "two resources of one host", 0, "", func(f *field) ended {
		w := f.world(replies{"GET /.well-known/oauth-protected-resource/b": resourceDocument("$ORIGIN/b")}, nil)
		w.signedIn()
		w.http(w.mcp.origin+"/b", "")
		w.challenges("WWW-Authenticate: Bearer")
		if end := w.run("discover", "s"); end.refusal != "oauth.login_required" {
			f.Errorf("the credential of another resource is used: exit %d", end.exit)
		}
		w.signedIn()
		end := w.run("credentials")
		if n := strings.Count(end.stdout, `"issuer"`); n != 2 {
			f.Errorf("%d credentials: %s", n, end.stdout)
		}
		return end
	}},
	{"CFG-06", "relative XDG folder", 0, "", func(f *field) ended {
		f.environ = append(f.environ, "XDG_CONFIG_HOME=beside")
		end := f.run("config", "path")
		f.notHolds(end.stdout, "beside")
		return end
	}},
	{"CFG-06", "empty XDG folder", 0, "", func(f *field) ended {
		f.environ = append(f.environ, "XDG_CONFIG_HOME=")
		end := f.run("config", "path")
		f.want("stdout", end.stdout, f.home)
		return end
	}},
}

// wantModes wants every folder that was made for custody to be the owner's alone, and every file too.
func (f *field) wantModes() {
	f.Helper()
	n := 0
	f.must(filepath.Walk(filepath.Join(f.home, "data"), func(path string, info os.FileInfo, err error) error {
		if err == nil && modesHold && info.Mode().Perm()&0o077 != 0 && path != filepath.Join(f.home, "data") {
			f.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		n++
		return err
	}))
	if n < 3 {
		f.Errorf("only %d files", n)
	}
}

func TestFieldPinning(t *testing.T) { walk(t, pinningCases) }

// changed pins one list and compares it with the next.
func changed(old, now string) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(modern(old))
		f.http(p.url, "")
		f.pin()
		p.change(replies{"tools/list": list(now)})
		return f.run("snapshot", "diff", "s", "live:s")
	}
}

// varied compares the tool t with one that has another value for a member.
func varied(member, a, b string) func(*field) ended {
	tool := `{"name":"t","inputSchema":{"type":"object"},"` + member + `":`
	return changed(tool+a+"}", tool+b+"}")
}

// damaged pins a server, damages the snapshot, and calls.
func damaged(damage func(f *field, path, text string)) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(modern())
		f.http(p.url, "")
		f.pin("t")
		path := f.snapshotFile()
		text, err := os.ReadFile(path)
		f.must(err)
		f.must(os.Chmod(path, 0o600))
		damage(f, path, string(text))
		end := f.call("t")
		if len(p.requests("tools/call")) != 0 {
			f.Error("the call was sent")
		}
		return end
	}
}

// overwrites puts that text in the snapshot's place.
func overwrites(edit func(string) string) func(*field) ended {
	return damaged(func(f *field, path, text string) { f.must(os.WriteFile(path, []byte(edit(text)), 0o600)) })
}

var pinningCases = []fieldCase{
	{"PIN-01", "description", 1, "", varied("description", `"a"`, `"b"`)},
	{"PIN-01", "annotations", 1, "", varied("annotations", `{"readOnlyHint":true}`, `{"readOnlyHint":false}`)},
	{"PIN-01", "_meta", 1, "", varied("_meta", `{"x":1}`, `{"x":2}`)},
	{"PIN-01", "outputSchema", 1, "", varied("outputSchema", `{"type":"object"}`, `{}`)},
	{"PIN-01", "title", 1, "", varied("title", `"a"`, `"b"`)},
	{"PIN-01", "icons", 1, "", varied("icons", `[]`, `[{"src":"https://i.example/x"}]`)},
	{"PIN-01", "unknown member", 1, "", varied("vendor", `1`, `2`)},
	{"PIN-02", "twice", 3, "authority.tool_rejected", duplicated(
		`{"name":"send","inputSchema":{"type":"object"}}`,
		`{"name":"send","inputSchema":{"type":"object","required":["x"]}}`)},
	{"PIN-02", "twice the same", 3, "authority.tool_rejected", duplicated(
		`{"name":"send","inputSchema":{"type":"object"}}`, `{"name":"send","inputSchema":{"type":"object"}}`)},
	{"PIN-02", "renamed", 1, "", func(f *field) ended {
		end := changed(`{"name":"send_mail","inputSchema":{"type":"object"}}`,
			`{"name":"send-mail","inputSchema":{"type":"object"}}`)(f)
		f.want("stdout", end.stdout, `"tool-added"`)
		f.want("stdout", end.stdout, `"tool-removed"`)
		return end
	}},
	{"PIN-03", "cut off", 3, "snapshot.altered", overwrites(func(s string) string { return s[:10] })},
	{"PIN-03", "empty", 3, "snapshot.altered", overwrites(func(string) string { return "" })},
	{"PIN-03", "one byte", 3, "snapshot.altered", overwrites(func(s string) string {
		return strings.Replace(s, `"type":"object"`, `"type":"objecT"`, 1)
	})},
	{"PIN-03", "writable by others", 3, "snapshot.altered", damaged(func(f *field, path, text string) {
		f.must(os.WriteFile(path, []byte(strings.Replace(text, "object", "string", 1)), 0o600))
		f.must(os.Chmod(path, 0o666))
	})},
	{"PIN-03", "never trusted anew", 3, "snapshot.altered", func(f *field) ended {
		p := f.serve(modern())
		f.http(p.url, "")
		f.pin("t")
		f.editSnapshot(`"type":"object"`, `"type":"objecT"`)
		before := f.read(strings.TrimPrefix(f.snapshotFile(), f.home))
		end := f.run("snapshot", "take", "s")
		if f.read(strings.TrimPrefix(f.snapshotFile(), f.home)) != before {
			f.Error("the altered snapshot was written over")
		}
		return end
	}},
	{"PIN-04", "order of tools", 0, "", func(f *field) ended {
		a, b := `{"name":"a","inputSchema":{}}`, `{"name":"b","inputSchema":{}}`
		return changed(a+","+b, b+","+a)(f)
	}},
	{"PIN-04", "order of members", 0, "", changed(
		`{"name":"t","inputSchema":{}}`, `{"inputSchema":{},"name":"t"}`)},
	{"PIN-04", "escapes", 0, "", varied("description", `"\u00e9\/"`, `"é/"`)},
	{"PIN-04", "white space", 0, "", varied("description", `"a"`, `  "a" `)},
	{"PIN-04", "spelling of a number", 1, "", func(f *field) ended {
		end := varied("vendor", `1.0`, `1`)(f)
		f.want("stdout", end.stdout, "number-spelling")
		return end
	}},
	{"PIN-05", "", 1, "", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		f.pin()
		w.mcp.change(replies{"tools/list": w.guarded(list(plainTool, `{"name":"u","inputSchema":{}}`))})
		w.as.change(replies{"POST /token": w.token(`{"access_token":"AT1","token_type":"Bearer","scope":"read write"}`)})
		if end := w.login("--scope", "write"); end.exit != 0 {
			f.Error(end.stderr)
		}
		end := f.run("snapshot", "diff", "s", "live:s")
		f.want("stdout", end.stdout, `"class":"auth-context"`)
		text, err := os.ReadFile(f.snapshotFile())
		f.must(err)
		f.want("snapshot", string(text), `"scopes":["read"]`)
		f.notHolds(string(text), "AT1")
		return end
	}},
}

// duplicated lists one name twice, on two pages, and grants it by hand.
func duplicated(one, other string) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(modern().with(replies{"tools/list": numbered(func(n int) string {
			if n%2 == 0 {
				return fmt.Sprintf(`{"tools":[%s,%s],"nextCursor":"p2"}`, plainTool, one)
			}
			return fmt.Sprintf(`{"tools":[%s]}`, other)
		})}))
		f.http(p.url, "")
		f.pin("t")
		f.write("authority.json", strings.Replace(f.read("authority.json"), `"t"`, `"send"`, 1))
		return f.call("send")
	}
}

func TestFieldTerminal(t *testing.T) { walk(t, terminalCases) }

// escapes is text that does something to a terminal.
const escapes = `ls\u001b[2J\u001b]8;;http://evil\u0007x\u009b31m\r\nOK\u202e\u007f`

// looksSafe runs a command whose stdout and stderr are terminals, in both modes, and wants nothing raw to arrive.
func (f *field) looksSafe(args ...string) {
	f.Helper()
	for _, mode := range [][]string{args, append([]string{"--json"}, args...)} {
		out, stderr := f.onTerminals(mode...)
		for _, text := range []string{out, stderr} {
			for _, r := range strings.ReplaceAll(text, "\x1b[K", "") { // what the progress bar clears its line with
				if r < 0x20 && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 || r == 0x202e {
					f.Errorf("%v: %q arrives: %q", mode, hex.EncodeToString([]byte(string(r))), text)
					break
				}
			}
		}
	}
}

var terminalCases = []fieldCase{
	{"TERM-01", "descriptors", 0, "", func(f *field) ended {
		p := f.serve(modern(`{"name":"t","title":"`+escapes+`","description":"`+escapes+`","inputSchema":{"type":"object"}}`,
			`{"name":"`+escapes+`","inputSchema":{}}`))
		p.change(replies{"server/discover": result(strings.Replace(discoverBody, `"s"`, `"`+escapes+`"`, 1))})
		f.http(p.url, "")
		f.pin("t")
		f.looksSafe("discover", "s")
		f.looksSafe("snapshot", "show", "s")
		f.looksSafe("snapshot", "show", "s", "t")
		return f.run("discover", "s")
	}},
	{"TERM-01", "results", 0, "", func(f *field) ended {
		f.calledPeer(modern(), replies{"tools/call": result(`{"content":[{"type":"text","text":"` + escapes +
			`"},{"type":"` + escapes + `"},{"type":"image","mimeType":"` + escapes + `","data":"AAAA"}],` +
			`"structuredContent":{"` + escapes + `":1}}`)})
		f.looksSafe("call", "s", "t", "--authority", filepath.Join(f.home, "authority.json"))
		return f.call("t")
	}},
	{"TERM-01", "errors", 5, "protocol.error", func(f *field) ended {
		f.calledPeer(modern(), replies{"tools/call": document(
			`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"` + escapes + prose + `"}}`)})
		f.looksSafe("call", "s", "t", "--authority", filepath.Join(f.home, "authority.json"))
		return f.call("t")
	}},
	{"TERM-01", "stderr of a child", 0, "", func(f *field) ended {
		f.child(modernChild().with(atStart, "errtext x\x1b[2J\u009b31m\u202e\x7f\n"), nil, "")
		f.looksSafe("discover", "s", "--server-stderr")
		return f.run("discover", "s")
	}},
	{"TERM-03", "", 0, "", func(f *field) ended {
		f.calledPeer(modern(), replies{"tools/call": stream("data: " + strayNote + "\n\ndata: " +
			strings.TrimSpace(earlyNote) + "\n\ndata: " + resultEvent + "\n\n")})
		end := f.call("t")
		if end.stdout != okText+"\n" {
			f.Errorf("stdout is %q", end.stdout)
		}
		f.notHolds(end.stderr+end.stdout, "\x1b")
		text := f.runIn("", "call", "s", "t", "--authority", filepath.Join(f.home, "authority.json"))
		f.notHolds(text.stderr+text.stdout, "\x1b")
		return end
	}},
	{"TERM-03", "a refusal leaves stdout empty", 5, "transport.status", lists(status(500, "text/plain", prose))},
	{"TERM-04", "one object, as it is", 0, "", func(f *field) ended {
		p := f.calledPeer(modern(
			`{"name":"t","inputSchema":{"type":"object","properties":{"data":{},"zip":{},"n":{},"b":{}}}}`), nil)
		const args = `{"data":{"a":"x # y"},"zip":"00123","n":12345678901234567890,"b":"true"}`
		end := f.runIn(args, "--json", "call", "s", "t", "--args", "-",
			"--authority", filepath.Join(f.home, "authority.json"))
		for _, r := range p.requests("tools/call") {
			f.want("request", r.body, `"arguments":`+args)
		}
		return end
	}},
	{"TERM-04", "words keep their spelling", 0, "", func(f *field) ended {
		p := f.calledPeer(modern(`{"name":"t","inputSchema":{"type":"object","properties":{"zip":{"type":"string"},`+
			`"n":{"type":"integer"},"b":{"type":"string"},"any":{}}}}`), nil)
		end := f.call("t", "zip=00123", "n=12345678901234567890", "b=true", "any=1e5")
		for _, r := range p.requests("tools/call") {
			f.want("request", r.body, `"zip":"00123","n":12345678901234567890,"b":"true","any":"1e5"`)
		}
		return end
	}},
	{"TERM-04", "no object", 2, "arguments.json", badArguments(`[1]`)},
	{"TERM-04", "duplicate", 2, "arguments.json", badArguments(`{"a":1,"a":2}`)},
	{"TERM-04", "trailing", 2, "arguments.json", badArguments(`{"a":1} x`)},
	{"TERM-05", "isError", 1, "", func(f *field) ended {
		end := callAnswered(result(`{"content":[],"isError":true}`))(f)
		f.want("stdout", end.stdout, `"isError":true`)
		return end
	}},
	{"TERM-05", "unknown tool", 5, "protocol.error", callAnswered(failure(200, -32602))},
	{"TERM-05", "not configured", 2, "config.no_such_server", func(f *field) ended { return f.run("discover", "nosuch") }},
	{"TERM-05", "not granted", 3, "authority.tool_not_granted", func(f *field) ended {
		f.calledPeer(modern(), nil)
		return f.call("other")
	}},
	{"TERM-05", "nothing there", 5, "transport.unreachable", func(f *field) ended {
		f.http(fmt.Sprintf("http://127.0.0.1:%d/mcp", f.freePort()), "")
		return f.run("discover", "s")
	}},
	{"TERM-06", "a child that stays", 0, "", func(f *field) ended {
		f.child(modernChild().with(atStart, "deaf"), nil, `"limits":{"shutdown_ms":200}`)
		return f.run("discover", "s")
	}},
	{"TERM-06", "a stream held open", 0, "", callAnswered(heldOpen(streamHeader + "data: " + resultEvent + "\n\n"))},
	{"TERM-06", "a standalone stream held open", 0, "", calling(legacy(), replies{"GET /mcp": silent()})},
	{"TERM-06", "a session that does not end", 0, "", calling(legacy(), replies{"DELETE /mcp": silent()})},
}

// badArguments calls with arguments that are a usage error before anything is sent.
func badArguments(args string) func(*field) ended {
	return func(f *field) ended {
		p := f.calledPeer(modern(), nil)
		end := f.call("t", "--args", args)
		p.wantSaid("")
		return end
	}
}
