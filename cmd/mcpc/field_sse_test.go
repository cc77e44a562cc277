package main

import (
	"os"
	"testing"
)

func TestFieldSSE(t *testing.T) { walk(t, sseCases) }

// streams is a modern server whose call is answered with that event stream.
func streams(body string) func(*field) ended { return callAnswered(stream(body)) }

// streamFile is a modern server whose call is answered with a captured event stream.
func streamFile(name, want string) func(*field) ended {
	return func(f *field) ended {
		f.calledPeer(modern(), replies{"tools/call": stream(withID(f.captured("sse/" + name)))})
		end := f.call("t")
		f.want("stdout", end.stdout, want)
		return end
	}
}

const streamHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

var cafeEvent = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"café"}]}}`

var sseCases = []fieldCase{
	{"SSE-01", "CRLF", 0, "", streamFile("crlf.sse", "café")},
	{"SSE-01", "CR", 0, "", streamFile("cr-only.sse", "café")},
	{"SSE-01", "mixed", 0, "", streams("event: message\r\ndata: " + resultEvent + "\n\r\n")},
	{"SSE-01", "byte order mark", 0, "", streamFile("bom.sse", "café")},
	{"SSE-02", "one byte at a time", 0, "", func(f *field) ended {
		f.calledPeer(modern(), replies{"tools/call": slowly(
			streamHeader + "event: message\r\ndata: " + cafeEvent + "\r\n\r\n")})
		end := f.call("t")
		f.want("stdout", end.stdout, "café")
		return end
	}},
	{"SSE-02", "a pair divided", 0, "", callAnswered(slowly(streamHeader + "data: {\r\ndata: \"jsonrpc\":\"2.0\",\r\n" +
		"data: \"id\":$ID,\"result\":" + okText + "}\r\n\r\n"))},
	{"SSE-03", "", 0, "", streamFile("multiline.sse", `{"content":[]}`)},
	{"SSE-03", "no response at all", 5, "transport.outcome_unknown", streams(": nothing\n\n")},
	{"SSE-03", "cut off in the response", 5, "transport.outcome_unknown", streams("data: {\"jsonrpc\":\"2.0\"")},
	{"SSE-05", "", 0, "", func(f *field) ended {
		f.calledPeer(legacy(), replies{
			"GET /mcp":   oneByOne(stream("event: ping\ndata:\n\n"), status(405, "", "")),
			"tools/call": stream(withID(f.captured("sse/comments-pings.sse"))),
		})
		return f.call("t")
	}},
	{"SSE-06", "", 0, "", func(f *field) ended {
		p := f.serve(legacy().with(replies{"GET /mcp": silent()}))
		f.http(p.url, "")
		f.pin("t")
		return f.call("t")
	}},
	{"SSE-07", "404", 5, "transport.http_sse_unsupported", discoverAgainst(replies{
		"GET /mcp": stream("event: endpoint\ndata: /messages?sessionId=1\n\n"),
	}, handshake)},
	{"SSE-07", "405", 5, "transport.http_sse_unsupported", discoverAgainst(replies{
		"POST /mcp": status(405, "text/plain", prose), "GET /mcp": stream("event: endpoint\ndata: /messages?sessionId=1\n\n"),
	}, handshake)},
	{"SSE-07", "in a stream", 5, "transport.outcome_unknown", func(f *field) ended {
		f.calledPeer(modern(), replies{"tools/call": stream(f.captured("sse/endpoint-legacy.sse"))})
		return f.call("t")
	}},
}

// captured returns one of the files that the transport's own tests use too.
func (f *field) captured(name string) string {
	f.Helper()
	text, err := os.ReadFile(captured + name)
	f.must(err)
	return string(text)
}
