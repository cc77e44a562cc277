package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"mcpc/internal/config"
)

// padded puts as many letters in place of the mark $X as make the text n bytes long.
func padded(text string, n int64) string {
	return strings.Replace(text, "$X", strings.Repeat("x", int(n)-len(text)+len("$X")), 1)
}

// head is the part before the mark, with which a text without end begins.
func head(text string) string { return text[:strings.Index(text, "$X")] }

// jsonHeader begins a body whose length nobody says.
const jsonHeader = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"

// flood sends a text and then another without end.
func flood(first, again string) reply {
	again = strings.Repeat(again, 1+(64<<10)/len(again))
	return func(p *peer, c net.Conn, r *request) {
		_, err := io.WriteString(c, p.fill(first, r))
		for err == nil {
			_, err = io.WriteString(c, again)
		}
	}
}

// frameOf is an answer whose frame, or whose result, has n bytes.
func frameOf(text string, n int64) reply {
	return func(p *peer, c net.Conn, r *request) {
		text := p.fill(text, r)
		if n == endless {
			flood(jsonHeader+head(text), "x")(p, c, r)
			return
		}
		document(padded(text, n))(p, c, r)
	}
}

func eventOf(text string, n int64) reply {
	return func(p *peer, c net.Conn, r *request) {
		text := p.fill(text, r)
		if n == endless {
			flood(streamHeader+"data: "+head(text), "x")(p, c, r)
			return
		}
		stream("data: "+padded(text, n)+"\n\n")(p, c, r)
	}
}

// stepsOf are the steps of a child for the answer with the id 2, of n bytes.
func stepsOf(text string, n int64) []string {
	text = strings.ReplaceAll(text, "$ID", "1")
	if n == endless {
		return []string{"out " + head(text), "again x"}
	}
	return []string{"out " + padded(text, n) + "\n"}
}

// limited configures a server with these limits and calls its tool, or lists its tools where method is tools/list.
func (f *field) limited(carrier, limits, method string, http reply, stdio []string) ended {
	f.Helper()
	base := modern()
	if strings.HasPrefix(carrier, "legacy") {
		base = legacy()
	}
	if carrier == "stdio" {
		script := modernChild()
		if method == "tools/list" {
			script["tools/list"] = stdio
		} else {
			script["tools/call"] = stdio
		}
		f.child(script, nil, `"limits":{`+limits+`,"shutdown_ms":300}`)
	} else {
		f.http(f.serve(base.with(replies{method: http})).url, `"limits":{`+limits+`,"shutdown_ms":300}`)
	}
	if method == "tools/list" {
		return f.run("snapshot", "take", "s")
	}
	f.pin("t")
	return f.call("t")
}

const callFrame = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"$X"}]}}`

func playFrame(f *field, carrier, set string, _, n int64) ended {
	say := frameOf(callFrame, n)
	if carrier == "stream" {
		say = eventOf(callFrame, n)
	}
	return f.limited(carrier, set, "tools/call", say, stepsOf(callFrame, n))
}

// playResult makes the frame as much longer than its result as what is around it.
func playResult(f *field, carrier, set string, _, n int64) ended {
	if n != endless {
		n += int64(len(`{"jsonrpc":"2.0","id":1,"result":}`))
	}
	return playFrame(f, carrier, set+`,"frame_bytes":100000`, 0, n)
}

func playEvents(f *field, carrier, set string, _, n int64) ended {
	const note = `{"jsonrpc":"2.0","method":"notifications/x"}`
	event, line := "data: "+note+"\n\n", note+"\n"
	if n == endless {
		return f.limited(carrier, set, "tools/call", flood(streamHeader, event), []string{"again " + line})
	}
	before := int(n) - 1 // the response is a message too
	return f.limited(carrier, set, "tools/call",
		stream(strings.Repeat(event, before)+"data: "+resultEvent+"\n\n"),
		append([]string{"out " + strings.Repeat(line, before)}, says(okText)...))
}

func playDescriptor(f *field, carrier, set string, _, n int64) ended {
	tool := `{"name":"t","inputSchema":{},"description":"$X"}`
	frame := strings.Replace(`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[T]}}`, "T", tool, 1)
	if n != endless {
		n += int64(len(frame) - len(tool) - len("$ID") + len("2"))
	}
	return f.limited(carrier, set+`,"frame_bytes":100000`, "tools/list",
		frameOf(strings.Replace(frame, "$ID", "2", 1), n), stepsOf(strings.Replace(frame, "$ID", "2", 1), n))
}

// pagesOf answers tools/list with n pages, and for ever where n is endless.
func (f *field) pagesOf(carrier, limits string, n int64, page func(i int) string) ended {
	f.Helper()
	next := func(i int) string {
		if n != endless && int64(i) == n-1 {
			return ""
		}
		return fmt.Sprintf(`,"nextCursor":"p%d"`, i)
	}
	say := func(i int) string { return `{"tools":[` + page(i) + `]` + next(i) + `}` }
	var steps []string
	if carrier == "stdio" {
		steps = []string{"pages"}
		for i := range 200 {
			if n != endless && int64(i) >= n {
				break
			}
			steps = append(steps, say(i))
		}
	}
	return f.limited(carrier, limits, "tools/list", numbered(say), steps)
}

func playTools(f *field, carrier, set string, _, n int64) ended {
	return f.pagesOf(carrier, set, n, func(i int) string { return fmt.Sprintf(`{"name":"t%d","inputSchema":{}}`, i) })
}

func playPages(f *field, carrier, set string, _, n int64) ended {
	return f.pagesOf(carrier, set, n, func(int) string { return "" })
}

// playSnapshot finds out first how large the document is without its padding.
func playSnapshot(f *field, carrier, set string, _, n int64) ended {
	const some = `{"name":"t","inputSchema":{},"description":"$X"}`
	if n == endless {
		return f.pagesOf(carrier, set, n, func(i int) string {
			return fmt.Sprintf(`{"name":"t%d","inputSchema":{},"description":%q}`, i, strings.Repeat("x", 1000))
		})
	}
	list := func(padding int) ended {
		return f.pagesOf(carrier, set, 1, func(int) string {
			return strings.Replace(some, "$X", strings.Repeat("x", padding), 1)
		})
	}
	// One padding has as many digits as the other, since the document tells sizes.
	if end := list(10_000); end.exit != 0 {
		f.Fatal(end.stderr)
	}
	size := len(f.read(strings.TrimPrefix(f.snapshotFile(), f.home)))
	f.forgetSnapshots()
	return list(10_000 + int(n) - size)
}

func playCursor(f *field, carrier, set string, _, n int64) ended {
	const frame = `{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"$X"}}`
	last := `{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}`
	length := n
	if n != endless {
		length += int64(len(frame) - len("$X"))
	}
	steps := []string{"pages", `{"tools":[],"nextCursor":"` + strings.Repeat("x", max(0, int(n))) + `"}`, `{"tools":[]}`}
	if n == endless {
		steps = stepsOf(frame, n)
	}
	return f.limited(carrier, set+`,"frame_bytes":100000`, "tools/list",
		oneByOne(frameOf(frame, length), document(last)), steps)
}

// letters is stdin without an end.
type letters struct{ first io.Reader }

func (l letters) Read(b []byte) (int, error) {
	if n, err := l.first.Read(b); err == nil {
		return n, nil
	}
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func playArguments(f *field, carrier, set string, _, n int64) ended {
	const tool = `{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`
	if carrier == "stdio" {
		f.child(modernChild(tool), nil, `"limits":{`+set+`}`)
	} else {
		f.http(f.serve(modern(tool)).url, `"limits":{`+set+`}`)
	}
	f.pin("t")
	if n == endless {
		f.input = letters{strings.NewReader(`{"a":"`)}
		return f.call("t", "--args", "-")
	}
	return f.call("t", "--args", padded(`{"a":"$X"}`, n))
}

// nested is an array within n-1 others.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func playDepth(f *field, carrier, set string, _, n int64) ended {
	if n == endless {
		n = 30_000
	}
	deep := `{"content":[],"x":` + nested(int(n)-2) + `}` // within the frame and the result
	switch carrier {
	case "descriptor":
		// result, tools, descriptor, and the frame
		return f.limited("http", set, "tools/list", list(`{"name":"t","inputSchema":{},"x":`+nested(int(n)-4)+`}`), nil)
	case "metadata":
		w := f.world(replies{pathForm: document(strings.Replace(resourceOK, `{`, `{"x":`+nested(int(n)-1)+`,`, 1))}, nil)
		w.http(w.mcp.url, `"limits":{`+set+`}`)
		return w.login()
	case "token":
		w := f.world(nil, nil)
		w.http(w.mcp.url, `"limits":{`+set+`}`)
		w.as.change(replies{"POST /token": w.token(`{"access_token":"AT1","x":` + nested(int(n)-1) + `}`)})
		return w.login()
	case "stream":
		return f.limited(carrier, set, "tools/call", stream(`data: {"jsonrpc":"2.0","id":$ID,"result":`+deep+"}\n\n"), nil)
	}
	return f.limited(carrier, set, "tools/call", result(deep), says(deep))
}

// playDocument is about what an authorization server, or the metadata of the resource, says.
func playDocument(f *field, carrier, set string, _, n int64) ended {
	w := f.world(nil, nil)
	w.http(w.mcp.url, `"limits":{`+set+`}`)
	grow := func(say reply) reply { return grown(say, n) }
	switch carrier {
	case "resource":
		w.mcp.change(replies{pathForm: grow(document(resourceOK))})
	case "server":
		w.as.change(replies{serverForm: grow(serverDocument(`{}`))})
	case "registration":
		w.as.change(replies{"POST /register": grow(registers)})
	case "token":
		w.as.change(replies{"POST /token": grow(w.issues(3600))})
	case "refresh":
		w.signedIn()
		w.expire()
		w.as.change(replies{"POST /token": grow(w.issues(3600))})
		return w.run("discover", "s")
	}
	return w.login()
}

// grown makes the JSON object of a reply n bytes long by one member more.
func grown(say reply, n int64) reply {
	return func(p *peer, c net.Conn, r *request) {
		var kept sink
		say(p, &kept, r)
		_, body, _ := strings.Cut(kept.String(), "\r\n\r\n")
		text := `{"x":"$X",` + strings.TrimPrefix(body, "{")
		if n == endless {
			flood(jsonHeader+head(text), "x")(p, c, r)
			return
		}
		document(padded(text, n))(p, c, r)
	}
}

// sink is a connection that keeps what is written to it.
type sink struct {
	net.Conn
	strings.Builder
}

func (s *sink) Write(b []byte) (int, error) { return s.Builder.Write(b) }

func playHeaders(f *field, carrier, set string, _, n int64) ended {
	const headers = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Long: $X\r\n\r\n"
	say := func(body string) reply {
		if n == endless {
			return flood("HTTP/1.1 200 OK\r\n", "X-Long: x\r\n")
		}
		return raw(padded(headers, n) + body)
	}
	if carrier == "metadata" {
		w := f.world(replies{pathForm: say(resourceOK)}, nil)
		w.http(w.mcp.url, `"limits":{`+set+`}`)
		return w.login()
	}
	return f.limited(carrier, set, "tools/call", say(resultEvent), nil)
}

func playStderr(f *field, _, set string, limit, n int64) ended {
	script := modernChild()
	if n == endless {
		script["tools/list"] = append(script["tools/list"], "erragain e")
	} else {
		script[atStart] = []string{fmt.Sprintf("err %d", n)}
	}
	f.child(script, nil, `"limits":{`+set+`,"shutdown_ms":300}`)
	end := f.run("discover", "s", "--server-stderr")
	want := limit
	if n != endless {
		want = min(n, limit)
	}
	// The words around them have letters of that kind too, though never so many.
	if shown := int64(strings.Count(end.stderr, "e")); shown < want || shown > want+100 {
		f.Errorf("%d letters are shown, want %d", shown, want)
	}
	return end
}

func playNoise(f *field, _, set string, _, n int64) ended {
	script := modernChild()
	if n == endless {
		script[atStart] = []string{"again noise\n"}
	} else {
		script[atStart] = []string{"out " + strings.Repeat("noise\n", int(n))}
	}
	f.child(script, nil, `"limits":{`+set+`,"shutdown_ms":300}`)
	f.skipNoise()
	return f.run("discover", "s")
}

// TestLimitPlaysPad makes sure that the peers are as exact as the limits.
func TestLimitPlaysPad(t *testing.T) {
	t.Parallel()
	if got := padded("a$Xb", 10); len(got) != 10 || head("a$Xb") != "a" {
		t.Errorf("%q", got)
	}
	if l := config.DefaultLimits(); l.FrameBytes != 16<<20 {
		t.Errorf("%d", l.FrameBytes)
	}
}
