package main

import (
	"strings"
	"testing"
	"time"
)

func TestFieldNegotiate(t *testing.T) { walk(t, negotiateCases) }

// discoverAgainst discovers a peer with these replies and wants it to have heard just these methods.
func discoverAgainst(answers replies, said string) func(*field) ended {
	return func(f *field) ended {
		p := f.serve(answers)
		f.http(p.url, "")
		end := f.run("discover", "s")
		p.wantSaid(said)
		return end
	}
}

// legacyAfter is a legacy server that answers server/discover in its own way.
func legacyAfter(say reply) replies { return legacy().with(replies{"server/discover": say}) }

const (
	wholeLegacy = "server/discover initialize notifications/initialized tools/list DELETE /mcp"
	handshake   = "server/discover initialize"
)

var negotiateCases = []fieldCase{
	{"NEG-01", "404 text", 0, "", discoverAgainst(legacyAfter(rawFile("http/discover-404-text.http")), wholeLegacy)},
	{"NEG-01", "405 text", 0, "", discoverAgainst(legacyAfter(status(405, "text/plain", prose)), wholeLegacy)},
	{"NEG-01", "400 empty", 0, "", discoverAgainst(legacyAfter(status(400, "", "")), wholeLegacy)},
	{"NEG-01", "401 is no evidence", 4, "oauth.login_required", discoverAgainst(
		legacyAfter(rawFile("http/401-none.http")), "server/discover")},
	{"NEG-01", "503 is no evidence", 5, "transport.status", discoverAgainst(
		legacyAfter(status(503, "text/plain", prose)), "server/discover")},
	{"NEG-02", "200", 0, "", discoverAgainst(legacyAfter(rawFile("http/discover-200-32601.http")), wholeLegacy)},
	{"NEG-04", "-32000", 0, "", discoverAgainst(
		legacyAfter(rawFile("http/discover-400-idnull-version.http")), wholeLegacy)},
	{"NEG-04", "-32600", 0, "", discoverAgainst(legacyAfter(status(400, "application/json",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"`+prose+`"}}`)), wholeLegacy)},
	{"NEG-05", "exits once", 0, "", func(f *field) ended {
		f.child(legacyChild().with("server/discover", "die 1"), nil, "")
		end := f.run("discover", "s")
		if n := strings.Count(f.heardByChild(), `"server/discover"`); n != 1 {
			f.Errorf("probed %d times", n)
		}
		return end
	}},
	{"NEG-05", "exits at initialize too", 5, "transport.exited", func(f *field) ended {
		f.child(legacyChild().with("server/discover", "exit 1").with("initialize", "exit 7"), nil, "")
		end := f.run("discover", "s")
		f.wantDetail(end, "exit", 7)
		return end
	}},
	{"NEG-06", "", 0, "", func(f *field) ended {
		f.child(legacyChild().with("server/discover"), nil, `"limits":{"probe_ms":200}`)
		end := f.run("discover", "s")
		if n := f.children(); n != 1 {
			f.Errorf("%d children, want the one that was asked", n)
		}
		return end
	}},
	{"NEG-06", "silent for good", 5, "limit.deadline_start", func(f *field) ended {
		f.child(childScript{"server/discover": {}, "initialize": {}}, nil, `"limits":{"probe_ms":100,"start_ms":400}`)
		return f.run("discover", "s")
	}},
	{"NEG-08", "lists what it refused", 0, "", discoverAgainst(
		legacyAfter(rawFile("http/discover-400-32022-legacy-list.http")),
		"server/discover server/discover initialize notifications/initialized tools/list DELETE /mcp")},
	{"NEG-08", "nothing in common", 5, "protocol.version", discoverAgainst(legacyAfter(status(400, "application/json",
		`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"`+prose+
			`","data":{"supported":["2027-01-01"]}}}`)), "server/discover")},
	{"NEG-08", "for ever", 5, "protocol.version", discoverAgainst(legacyAfter(status(400, "application/json",
		`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"`+prose+
			`","data":{"supported":["2026-07-28"]}}}`)), "server/discover server/discover")},
	{"NEG-09", "only the probe is refused", 0, "", discoverAgainst(
		legacyAfter(rawFile("http/403-bare.http")), wholeLegacy)},
	{"NEG-09", "everything is refused", 5, "transport.method_refused", discoverAgainst(
		replies{"POST /mcp": rawFile("http/403-bare.http")}, handshake)},
	{"NEG-10", "", 5, "transport.http_sse_unsupported", discoverAgainst(
		replies{"POST /mcp": rawFile("http/discover-405-idnull.http")}, handshake)},
	{"NEG-11", "", 0, "", discoverAgainst(legacyAfter(rawFile("http/discover-400-32004-draft.http")), wholeLegacy)},
	{"NEG-12", "", 5, "protocol.version", discoverAgainst(
		legacy().with(replies{"initialize": initialized("2026-07-28")}), handshake)},
	{"NEG-13", "legacy", 0, "", func(f *field) ended {
		p := f.serve(legacy())
		f.http(p.url, "")
		f.pin("t")
		end := f.call("t")
		for _, what := range []string{"notifications/initialized", "tools/list", "tools/call", "DELETE /mcp"} {
			for _, r := range p.requests(what) {
				if r.header.Get("Mcp-Session-Id") != "abc" || r.header.Get("Mcp-Protocol-Version") != "2025-11-25" {
					f.Errorf("%s has headers %v", what, r.header)
				}
			}
		}
		for _, r := range p.requests("initialize") {
			if r.header.Get("Mcp-Session-Id") != "" {
				f.Error("initialize carries a session id")
			}
		}
		if len(p.requests("DELETE /mcp")) != 2 {
			f.Errorf("heard %s", p.said())
		}
		return end
	}},
	{"NEG-13", "modern", 0, "", func(f *field) ended {
		p := f.serve(modern().with(replies{"server/discover": result(discoverBody, "Mcp-Session-Id: abc")}))
		f.http(p.url, "")
		f.pin("t")
		end := f.call("t")
		p.wantSaid("server/discover tools/list tools/call")
		for _, r := range append(p.requests("tools/list"), p.requests("tools/call")...) {
			if r.header.Get("Mcp-Session-Id") != "" || r.header.Get("Mcp-Protocol-Version") != "2026-07-28" {
				f.Errorf("%s has headers %v", r.rpc, r.header)
			}
		}
		return end
	}},
	{"NEG-14", "slow to start", 0, "", func(f *field) ended {
		f.child(modernChild().with(atStart, "wait 700"), nil, `"limits":{"probe_ms":200}`)
		end := f.run("discover", "s")
		if n := f.children(); n != 1 {
			f.Errorf("%d children, want one", n)
		}
		f.want("stdout", end.stdout, `"protocol":"2026-07-28"`)
		return end
	}},
	{"NEG-14", "pinned", 0, "", func(f *field) ended {
		f.child(legacyChild(), nil, `"protocol":"2025-11-25"`)
		end := f.run("discover", "s")
		if strings.Contains(f.heardByChild(), "server/discover") {
			f.Error("a pinned server was probed")
		}
		return end
	}},
	{"NEG-15", "not found", 5, "transport.command_not_found", func(f *field) ended {
		f.config(`{"stdio":{"command":["no-such-program-here"],"env":[]}}`)
		return f.run("discover", "s")
	}},
	{"NEG-15", "exited", 5, "transport.exited", func(f *field) ended {
		f.child(childScript{atStart: {"exit 3"}}, nil, "")
		return f.run("discover", "s")
	}},
	{"NEG-15", "start deadline", 5, "limit.deadline_start", func(f *field) ended {
		f.child(modernChild().with(atStart, "wait 20000"), nil, `"limits":{"probe_ms":100,"start_ms":300,"shutdown_ms":200}`)
		end := f.run("discover", "s")
		f.wantDetail(end, "limit", 300)
		if end.took > 3*time.Second {
			f.Errorf("took %v", end.took)
		}
		return end
	}},
	{"NEG-15", "version", 5, "protocol.version", func(f *field) ended {
		f.child(legacyChild().with("initialize", says(`{"protocolVersion":"2024-11-05","capabilities":{}}`)...), nil, "")
		return f.run("discover", "s")
	}},
	{"NEG-16", "refused", 5, "protocol.version", func(f *field) ended {
		p := f.serve(legacy().with(replies{"initialize": initialized("2024-11-05")}))
		f.http(p.url, "")
		end := f.run("discover", "s")
		f.wantDetail(end, "versions", "[2024-11-05]")
		return end
	}},
	{"NEG-16", "accepted", 0, "", func(f *field) ended {
		p := f.serve(legacy().with(replies{"initialize": initialized("2024-11-05", "Mcp-Session-Id: abc")}))
		f.http(p.url, `"accept_protocols":["2024-11-05"]`)
		return f.run("discover", "s")
	}},
	{"NEG-16", "no version at all", 5, "protocol.version", discoverAgainst(
		legacy().with(replies{"initialize": initialized(prose)}), handshake)},
}
