package main

import (
	"strings"
	"testing"
)

func TestFieldHTTP(t *testing.T) { walk(t, httpCases) }

// calling pins a server, lets it go on with these replies, and calls its tool t with these words.
func calling(base, then replies, words ...string) func(*field) ended {
	return func(f *field) ended {
		f.calledPeer(base, then)
		return f.call(append([]string{"t"}, words...)...)
	}
}

// calledPeer pins a server and lets it go on with other replies; what it heard so far is forgotten.
func (f *field) calledPeer(base, then replies) *peer {
	f.Helper()
	p := f.serve(base)
	f.http(p.url, `"limits":{"request_ms":4000,"call_ms":4000,"shutdown_ms":500}`)
	f.pin("t")
	p.now(base.with(then))
	p.mu.Lock()
	p.heard = nil
	p.mu.Unlock()
	return p
}

// callAnswered is a modern server whose call is answered like this.
func callAnswered(say reply) func(*field) ended { return calling(modern(), replies{"tools/call": say}) }

// lists is a modern server whose list is answered like this.
func lists(say reply) func(*field) ended {
	return discoverAgainst(modern().with(replies{"tools/list": say}), "server/discover tools/list")
}

const mirrorTool = `{"name":"t","inputSchema":{"type":"object","properties":{"owner":{"type":"string",` +
	`"x-mcp-header":"owner"}}}}`

// mirrors calls with an argument that is mirrored, and wants that header.
func mirrors(value, header string) func(*field) ended {
	return func(f *field) ended {
		p := f.calledPeer(modern(mirrorTool), nil)
		end := f.call("t", "--args", `{"owner":`+quoted(value)+`}`)
		for _, r := range p.requests("tools/call") {
			if got := r.header["Mcp-Param-Owner"]; len(got) != 1 || got[0] != header {
				f.Errorf("Mcp-Param-Owner is %q, want %q", got, header)
			}
		}
		return end
	}
}

var (
	resultEvent = `{"jsonrpc":"2.0","id":$ID,"result":` + okText + `}`
	strayNote   = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tool-call-2",` +
		`"progress":0,"total":1,"message":"` + prose + `"}}`
)

var httpCases = []fieldCase{
	{"HTTP-01", "mirrored", 0, "", mirrors("octocat", "octocat")},
	{"HTTP-01", "refused", 5, "protocol.header_mismatch", func(f *field) ended {
		p := f.calledPeer(modern(mirrorTool), replies{"tools/call": rawFile("http/call-400-32020.http")})
		end := f.call("t", "owner=octocat")
		p.wantSaid("tools/call")
		f.want("hint", end.hint, "mcpc snapshot take s")
		return end
	}},
	{"HTTP-01", "the schema changed", 3, "authority.descriptor_changed", func(f *field) ended {
		p := f.calledPeer(modern(mirrorTool), replies{"tools/list": list(plainTool)})
		end := f.call("t", "owner=octocat", "--recheck")
		if len(p.requests("tools/call")) != 0 {
			f.Error("the call was sent all the same")
		}
		return end
	}},
	{"HTTP-02", "tool name", 0, "", func(f *field) ended {
		p := f.serve(modern(`{"name":"zoek/café","inputSchema":{"type":"object"}}`))
		f.http(p.url, "")
		f.pin("zoek/café")
		end := f.call("zoek/café")
		for _, r := range p.requests("tools/call") {
			if got := r.header.Get("Mcp-Name"); got != "=?base64?em9lay9jYWbDqQ==?=" {
				f.Errorf("Mcp-Name is %q", got)
			}
		}
		return end
	}},
	{"HTTP-02", "line break", 0, "", mirrors("a\r\nX-Evil: 1", "=?base64?YQ0KWC1FdmlsOiAx?=")},
	{"HTTP-02", "sentinel", 0, "", mirrors("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?=")},
	{"HTTP-02", "blanks", 0, "", mirrors(" a ", "=?base64?IGEg?=")},
	{"HTTP-03", "200 of every request", 5, "transport.content_type", discoverAgainst(
		replies{"POST /mcp": status(200, "text/html; charset=utf-8", "<html>"+prose)}, handshake)},
	{"HTTP-03", "200", 5, "transport.content_type", lists(status(200, "text/html; charset=utf-8", "<html>"+prose))},
	{"HTTP-03", "502", 5, "transport.status", lists(rawFile("http/html-502.http"))},
	{"HTTP-04", "list begins again", 0, "", func(f *field) ended {
		p := f.serve(legacy().with(replies{
			"tools/list": oneByOne(rawFile("http/session-404.http"), list(plainTool)),
			"initialize": oneByOne(initialized("2025-11-25", "Mcp-Session-Id: abc"),
				initialized("2025-11-25", "Mcp-Session-Id: def")),
		}))
		f.http(p.url, "")
		end := f.run("discover", "s")
		for _, r := range p.requests("initialize") {
			if r.header.Get("Mcp-Session-Id") != "" {
				f.Error("the dead session id is attached to initialize")
			}
		}
		if r := p.requests("tools/list"); len(r) != 2 || r[1].header.Get("Mcp-Session-Id") != "def" {
			f.Errorf("heard %s", p.said())
		}
		return end
	}},
	{"HTTP-04", "list twice", 5, "transport.session_lost", func(f *field) ended {
		p := f.serve(legacy().with(replies{"tools/list": rawFile("http/session-404.http")}))
		f.http(p.url, "")
		return f.run("discover", "s")
	}},
	{"HTTP-04", "call", 5, "transport.session_lost", func(f *field) ended {
		p := f.calledPeer(legacy(), replies{"tools/call": rawFile("http/session-404.http")})
		end := f.call("t")
		if len(p.requests("tools/call")) != 1 {
			f.Errorf("heard %s", p.said())
		}
		return end
	}},
	{"HTTP-05", "list", 5, "transport.session_lost", func(f *field) ended {
		p := f.serve(legacy().with(replies{"tools/list": rawFile("http/session-400.http")}))
		f.http(p.url, "")
		end := f.run("discover", "s")
		p.wantSaid(wholeLegacyButDelete + " DELETE /mcp")
		return end
	}},
	{"HTTP-05", "call", 5, "transport.session_lost", calling(legacy(),
		replies{"tools/call": rawFile("http/session-400.http")})},
	{"HTTP-07", "301", 5, "transport.redirect", redirected(301)},
	{"HTTP-07", "302", 5, "transport.redirect", redirected(302)},
	{"HTTP-07", "303", 5, "transport.redirect", redirected(303)},
	{"HTTP-07", "308", 5, "transport.redirect", redirected(308)},
	{"HTTP-08", "what is sent", 0, "", func(f *field) ended {
		p := f.calledPeer(modern(), nil)
		end := f.call("t")
		for _, r := range p.requests("tools/call") {
			if got := r.header["Accept"]; len(got) != 1 || got[0] != "application/json, text/event-stream" {
				f.Errorf("Accept is %q", got)
			}
		}
		return end
	}},
	{"HTTP-08", "406", 5, "protocol.error", callAnswered(rawFile("http/discover-406-stringid.http"))},
	{"HTTP-08", "406 of every request", 5, "protocol.error", discoverAgainst(
		replies{"POST /mcp": rawFile("http/discover-406-stringid.http")}, handshake)},
	{"HTTP-09", "", 0, "", func(f *field) ended {
		p := f.calledPeer(modern(), replies{"tools/call": status(200, `Application/JSON;charset="UTF-8"`, resultEvent)})
		end := f.call("t")
		for _, r := range p.requests("tools/call") {
			if got := r.header["Content-Type"]; len(got) != 1 || got[0] != "application/json" {
				f.Errorf("Content-Type is %q", got)
			}
		}
		return end
	}},
	{"HTTP-10", "the same twice", 0, "", callAnswered(status(200, "application/json, application/json", resultEvent))},
	{"HTTP-10", "two that differ", 5, "transport.content_type", callAnswered(
		status(200, "application/json, text/html", resultEvent))},
	{"HTTP-11", "204", 0, "", initializedWith(status(204, "", ""))},
	{"HTTP-11", "200 empty", 0, "", initializedWith(document(""))},
	{"HTTP-11", "200 null", 0, "", initializedWith(document("null"))},
	{"HTTP-11", "200 object", 0, "", initializedWith(document("{}"))},
	{"HTTP-11", "200 id null", 0, "", initializedWith(document(`{"jsonrpc":"2.0","id":null}`))},
	{"HTTP-11", "400", 5, "protocol.notification_refused", initializedWith(status(400, "text/plain", prose))},
	{"HTTP-12", "stream", 0, "", callAnswered(stream("data: " + strayNote + "\n\ndata: " + resultEvent + "\n\ndata: " +
		strayNote + "\n\n"))},
	{"HTTP-12", "legacy stream", 0, "", calling(legacy(), replies{"tools/call": stream(
		"data: " + strayNote + "\n\ndata: " + resultEvent + "\n\n")})},
	{"HTTP-13", "504", 5, "transport.outcome_unknown", func(f *field) ended {
		p := f.calledPeer(modern(), replies{"tools/call": status(504, "text/html", "<html>"+prose, "Retry-After: 7")})
		end := f.call("t")
		p.wantSaid("tools/call")
		f.wantDetail(end, "status", 504)
		f.wantDetail(end, "retry_after", 7)
		return end
	}},
	{"HTTP-13", "reset after the header", 5, "transport.outcome_unknown", callAnswered(
		reset("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"))},
	{"HTTP-13", "reset before the header", 5, "transport.outcome_unknown", callAnswered(reset(""))},
	{"HTTP-14", "json", 5, "protocol.batch", callAnswered(rawFile("http/batch-array.http"))},
	{"HTTP-14", "stream", 5, "protocol.batch", callAnswered(stream("data: [" + resultEvent + "]\n\n"))},
	{"HTTP-14", "legacy", 5, "protocol.batch", calling(legacy(), replies{"tools/call": rawFile("http/batch-array.http")})},
	{"HTTP-14", "stdio", 5, "protocol.batch", func(f *field) ended {
		f.child(modernChild().with("tools/call", "out ["+resultEvent+"]\n"), nil, "")
		f.pin("t")
		return f.call("t")
	}},
	{"HTTP-14", "stdio before the negotiation", 5, "protocol.batch", func(f *field) ended {
		f.child(modernChild().with("server/discover",
			`out [{"jsonrpc":"2.0","id":$ID,"result":`+discoverBody+"}]\n"), nil, "")
		return f.run("discover", "s")
	}},
	{"HTTP-16", "frame", 5, "protocol.frame", callAnswered(document(
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"result":` + okText + `}`))},
	{"HTTP-16", "descriptor", 5, "protocol.frame", lists(list(
		`{"name":"safe","Name":"evil","name":"evil2","inputSchema":{"type":"object"}}`))},
	{"HTTP-16", "case is no folding", 0, "", func(f *field) ended {
		p := f.serve(modern(`{"name":"safe","Name":"evil","inputSchema":{"type":"object"}}`))
		f.http(p.url, "")
		end := f.run("discover", "s")
		f.want("stdout", end.stdout, `"name":"safe","digest"`)
		return end
	}},
	{"HTTP-16", "authority", 3, "authority.invalid", func(f *field) ended {
		f.calledPeer(modern(), nil)
		text := f.read("authority.json")
		f.write("authority.json", strings.Replace(text, `"tools"`, `"tools":{},"tools"`, 1))
		return f.call("t")
	}},
	{"HTTP-16", "configuration", 2, "config.duplicate_member", func(f *field) ended {
		f.config(`{"http":{"url":"https://h.example/a","url":"https://h.example/b"}}`)
		return f.run("discover", "s")
	}},
	{"HTTP-16", "snapshot", 3, "snapshot.altered", func(f *field) ended {
		f.calledPeer(modern(), nil)
		f.editSnapshot(`"protocol":`, `"protocol":"2026-07-28","protocol":`)
		return f.call("t")
	}},
	{"HTTP-17", "every leg by the proxy, with the private CA", 0, "", throughProxy(true)},
	{"HTTP-17", "without the CA", 5, "transport.tls", throughProxy(false)},
}

const wholeLegacyButDelete = "server/discover initialize notifications/initialized tools/list"

// redirected is an endpoint that sends the client elsewhere.
func redirected(code int) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(replies{
			"POST /mcp":  status(code, "", "", "Location: $ORIGIN/mcp/"),
			"POST /mcp/": result(discoverBody), "GET /mcp/": status(200, "text/html", prose),
		})
		f.http(p.url, "")
		end := f.run("discover", "s")
		if len(p.requests("POST /mcp/"))+len(p.requests("GET /mcp/")) != 0 {
			f.Error("the redirect was followed")
		}
		f.wantDetail(end, "status", code)
		f.wantDetail(end, "difference", "only by a trailing slash")
		return end
	}
}

// initializedWith is a legacy server that answers the notification in its own way.
func initializedWith(say reply) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(legacy().with(replies{"notifications/initialized": say}))
		f.http(p.url, "")
		return f.run("discover", "s")
	}
}
