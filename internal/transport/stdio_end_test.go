package transport

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpc/internal/refusal"
)

// orphanage listens for the processes of one test: each holds a connection as long as it lives.
type orphanage struct {
	t     *testing.T
	ln    net.Listener
	conns []net.Conn
}

func newOrphanage(t *testing.T) *orphanage {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return &orphanage{t: t, ln: ln}
}

func (o *orphanage) step(verb string) string { return verb + " " + o.ln.Addr().String() }

// arrive waits until n processes are there.
func (o *orphanage) arrive(n int) {
	o.t.Helper()
	for range n {
		_ = o.ln.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
		c, err := o.ln.Accept()
		if err != nil {
			o.t.Fatal(err)
		}
		o.t.Cleanup(func() { _ = c.Close() })
		o.conns = append(o.conns, c)
	}
}

// empty fails the test unless every process is gone.
func (o *orphanage) empty() {
	o.t.Helper()
	for i, c := range o.conns {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, err := c.Read(make([]byte, 1))
		if timeout, ok := errors.AsType[net.Error](err); err == nil || (ok && timeout.Timeout()) {
			o.t.Errorf("process %d survives", i)
		}
	}
}

// TERM-06: however an exchange went, Close leaves no process behind, not even a grandchild that ignores SIGTERM and
// holds the pipes.
func TestStdioNoSurvivors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		steps []string
		want  *refusal.Entry
	}{
		{"success", []string{answer, "eof"}, nil},
		{"success, hangs", []string{answer, "hang"}, nil},
		{"success, ignores everything", []string{"ignore-term", answer, "hang"}, nil},
		{"noise", []string{`write hello\n`, "hang"}, refusal.ProtocolStdoutNoise},
		{"flood", []string{"ignore-term", "flood"}, refusal.LimitFrame},
		{"no answer", []string{"hang"}, refusal.DeadlineStart},
		{"exit", []string{"exit 1"}, refusal.TransportExited},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := newOrphanage(t)
			steps := append([]string{home.step("connect"), home.step("orphan"), "read"}, test.steps...)
			o := fakeOptions(t, steps...)
			o.Server.Limits.Shutdown, o.Server.Limits.FrameBytes = 300*time.Millisecond, 1<<20
			s := dialFake(t, o)
			home.arrive(2)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if test.want == refusal.DeadlineStart {
				ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
			}
			defer cancel()
			_, err := s.Exchange(ctx, echo, nil)
			if test.want == nil && err != nil {
				t.Error(err)
			} else if test.want != nil {
				failureOf(t, err, test.want)
			}
			start := time.Now()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("closing took %v", took)
			}
			home.empty()
		})
	}
}

// A server that exits at the end of its input costs no part of the shutdown limit.
func TestStdioCloseIsPrompt(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "read", answer, "eof")
	o.Server.Limits.Shutdown = time.Minute
	s := dialFake(t, o)
	if _, err := s.Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := s.Close(); err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if state := s.current().cmd.ProcessState; !state.Success() {
		t.Error(state)
	}
}

// A server that is still writing when it is to end can finish, and sees the end of its input.
func TestStdioCloseWhileWriting(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "read", "notes 5000", "eof")
	o.Server.Limits.Shutdown, o.Server.Limits.Events = time.Minute, 1
	s := dialFake(t, o)
	_, err := s.Exchange(soon(t), echo, nil)
	failureOf(t, err, refusal.LimitEvents)
	start := time.Now()
	if err := s.Close(); err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if state := s.current().cmd.ProcessState; !state.Success() {
		t.Error(state)
	}
}

func TestStdioCloseConcurrently(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "hang")
	o.Server.Limits.Shutdown = 100 * time.Millisecond
	s := dialFake(t, o)
	failed := make(chan error, 1)
	go func() {
		_, err := s.Exchange(context.Background(), echo, nil)
		failed <- err
	}()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			select {
			case <-s.current().exited:
			default:
				t.Error("Close returned before the end")
			}
		})
	}
	wg.Wait()
	failureOf(t, <-failed, refusal.Interrupted)
	_, err := s.Exchange(soon(t), echo, nil)
	failureOf(t, err, refusal.Interrupted)
	failureOf(t, s.Notify(soon(t), echo), refusal.Interrupted)
}

func TestStdioDeadline(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", answer, "eof"))
	if _, err := s.Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Exchange(ctx, echo, nil)
	f := failureOf(t, err, refusal.DeadlineRequest)
	if f.Cause != CauseDeadline || !f.Sent || f.Refusal.Detail("method") != "tools/call" {
		t.Errorf("%+v %v", f, f.Refusal)
	}
	if limit := f.Refusal.Detail("limit").(int64); limit < 1 || limit > 50 {
		t.Errorf("limit %d", limit)
	}
}

// A request given up is cancelled, its late answer is no fault, and the next request has its own answer.
func TestStdioCancel(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", `write {"jsonrpc":"2.0","method":"n"}\n`,
		`expect {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`write {"jsonrpc":"2.0","id":1,"result":{"late":true}}\n`,
		`expect "id":2`, `write {"jsonrpc":"2.0","id":2,"result":{"n":2}}\n`, "eof"))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Exchange(ctx, echo, func(Notification) { cancel() })
	f := failureOf(t, err, refusal.Interrupted)
	if f.Cause != CauseInterrupted || !f.Sent {
		t.Errorf("%+v", f)
	}
	response, err := s.Exchange(soon(t), echo, nil)
	if err != nil || string(response.Result) != `{"n":2}` {
		t.Fatalf("%v %v", response, err)
	}
	if late, ok := s.Late("tools/call"); !ok || string(late.Result) != `{"late":true}` {
		t.Errorf("%v %v", late, ok)
	}
	if _, ok := s.Late("server/discover"); ok {
		t.Error("an answer to nothing")
	}
}

// The legacy protocol forbids cancelling initialize.
func TestStdioCancelInitialize(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "read", `write {"jsonrpc":"2.0","method":"n"}\n`,
		`expect "id":2`, `write {"jsonrpc":"2.0","id":2,"result":{}}\n`, "eof"))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Exchange(ctx, &Request{Method: "initialize"}, func(Notification) { cancel() })
	failureOf(t, err, refusal.Interrupted)
	if _, err := s.Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
}

func TestStdioContextEndedBefore(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, `expect "id":2`, `write {"jsonrpc":"2.0","id":2,"result":{}}\n`, "eof"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Exchange(ctx, echo, nil)
	if f := failureOf(t, err, refusal.Interrupted); f.Sent {
		t.Errorf("%+v", f)
	}
	if _, err := s.Exchange(soon(t), echo, nil); err != nil {
		t.Fatal(err)
	}
}

func bigRequest(n int) *Request {
	return &Request{Method: "tools/call", Params: []byte(`{"a":"` + strings.Repeat("x", n) + `"}`)}
}

func TestStdioNeverReads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		deadline time.Duration // of the caller
		request  time.Duration // the limit on a write
		want     *refusal.Entry
		cause    string
	}{
		{"caller", time.Second, time.Minute, refusal.TransportStalled, CauseDeadline},
		{"limit", time.Minute, time.Second, refusal.TransportStalled, CauseDeadline},
		{"interrupted", 0, time.Minute, refusal.Interrupted, CauseInterrupted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := fakeOptions(t, `write {"jsonrpc":"2.0","method":"n"}\n`, "hang")
			o.Server.Limits.Request, o.Server.Limits.Shutdown = test.request, 200*time.Millisecond
			s := dialFake(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.deadline > 0 {
				ctx, cancel = context.WithTimeout(ctx, test.deadline)
				defer cancel()
			}
			_, err := s.Exchange(ctx, bigRequest(1<<20), func(Notification) {
				if test.deadline == 0 {
					cancel()
				}
			})
			f := failureOf(t, err, test.want)
			if f.Cause != test.cause || (!f.Sent && test.deadline > 0) {
				t.Errorf("%+v", f)
			}
			// When the notification came first, nothing was written yet, and the stream is whole.
			if !f.Sent {
				return
			}
			if _, err := s.Exchange(soon(t), echo, nil); !refusal.Is(err, refusal.TransportClosed) {
				t.Errorf("half a line is followed by a request: %v", err)
			}
		})
	}
}

// A server that fills its stdout before it reads its stdin, and a request larger than the pipe.
func TestStdioBothWaysAtOnce(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "notes 5000", "read", answer, "eof"))
	n := 0
	if _, err := s.Exchange(soon(t), bigRequest(1<<20), func(Notification) { n++ }); err != nil || n != 5000 {
		t.Fatalf("%d notifications, %v", n, err)
	}
}

// STD-10: stderr never blocks the child, and its end is kept.
func TestStdioStderr(t *testing.T) {
	t.Parallel()
	for _, n := range []int{7, 99, 100, 101, 256 << 10} {
		o := fakeOptions(t, "stderr "+strconv.Itoa(n), "read", answer, "eof")
		o.Server.Limits.StderrBytes = 100
		s := dialFake(t, o)
		if _, err := s.Exchange(soon(t), echo, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		kept := string(s.Stderr())
		if len(kept) != min(n, 100) || !strings.HasSuffix(kept, "the end") {
			t.Errorf("of %d bytes %d are kept", n, len(kept))
		}
	}
}

func TestTailIsBounded(t *testing.T) {
	t.Parallel()
	kept := &tail{limit: 100}
	for range 1000 {
		_, _ = kept.Write([]byte(strings.Repeat("a", 99)))
		if len(kept.kept) > 200 {
			t.Fatalf("%d bytes kept", len(kept.kept))
		}
	}
}

// LIM-01: a frame of exactly the limit passes, one byte more is refused, and nothing is shortened.
func TestStdioFrameLimit(t *testing.T) {
	t.Parallel()
	const head, foot = `{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"`, `\"}}`
	for _, limit := range []int{65537, 1 << 20} {
		for _, extra := range []int{-1, 0, 1} {
			for _, end := range []string{`\n`, `\r\n`} {
				fill := limit + extra - len(head+foot) + strings.Count(head+foot, `\`)
				o := fakeOptions(t, "read", "write "+unescape(head), "fill "+strconv.Itoa(fill), "write "+unescape(foot)+end, "eof")
				o.Server.Limits.FrameBytes = int64(limit)
				response, err := dialFake(t, o).Exchange(soon(t), echo, nil)
				if extra <= 0 {
					if err != nil || len(response.Result) != fill+len(`{"a":""}`) {
						t.Fatalf("%d%+d: %v", limit, extra, err)
					}
					continue
				}
				f := failureOf(t, err, refusal.LimitFrame)
				if f.Refusal.Detail("limit") != int64(limit) || f.Cause != "" {
					t.Errorf("%+v", f)
				}
			}
		}
	}
}

func unescape(s string) string { return strings.ReplaceAll(s, `\"`, `"`) }

func TestStdioEndlessLine(t *testing.T) {
	t.Parallel()
	s := dialFake(t, fakeOptions(t, "ignore-term", "read", "flood"))
	_, err := s.Exchange(soon(t), echo, nil)
	failureOf(t, err, refusal.LimitFrame)
	if !s.current().exitedWithin(10 * time.Second) {
		t.Error("the child goes on")
	}
}

func TestStdioEvents(t *testing.T) {
	t.Parallel()
	for notes, want := range map[int]string{8: "", 9: "", 10: "limit.events", 100000: "limit.events"} {
		o := fakeOptions(t, "read", "notes "+strconv.Itoa(notes), answer, "eof")
		o.Server.Limits.Events = 10
		response, err := dialFake(t, o).Exchange(soon(t), echo, nil)
		checkOutcome(t, response, err, want)
	}
}
