package negotiate

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// resume opens a session in a recorded protocol on a carrier whose script goes on after the opening.
func resume(t *testing.T, server *config.Server, protocol string, steps ...step) (*Session, *fakeCarrier) {
	t.Helper()
	if protocol != transport.Modern {
		opening := inits(`{"protocolVersion":"` + protocol + `","capabilities":{"tools":{"listChanged":true}}}`)
		steps = append([]step{opening}, steps...)
	}
	c := fake(t, steps...)
	s, err := Resume(t.Context(), c.dialer(), server, me, protocol)
	if err != nil {
		t.Fatal(err)
	}
	c.log, c.params = nil, nil
	return s, c
}

func called(raw string) step { return result("tools/call", raw) }

func sentThen(e *refusal.Entry, cause string, status int) step {
	f := failure(e, cause)
	f.Sent, f.Status = true, status
	return step{method: "tools/call", fail: f}
}

func asking(s step, methods ...string) step {
	s.asks = methods
	return s
}

func both(t *testing.T, test func(t *testing.T, server *config.Server, protocol string)) {
	for _, protocol := range []string{transport.Modern, transport.Legacy} {
		for kind, server := range map[string]*config.Server{"stdio": stdioServer(), "http": httpServer()} {
			t.Run(protocol+" "+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { test(t, server, protocol) })
			})
		}
	}
}

func unknown(cause string) string {
	return "transport.outcome_unknown: the call was sent and not answered (" + cause +
		"); whether it ran is unknown, and it is not sent again"
}

func notAdmitted(feature string) string {
	return "feature." + feature + ": " + feature + " is not admitted in 0.1; mcpc speaks tools/list and tools/call"
}

// Whatever comes back, tools/call is sent once: the script has one step for it, and a second is an error.
func TestCallOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		step step
		era  string // "" for both
		want string // refusal, or "" for a result
		exit int
		hint string
	}{
		{"a result", called(`{"content":[]}`), "", "", 0, ""},
		{"complete", called(`{"resultType":"complete","content":[]}`), "", "", 0, ""},
		{"no content", called(`{"toolResult":{}}`), "", "", 0, ""},
		{"a vendor's resultType before there is one", called(`{"resultType":"text"}`), transport.Legacy, "", 0, ""},
		{
			"an unknown resultType", called(`{"resultType":"partial"}`), transport.Modern,
			"protocol.result_type: the result has a resultType that 2026-07-28 does not define", 5, "may have run",
		},
		{
			"a resultType that is no string", called(`{"resultType":null}`), transport.Modern,
			"protocol.result_type: the result has a resultType that 2026-07-28 does not define", 5, "",
		},
		{
			"more input", called(`{"resultType":"input_required","inputRequests":{
				"a":{"method":"sampling/createMessage"},"b":{"method":"elicitation/create"},
				"c":{"method":"sampling/createMessage"}}}`), "",
			"feature.multi_round: the server asks for more input before it answers (sampling, elicitation); " +
				"multi-round results are not admitted in 0.1", 3, "",
		},
		{
			"more input of a kind that has no name here",
			called(`{"resultType":"input_required","inputRequests":{"a":{"method":"prose/\u001b[31m"},"b":7}}`), "",
			"feature.multi_round: the server asks for more input before it answers (something else); " +
				"multi-round results are not admitted in 0.1", 3, "",
		},
		{
			"another try", called(`{"resultType":"input_required","requestState":"x"}`), "",
			"feature.multi_round: the server asks for more input before it answers; " +
				"multi-round results are not admitted in 0.1", 3, "",
		},
		{
			"a task", called(`{"resultType":"task","taskId":"1"}`), "",
			notAdmitted("tasks"), 3, "",
		},
		{
			"a created task", called(`{"task":{"taskId":"1","status":"working"}}`), "",
			notAdmitted("tasks"), 3, "",
		},
		{"content about a task", called(`{"task":{"taskId":"1"},"content":[]}`), "", "", 0, ""},
		{
			"a JSON-RPC error", rpcError("tools/call", 0, -32602, ""), "",
			"protocol.error: the server answers tools/call with JSON-RPC error -32602", 5, "",
		},
		{
			"a JSON-RPC error with a status", rpcError("tools/call", 400, -32602, ""), "",
			"protocol.error: the server answers tools/call with JSON-RPC error -32602 (status 400)", 5, "",
		},
		{
			"a JSON-RPC error with 500", rpcError("tools/call", 500, -32603, ""), "",
			"protocol.error: the server answers tools/call with JSON-RPC error -32603 (status 500)", 5, "",
		},
		{
			"the method is gone", rpcError("tools/call", 404, -32601, ""), "",
			"protocol.error: the server answers tools/call with JSON-RPC error -32601 (status 404)", 5,
			"mcpc snapshot take docs",
		},
		{
			"the modern era is gone", status("tools/call", 400), "", "transport.status: HTTP status 400", 5,
			"mcpc snapshot take docs",
		},
		{
			"-32020", rpcError("tools/call", 400, -32020, ""), transport.Modern,
			"protocol.header_mismatch: the server refuses the Mcp-* headers of the call (JSON-RPC error -32020)", 5,
			"mcpc snapshot take docs",
		},
		{
			"-32020 means nothing there", rpcError("tools/call", 400, -32020, ""), transport.Legacy,
			"protocol.error: the server answers tools/call with JSON-RPC error -32020 (status 400)", 5, "",
		},
		{
			"-32021", rpcError("tools/call", 400, -32021, `{"requiredCapabilities":{"x":{},"roots":{}}}`), transport.Modern,
			notAdmitted("roots"), 3, "",
		},
		{
			"-32022", rpcError("tools/call", 400, -32022, `{"supported":["2027-01-01"]}`), transport.Modern,
			"protocol.version: no common protocol version; the server names 2027-01-01", 5, "mcpc snapshot take docs",
		},
		{
			"-32022 that lists ours", rpcError("tools/call", 400, -32022, `{"supported":["2026-07-28"]}`), transport.Modern,
			"protocol.version: no common protocol version; the server names 2026-07-28", 5, "mcpc snapshot take docs",
		},
		{
			"URL elicitation", rpcError("tools/call", 0, -32042, ""), "",
			notAdmitted("elicitation"), 3, "",
		},
		{"401", bearer("tools/call", 401), "", "oauth.login_required: sign-in is needed", 4, ""},
		{"403 with a challenge", bearer("tools/call", 403), "", "oauth.login_required: sign-in is needed", 4, ""},
		{
			"403 without", status("tools/call", 403), "",
			"transport.method_refused: the server refuses tools/call with status 403 and asks for no sign-in", 5, "",
		},
		{"429", rpcError("tools/call", 429, -32000, ""), "", "transport.status: HTTP status 429", 5, ""},
		{
			"HTTP-04 the session is lost", lost("tools/call", 404), transport.Legacy,
			"transport.session_lost: the server no longer knows the session (status 404)", 5, "run the command again",
		},
		{
			"HTTP-05 the session is lost", lost("tools/call", 400), transport.Legacy,
			"transport.session_lost: the server no longer knows the session (status 400)", 5, "run the command again",
		},
		{
			"a deadline", silent("tools/call"), "",
			unknown("deadline"), 5, "",
		},
		{
			"a deadline before it was sent",
			step{method: "tools/call", hang: true, unsent: true},
			"",
			"limit.deadline_call: the call was not answered in 300000 ms", 5, "",
		},
		{
			"the connection ends", sentThen(refusal.TransportClosed, transport.CauseConnection, 0), "",
			unknown("connection lost"), 5, "",
		},
		{
			"the child ends", sentThen(refusal.TransportExited, transport.CauseExited, 0), "",
			unknown("the server process ended"), 5, "",
		},
		{
			"a gateway", sentThen(refusal.TransportStatus, transport.CauseStatus, 504), "",
			unknown("gateway status"), 5, "",
		},
		{
			"a fault of the server", status("tools/call", 500), "",
			unknown("gateway status"), 5, "",
		},
		{
			"interrupted", sentThen(refusal.Interrupted, transport.CauseInterrupted, 0), "",
			unknown("interrupted"), 5, "",
		},
		{
			"interrupted before it was sent", unsentThen(refusal.Interrupted, transport.CauseInterrupted), "",
			"interrupted: interrupted by the user", 130, "",
		},
		{
			"no connection", unsentThen(refusal.TransportUnreachable, transport.CauseConnection), "",
			"transport.unreachable: cannot connect", 5, "",
		},
		{
			"not read", unsentThen(refusal.TransportStalled, transport.CauseDeadline), "",
			"transport.stalled: the server does not read its input", 5, "",
		},
		{
			"a page", unusable("tools/call", 200), "",
			"transport.content_type: the answer is neither application/json nor text/event-stream (status 200)",
			5, "may have run",
		},
		{
			"a message that is none", sentThen(refusal.ProtocolBatch, "", 200), "",
			"protocol.batch: the server sent a JSON array; batches are not part of the protocol", 5, "may have run",
		},
		{
			"RES-10 roots, then an error", asking(rpcError("tools/call", 0, -32603, ""), "roots/list"), transport.Legacy,
			notAdmitted("roots"), 3, "",
		},
		{
			"RES-10 sampling, then nothing", asking(silent("tools/call"), "sampling/createMessage"), transport.Legacy,
			notAdmitted("sampling"), 3, "not sent again",
		},
		{
			"RES-10 elicitation, then the end",
			asking(sentThen(refusal.TransportClosed, transport.CauseConnection, 200), "", "elicitation/create"),
			transport.Legacy,
			notAdmitted("elicitation"), 3, "not sent again",
		},
		{
			"something without a name, then an error", asking(rpcError("tools/call", 0, -32603, ""), ""), transport.Legacy,
			"feature.unknown: the server asked for something that mcpc does not admit, and the call failed", 3, "",
		},
		{
			"roots, then interrupted",
			asking(sentThen(refusal.Interrupted, transport.CauseInterrupted, 0), "roots/list"), transport.Legacy,
			unknown("interrupted"), 5, "",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, server *config.Server, protocol string) {
				if test.era != "" && protocol != test.era {
					return
				}
				s, c := resume(t, server, protocol, test.step)
				got, err := s.Call(t.Context(), Call{Tool: "weather"})
				checkCall(t, got, err, test.want, test.exit, test.hint)
				if diff := cmp.Diff([]string{"tools/call " + c.version()}, c.log); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func unsentThen(e *refusal.Entry, cause string) step {
	f := failure(e, cause)
	f.Sent = false
	return step{method: "tools/call", fail: f}
}

func checkCall(t *testing.T, got *Result, err error, want string, exit int, hint string) {
	t.Helper()
	if want == "" {
		if err != nil || got == nil {
			t.Errorf("%v, want a result", err)
		}
		return
	}
	no, ok := refusal.As(err)
	if !ok || got != nil {
		t.Fatalf("%v %v, want %s", got, err, want)
	}
	if no.Error() != want || no.ExitCode() != exit {
		t.Errorf("got  %s (%d)\nwant %s (%d)", no, no.ExitCode(), want, exit)
	}
	if !strings.Contains(no.HintText(), hint) {
		t.Errorf("hint %q, want %q", no.HintText(), hint)
	}
}

func TestOutcomeUnknownDetails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &transport.Failure{
			Refusal: refusal.New(refusal.TransportStatus, refusal.Num("status", 503), refusal.Num("retry_after", 7)),
			Status:  503, Sent: true, Cause: transport.CauseStatus,
		}
		server := httpServer()
		server.Limits.Call = 3 * time.Second
		s, _ := resume(t, server, transport.Modern,
			step{method: "tools/call", fail: f}, silent("tools/call"), silent("tools/call"))
		_, err := s.Call(t.Context(), Call{Tool: "weather"})
		no, _ := refusal.As(err)
		if no.Detail("status") != int64(503) || no.Detail("retry_after") != int64(7) ||
			no.Detail("tool") != "weather" || no.Detail("limit") != nil {
			t.Errorf("%#v", no)
		}
		before := time.Now()
		_, err = s.Call(t.Context(), Call{Tool: "weather"})
		if no, _ = refusal.As(err); no.Detail("limit") != int64(3000) || time.Since(before) != 3*time.Second {
			t.Errorf("%#v after %v", no, time.Since(before))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Call(ctx, Call{Tool: "weather"})
		if no, _ = refusal.As(err); no.Entry() != refusal.TransportOutcomeUnknown || no.Detail("limit") != nil {
			t.Errorf("the caller's deadline is not our limit: %#v", no)
		}
	})
}

func TestResultLimit(t *testing.T) {
	t.Parallel()
	const raw = `{"content":[]}`
	for limit, want := range map[int64]string{
		int64(len(raw)):     "",
		int64(len(raw)) - 1: "limit.result: a result is over 13 bytes",
	} {
		server := stdioServer()
		server.Limits.ResultBytes = limit
		s, _ := resume(t, server, transport.Modern, called(raw), result("tools/list", raw))
		got, err := s.Call(t.Context(), Call{Tool: "weather"})
		checkCall(t, got, err, want, 3, "")
		if _, err := s.ListPage(t.Context(), nil); (err == nil) != (want == "") {
			t.Error(err)
		}
	}
}

func TestIsError(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`{}`:                                false,
		`{"isError":false}`:                 false,
		`{"isError":null}`:                  false,
		`{"isError":true}`:                  true,
		`{"isError":"true"}`:                true,
		`{"isError":"false"}`:               true,
		`{"isError":1}`:                     true,
		`{"content":[{"isError":true}]}`:    false,
		`{"structuredContent":{"e":1E400}}`: false,
	} {
		s, _ := resume(t, stdioServer(), transport.Legacy, asking(called(raw), "roots/list", "", "sampling/createMessage"))
		got, err := s.Call(t.Context(), Call{Tool: "weather"})
		if err != nil || got.IsError != want || string(got.Raw) != raw {
			t.Errorf("%s: %+v %v", raw, got, err)
		}
		if diff := cmp.Diff([]string{"roots", "something else", "sampling"}, got.Asked); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	report := func(params string) transport.Notification { return notification("notifications/progress", params) }
	steps := func() step {
		s := called(`{}`)
		s.notes = []transport.Notification{
			report(`{"progressToken":"mcpc-1","progress":1}`),
			report(`{"progressToken":"mcpc-1","progress":0.5,"total":2,"message":"half"}`),
			report(`{"progressToken":"mcpc-1","progress":3,"total":-1}`),
			report(`{"progressToken":"mcpc-1","progress":4,"total":"x","message":5}`),
			report(`{"progressToken":"mcpc-2","progress":9}`),
			report(`{"progressToken":1,"progress":9}`),
			report(`{"progressToken":"mcpc-1"}`),
			report(`{"progressToken":"mcpc-1","progress":"9"}`),
			report(`{"progressToken":"mcpc-1","progress":1E400}`),
			report(`{"progressToken":"mcpc-1","progress":1` + strings.Repeat("0", 64) + `}`),
			{Method: "notifications/progress"},
			notification("notifications/message", `{"progressToken":"mcpc-1","progress":9}`),
			notification("notifications/tools/list_changed", `{}`),
		}
		return s
	}
	want := []Progress{{Value: 1}, {0.5, 2, "half"}, {Value: 3}, {Value: 4}}
	both(t, func(t *testing.T, server *config.Server, protocol string) {
		s, c := resume(t, server, protocol, steps(), called(`{}`), steps())
		var got []Progress
		for range 2 {
			call := Call{Tool: "weather", Progress: func(p Progress) { got = append(got, p) }}
			if _, err := s.Call(t.Context(), call); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Call(t.Context(), Call{Tool: "weather"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if s.Changes() != 2 {
			t.Errorf("%d changes", s.Changes())
		}
		for i, token := range []string{`"progressToken":"mcpc-1"`, `"progressToken":"mcpc-2"`, ""} {
			if !strings.Contains(c.params[i], token) || token == "" && strings.Contains(c.params[i], "progressToken") {
				t.Errorf("%d: %s", i, c.params[i])
			}
		}
	})
}
