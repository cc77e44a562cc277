package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestFieldLimits(t *testing.T)    { walk(t, limitCases) }
func TestFieldPlatforms(t *testing.T) { walk(t, platformCases) }

// sized is a result of that many bytes.
func sized(n int) string {
	const frame = `{"content":[{"type":"text","text":""}]}`
	return strings.Replace(frame, `"text":""`, `"text":"`+strings.Repeat("x", n-len(frame))+`"`, 1)
}

// lineOf calls a child whose answer has that many bytes of result.
func lineOf(n int) func(*field) ended {
	return func(f *field) ended {
		f.child(modernChild().with("tools/call", says(sized(n))...), nil, "")
		f.pin("t")
		end := f.call("t")
		if end.exit == 0 && len(end.stdout) != n+1 {
			f.Errorf("%d bytes on stdout, want %d", len(end.stdout), n+1)
		}
		return end
	}
}

// gzipped answers with that body, packed.
func gzipped(text string) reply {
	return func(p *peer, c net.Conn, r *request) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(p.fill(text, r)))
		_ = z.Close()
		status(200, "application/json", b.String(), "Content-Encoding: gzip")(p, c, r)
	}
}

// bomb is a small body that unpacks to a gigabyte.
func bomb() reply {
	return func(p *peer, c net.Conn, r *request) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n")
		z := gzip.NewWriter(c)
		_, _ = io.WriteString(z, p.fill(`{"jsonrpc":"2.0","id":$ID,"result":{"x":"`, r))
		block := bytes.Repeat([]byte("x"), 1<<20)
		for range 1 << 10 {
			if _, err := z.Write(block); err != nil {
				return
			}
		}
		_ = z.Close()
	}
}

// keyringless is whether a system has no keyring where no bus is told of.
const keyringless = runtime.GOOS != "windows" && runtime.GOOS != "darwin"

// The names of variables have no case on Windows, and have one everywhere else.
func TestEnvironmentNamesOnWindows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		system, a, b string
		same         bool
	}{
		{"windows", "Path", "PATH", true},
		{"windows", "Path", "PATHS", false},
		{"linux", "Path", "PATH", false},
		{"linux", "A", "A", true},
	} {
		if got := sameVariableOn(test.system, test.a, test.b); got != test.same {
			t.Errorf("%v: %v", test, got)
		}
	}
}

var limitCases = []fieldCase{
	{"LIM-01", "65 537 bytes", 0, "", lineOf(65_537)},
	{"LIM-01", "1 048 577 bytes", 0, "", lineOf(1_048_577)},
	{"LIM-01", "32 MiB", 3, "limit.frame", func(f *field) ended {
		f.child(modernChild().with("tools/call", "fill 33554432"), nil, "")
		f.pin("t")
		end := f.call("t")
		f.wantDetail(end, "limit", 16<<20)
		return end
	}},
	{"LIM-02", "what the server says back", 5, "protocol.error", func(f *field) ended {
		w := f.world(nil, nil)
		w.as.change(replies{"POST /token": w.token(`{"access_token":"AT1CANARY","token_type":"Bearer",` +
			`"refresh_token":"RT1CANARY"}`)})
		w.tokens.Lock()
		w.valid["AT1CANARY"] = true
		w.tokens.Unlock()
		w.signedIn()
		w.mcp.change(replies{"tools/list": w.guarded(list(
			`{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`))})
		f.pin("t")
		w.mcp.change(replies{"tools/call": w.guarded(document(`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,` +
			`"message":"bad token AT1CANARY for ARGCANARY","data":{"auth":{"token":"AT1CANARY"}}}}`))})
		end := f.run("call", "s", "t", "a=ARGCANARY", "--authority", f.home+"/authority.json", "--trace", f.home+"/trace")
		f.notHolds(end.stderr+end.stdout, "CANARY")
		f.notHolds(f.read("trace"), "AT1CANARY")
		f.canaries("RT1CANARY", "AT1CANARY")
		return end
	}},
	{"LIM-02", "what the token endpoint says back", 4, "oauth.token_error", func(f *field) ended {
		w := f.world(nil, replies{"POST /token": func(p *peer, c net.Conn, r *request) {
			status(400, "application/json", `{"error":"invalid_request","error_description":`+quoted(r.body)+`}`)(p, c, r)
		}})
		end := w.login()
		f.notHolds(end.stderr, "code=CODE")
		f.notHolds(end.stderr, "code_verifier")
		f.canaries(w.forms()[0].Get("code_verifier"))
		return end
	}},
	{"LIM-03", "2 000 tools", 0, "", func(f *field) ended {
		p := f.serve(modern().with(replies{"tools/list": numbered(func(n int) string {
			tools := make([]string, 50)
			for i := range tools {
				tools[i] = fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"type":"object"}}`,
					n*50+i, strings.Repeat("d", 200))
			}
			next := fmt.Sprintf(`,"nextCursor":"p%d"`, n)
			if n == 39 {
				next = ""
			}
			return `{"tools":[` + strings.Join(tools, ",") + `]` + next + `}`
		})}))
		f.http(p.url, "")
		end := f.run("snapshot", "take", "s")
		f.want("stdout", end.stdout, `"tools":2000`)
		return end
	}},
	{"LIM-03", "a descriptor of 8 MiB", 3, "limit.descriptor", described(strings.Repeat("d", 8<<20))},
	{"LIM-03", "an icon of 5 MB", 3, "limit.descriptor", described(
		"data:image/png;base64," + strings.Repeat("A", 5_000_000))},
	{"LIM-04", "a bomb", 3, "limit.frame", func(f *field) ended {
		f.calledPeer(modern(), replies{"tools/call": bomb()})
		return f.call("t", "--timeout=1m") // to inflate it takes a slow machine some seconds
	}},
	{"LIM-04", "br that nobody asked for", 5, "transport.content_encoding", callAnswered(
		status(200, "application/json", resultEvent, "Content-Encoding: br"))},
	{"LIM-04", "gzip", 0, "", callAnswered(gzipped(resultEvent))},
}

// described lists a tool with that text; nothing of it is kept.
func described(text string) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(modern(plainTool, `{"name":"u","inputSchema":{},"x":"`+text+`"}`))
		f.http(p.url, "")
		end := f.run("snapshot", "take", "s")
		f.wantDetail(end, "limit", 256<<10)
		f.wantDetail(end, "index", 1)
		f.noSnapshot()
		return end
	}
}

// canaries fails the case where a file of mcpc's own holds one of these, sealed or not.
func (f *field) canaries(words ...string) {
	f.Helper()
	f.must(filepath.WalkDir(f.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, w := range words {
			if strings.Contains(string(text), w) {
				f.Errorf("%s is in %s", w, path)
			}
		}
		return err
	}))
}

var platformCases = []fieldCase{
	{"WIN-01", "elsewhere another case is another name", 2, "source.unset", func(f *field) ended {
		if !modesHold {
			return ended{exit: 2, refusal: "source.unset"}
		}
		f.environ = append(f.environ, "Mcpc_Foo=x")
		f.child(modernChild(), []string{"MCPC_FOO"}, "")
		return f.run("discover", "s")
	}},
	{"WIN-02", "no shell reads the arguments", 0, "", func(f *field) ended {
		const args = `a & calc %USERNAME% x"y ^ $(id) | ; 'z' \`
		f.child(modernChild(), nil, "")
		text := f.read("config/mcpc/config.json")
		f.write("config/mcpc/config.json", strings.Replace(text, `],"env"`, `,`+quoted(args)+`],"env"`, 1))
		f.pin("t")
		end := f.call("t")
		if got := f.read("child.json.argv"); got != args {
			f.Errorf("the child got %q, want %q", got, args)
		}
		return end
	}},
	{"WIN-02", "found only in the working directory", 3, "transport.command_in_directory", func(f *field) ended {
		if !modesHold {
			return ended{exit: 3, refusal: "transport.command_in_directory"}
		}
		f.must(os.Chmod(f.write("field-tool", ""), 0o755))
		here, err := os.Getwd()
		f.must(err)
		relative, err := filepath.Rel(here, f.home)
		f.must(err)
		f.environ = append(f.environ, "PATH="+relative)
		f.config(`{"stdio":{"command":["field-tool"],"env":[]}}`)
		return f.run("discover", "s")
	}},
	{"WIN-03", "a token of 3 000 characters", 0, "", func(f *field) ended {
		long := strings.Repeat("a", 3000)
		w := f.world(nil, nil)
		w.valid[long] = true
		w.as.change(replies{"POST /token": document(`{"access_token":"` + long + `","token_type":"Bearer"}`)})
		w.signedIn()
		return w.run("discover", "s")
	}},
	{"WIN-03", "one that is too large", 3, "custody.too_large", func(f *field) ended {
		long := strings.Repeat("a", 3<<20)
		w := f.world(nil, nil)
		w.http(w.mcp.url, `"limits":{"document_bytes":16777216}`)
		w.signedIn()
		before := w.run("credentials").stdout
		w.as.change(replies{"POST /token": document(`{"access_token":"` + long + `","token_type":"Bearer"}`)})
		end := w.login()
		if w.run("credentials").stdout != before {
			f.Error("the old credential is gone")
		}
		return end
	}},
	{"WIN-04", "no keyring", 2, "custody.key_unavailable", func(f *field) ended {
		if !keyringless {
			return ended{exit: 2, refusal: "custody.key_unavailable"}
		}
		f.custody = `{"key":{"keyring":{}}}`
		w := f.world(nil, nil)
		end := w.login()
		w.nobodyAsked()
		if n := len(w.as.requests("POST /register")); n != 0 {
			f.Errorf("%d registrations", n)
		}
		if end.took > 3*time.Second {
			f.Errorf("took %v", end.took)
		}
		return end
	}},
}

// fieldElsewhere are the parts of field cases that cannot be seen from outside, with the package and test that hold
// them.
var fieldElsewhere = []struct{ id, name, held string }{
	{"PAG-04", "the whole listing ends in time", "internal/snapshot TestTakeEndsInTime"},
	{"WIN-01", "names have no case there", "cmd/mcpc TestEnvironmentNamesOnWindows"},
	{"WIN-01", "nothing is inherited that is not listed", "internal/transport TestEnvironmentNeverNil"},
	{"WIN-02", "scripts are refused", "internal/transport TestSearch"},
	{"WIN-04", "what is written is read back", "internal/store TestKeyringStates"},
}
