package transport

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/refusal"
)

var (
	echo   = &Request{Method: "tools/call", Params: []byte(`{"name":"echo"}`)}
	answer = `write {"jsonrpc":"2.0","id":1,"result":{}}\n`
)

// soon is the context of an exchange that is not meant to end by its deadline.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func failureOf(t *testing.T, err error, want *refusal.Entry) *Failure {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v, want a failure with %s", err, want.Name)
	}
	if f.Refusal.Entry() != want {
		t.Fatalf("%v, want %s", f.Refusal, want.Name)
	}
	return f
}

func TestStdioLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		steps   string
		strict  string // refusal where noise is refused, "" for success
		skip    string // and where it is skipped
		skipped int
	}{
		{"plain", answer, "", "", 0},
		{"crlf", "file testdata/stdio/crlf.ndjson", "", "", 0},
		{"trailing space", "file testdata/stdio/trailing-space.ndjson", "", "", 0},
		{"no final line end", `write {"jsonrpc":"2.0","id":1,"result":{}}`, "", "", 0},
		{"blank lines", `write \n\r\n  \n{"jsonrpc":"2.0","id":1,"result":{}}\n`, "", "", 0},
		{"notification first", `write {"jsonrpc":"2.0","method":"vendor/x"}\n` + "\n" + answer, "", "", 0},
		{"banner", "file testdata/stdio/banner.ndjson", "protocol.stdout_noise", "", 1},
		{"json log lines", "file testdata/stdio/json-log-lines.ndjson", "protocol.stdout_noise", "", 4},
		{"first run", "file testdata/stdio/npx-first-run.txt\n" + answer, "protocol.stdout_noise", "", 3},
		{"content length", "file testdata/stdio/content-length.txt", "protocol.stdout_noise", "", 1},
		{"json that mentions it", `write {"msg":{"jsonrpc":"2.0"}}\n` + "\n" + answer, "protocol.stdout_noise", "", 1},
		{"json array of no messages", "write [1,2]\\n\n" + answer, "protocol.stdout_noise", "", 1},
		{"scalar", "write 12\\n\n" + answer, "protocol.stdout_noise", "", 1},
		{"two on one line", "file testdata/stdio/two-on-one-line.ndjson", "protocol.stdout_noise", "protocol.stdout_noise", 0},
		{"pretty", "file testdata/stdio/pretty.ndjson", "protocol.stdout_noise", "transport.exited", 5},
		{"bom", `write \ufeff{"jsonrpc":"2.0","id":1,"result":{}}\n`, "protocol.frame", "protocol.frame", 0},
		{"duplicate", `write {"jsonrpc":"2.0","id":1,"id":1,"result":{}}\n`, "protocol.frame", "protocol.frame", 0},
		{"cut", `write {"jsonrpc":"2.0","id":1,"res\n`, "protocol.frame", "protocol.frame", 0},
		{"not utf-8", `write {"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}\n`, "protocol.frame", "protocol.frame", 0},
		{"wrong version", `write {"jsonrpc":"1.0","id":1,"result":{}}\n`, "protocol.message", "protocol.message", 0},
		{"result and error", `write {"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}\n`, "protocol.message", "protocol.message", 0},
		{"batch", `write [{"jsonrpc":"2.0","id":1,"result":{}}]\n`, "protocol.batch", "protocol.batch", 0},
		{"deep", `write {"jsonrpc":"2.0","id":1,"result":{"a":` + strings.Repeat("[", 200) + `\n`, "limit.depth", "limit.depth", 0},
		{"unknown id", `write {"jsonrpc":"2.0","id":2,"result":{}}\n`, "protocol.id", "protocol.id", 0},
		{"string id", `write {"jsonrpc":"2.0","id":"1","result":{}}\n`, "protocol.id", "protocol.id", 0},
		{"cut by the end", `write {"jsonrpc":"2.0","id":1,"res`, "transport.exited", "transport.exited", 0},
		{"nothing", "#", "transport.exited", "transport.exited", 0},
	}
	ending := map[string]bool{
		"no final line end": true, "content length": true, "pretty": true, "cut by the end": true, "nothing": true,
	}
	for _, test := range tests {
		for _, skip := range []bool{false, true} {
			t.Run(test.name+" "+strconv.FormatBool(skip), func(t *testing.T) {
				t.Parallel()
				// Where the end of the stream matters the server ends, and else it waits for the end of its input.
				steps := []string{"read", test.steps, "eof"}
				if ending[test.name] {
					steps = steps[:2]
				}
				o := fakeOptions(t, steps...)
				o.Server.Stdio.SkipNoise = skip
				s := dialFake(t, o)
				response, err := s.Exchange(soon(t), echo, nil)
				want, skipped := test.strict, 0
				if skip {
					want, skipped = test.skip, test.skipped
				}
				checkOutcome(t, response, err, want)
				if s.Skipped() != skipped {
					t.Errorf("skipped %d, want %d", s.Skipped(), skipped)
				}
			})
		}
	}
}

func checkOutcome(t *testing.T, response *Response, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil || string(response.Result) != "{}" {
			t.Fatalf("%v %v", response, err)
		}
		return
	}
	no, ok := refusal.As(err)
	if !ok || no.Name() != want || response != nil {
		t.Fatalf("%v %v, want %s", response, err, want)
	}
}

func TestStdioNoisePlace(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", `write \n{"jsonrpc":"2.0","method":"n"}\nhello there  \r\n`, "eof"))
	_, err := s.Exchange(soon(t), echo, nil)
	f := failureOf(t, err, refusal.ProtocolStdoutNoise)
	if f.Refusal.Detail("line") != int64(3) || f.Refusal.Detail("bytes") != int64(11) || !f.Sent || f.Unusable {
		t.Errorf("%+v %v", f, f.Refusal)
	}
	if strings.Contains(err.Error(), "hello") {
		t.Error(err)
	}
}

func TestStdioSkippedLimit(t *testing.T) {
	t.Parallel()
	for lines, want := range map[int]string{2: "", 3: "", 4: "limit.skipped_lines"} {
		o := fakeOptions(t, "read", "write "+strings.Repeat(`noise\n`, lines), answer, "eof")
		o.Server.Stdio.SkipNoise, o.Server.Limits.SkippedLines = true, 3
		response, err := dialFake(t, o).Exchange(soon(t), echo, nil)
		checkOutcome(t, response, err, want)
	}
}

// The connection outlives a bad answer: the request is over, and the next one is on its own.
func TestStdioAfterRefusal(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", `write hello\n`, answer,
		"read", `write {"jsonrpc":"2.0","id":2,"result":{"n":2}}\n`, "eof"))
	_, err := s.Exchange(soon(t), echo, nil)
	failureOf(t, err, refusal.ProtocolStdoutNoise)
	response, err := s.Exchange(soon(t), echo, nil)
	if err != nil || string(response.Result) != `{"n":2}` {
		t.Fatalf("%v %v", response, err)
	}
}

// An answer that comes before its question is none, and the question is not sent later either.
func TestStdioAnswerBeforehand(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, answer, "read", "eof"))
	c := s.current()
	c.queue = []*outgoing{newOutgoing("", bytes.Repeat([]byte(" "), 1<<20))} // keeps the request waiting
	_, err := s.Exchange(soon(t), echo, nil)
	if f := failureOf(t, err, refusal.ProtocolID); f.Sent || len(c.queue) > 1 {
		t.Errorf("%+v, %d queued", f, len(c.queue))
	}
}

func TestStdioNotes(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", "notes 3", answer, "eof"))
	var got []string
	_, err := s.Exchange(soon(t), echo, func(n Notification) { got = append(got, n.Method) })
	if diff := cmp.Diff([]string{"n/0", "n/1", "n/2"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestStdioErrorAnswer(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read",
		`write {"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"secret words","data":[1]}}\n`, "eof"))
	response, err := s.Exchange(soon(t), echo, nil)
	if err != nil || response.Err.Code != -32601 || string(response.Err.Data) != "[1]" || response.Status != 0 {
		t.Errorf("%+v %v", response, err)
	}
}

// RES-10: a request of the server's is answered at once, though its id is that of the request in flight.
func TestStdioServerRequests(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t,
		`expect {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
		`write {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n`,
		`expect {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`,
		`write {"jsonrpc":"2.0","id":"p","method":"ping"}\n`,
		`expect {"jsonrpc":"2.0","id":"p","result":{}}`,
		`write {"jsonrpc":"2.0","id":2,"method":"vendor/x"}\n`,
		`expect "id":2,"error"`,
		answer, "eof"))
	s.Use(Protocol{Version: Legacy, Legacy: true})
	if _, err := s.Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"roots/list", ""}, s.Asked()); diff != "" {
		t.Error(diff)
	}
}

func TestStdioServerRequestModern(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", `write {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n`, "eof"))
	s.Use(Protocol{Version: Modern})
	_, err := s.Exchange(soon(t), echo, nil)
	failureOf(t, err, refusal.ProtocolServerRequest)
}

func TestStdioNotify(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, `expect {"jsonrpc":"2.0","method":"notifications/initialized"}`, "read", answer, "eof"))
	if err := s.Notify(soon(t), &Request{Method: "notifications/initialized"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
}

func TestStdioExit(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "read", "exit 7")
	o.Server.Stdio.Env = append(o.Server.Stdio.Env, "PATH")
	_, err := dialFake(t, o).Exchange(soon(t), echo, nil)
	f := failureOf(t, err, refusal.TransportExited)
	if f.Refusal.Detail("exit") != int64(7) || f.Refusal.Detail("method") != "tools/call" || !f.Exited || !f.Sent || f.Cause != CauseExited {
		t.Errorf("%+v %v", f, f.Refusal)
	}
	if diff := cmp.Diff(o.Server.Stdio.Env, f.Refusal.Detail("inherited")); diff != "" {
		t.Error(diff)
	}
}

// A server that exits before it reads anything is seen as gone, not as a broken pipe.
func TestStdioExitAtOnce(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "exit 3"))
	<-s.current().exited
	_, err := s.Exchange(soon(t), echo, nil)
	f := failureOf(t, err, refusal.TransportExited)
	if f.Refusal.Detail("exit") != int64(3) || f.Sent {
		t.Errorf("%+v %v", f, f.Refusal)
	}
	if err := s.Notify(soon(t), echo); !refusal.Is(err, refusal.TransportExited) {
		t.Error(err)
	}
}

func TestStdioStdoutClosed(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", "close-stdout", "eof"))
	_, err := s.Exchange(soon(t), echo, nil)
	if f := failureOf(t, err, refusal.TransportClosed); f.Cause != CauseConnection || f.Exited {
		t.Errorf("%+v", f)
	}
}

func TestStdioStdinClosed(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "read", "close-stdin", answer, "hang")
	o.Server.Limits.Shutdown = 100 * time.Millisecond
	s := dialFake(t, o)
	if _, err := s.Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
	_, err := s.Exchange(soon(t), echo, nil)
	if f := failureOf(t, err, refusal.TransportClosed); f.Cause != CauseConnection || f.Exited || f.Sent {
		t.Errorf("%+v", f)
	}
}

func TestStdioRestart(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, `expect "id":1,`, answer, "read", `write {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n`, "exit 1"))
	for range 3 {
		if _, err := s.Exchange(soon(t), echo, nil); err != nil {
			t.Fatal(err)
		}
		_, err := s.Exchange(soon(t), echo, nil)
		failureOf(t, err, refusal.TransportExited)
		if len(s.Asked()) != 1 {
			t.Error(s.Asked())
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.Asked()) != 0 {
			t.Error(s.Asked())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failureOf(t, s.Restart(ctx), refusal.Interrupted)
}

func TestStdioRestartAfterClose(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "eof"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	failureOf(t, s.Restart(t.Context()), refusal.Interrupted)
	if s.current().exitedWithin(time.Second) == false {
		t.Error("a child is left")
	}
}

func TestStdioTrace(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	o := fakeOptions(t, "read", `write {"jsonrpc":"2.0","method":"n"}\nnoise\n`, answer, "eof")
	o.Server.Stdio.SkipNoise = true
	o.Trace = NewTrace(&b, func() time.Time { return time.Time{} })
	if _, err := dialFake(t, o).Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
	const at = `{"time":"0001-01-01T00:00:00Z","direction":`
	want := at + `"sent","method":"tools/call","bytes":71,"frame":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}}
` + at + `"received","method":"n","bytes":30,"frame":{"jsonrpc":"2.0","method":"n"}}
` + at + `"received","method":"tools/call","bytes":5,"unparsed":true}
` + at + `"received","method":"tools/call","bytes":36,"frame":{"jsonrpc":"2.0","id":1,"result":{}}}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
