package negotiate

import (
	"strings"
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// peers are the same script on both carriers: members of answers by method, an HTTP status before them where it is
// not 200.
func peers(t *testing.T, members map[string][]string) map[string]*peer {
	t.Helper()
	onLine, onHTTP := script{}, script{"notifications/initialized": {"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n"}}
	for method, answers := range members {
		for _, a := range answers {
			status, member, ok := strings.Cut(a, "|")
			if !ok {
				status, member = "200 OK", a
			}
			onLine[method] = append(onLine[method], line(member))
			onHTTP[method] = append(onHTTP[method], httpAnswer(status, line(member)))
		}
	}
	return map[string]*peer{"stdio": stdioPeer(t, onLine), "http": httpPeer(t, onHTTP)}
}

func open(t *testing.T, p *peer) *Session {
	t.Helper()
	s, err := Open(t.Context(), p.dial, p.server, me)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// What is printed by --dry-run is what goes out, on either carrier and in either era.
func TestCallMessageIsWhatIsSent(t *testing.T) {
	t.Parallel()
	members := map[string][]string{
		"initialize": {`"result":` + initLegacy},
		"tools/call": {`"result":{"content":[],"n":1.10}`},
	}
	arguments := []byte("{ \"n\":\n1.10, \"big\":9007199254740993 }")
	call := Call{Tool: "é\"", Arguments: arguments, Progress: func(Progress) {}}
	for _, protocol := range []string{transport.Modern, transport.Legacy} {
		for kind, p := range peers(t, members) {
			t.Run(protocol+" "+kind, func(t *testing.T) {
				t.Parallel()
				s, err := Resume(t.Context(), p.dial, p.server, me, protocol)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Call(t.Context(), call)
				if err != nil || string(got.Raw) != `{"content":[],"n":1.10}` {
					t.Errorf("%+v %v", got, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				seen := p.seen()
				if last, want := seen[len(seen)-1], string(CallMessage(protocol, me, call)); last != want {
					t.Errorf("sent\n%s\nwant\n%s", last, want)
				}
				if want := map[string]int{transport.Modern: 1, transport.Legacy: 3}[protocol]; len(seen) != want {
					t.Errorf("%d messages: %q", len(seen), seen)
				}
			})
		}
	}
}

func TestModernOverBoth(t *testing.T) {
	t.Parallel()
	for kind, p := range peers(t, map[string][]string{
		"server/discover": {
			`404 Not Found|"error":{"code":-32022,"message":"prose","data":{"supported":["2026-07-28"]}}`,
			`"result":` + discoverModern,
		},
		"tools/list": {`"result":{"resultType":"complete","tools":[]}`},
		"tools/call": {
			`400 Bad Request|"error":{"code":-32602,"message":"prose"}`,
			`"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}`,
		},
	}) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := open(t, p)
			if raw, err := s.ListPage(t.Context(), nil); err != nil || string(raw) != `{"resultType":"complete","tools":[]}` {
				t.Error(string(raw), err)
			}
			if _, err := s.Call(t.Context(), Call{Tool: "t"}); !refusal.Is(err, refusal.ProtocolError) {
				t.Error(err)
			}
			if _, err := s.Call(t.Context(), Call{Tool: "t"}); !refusal.Is(err, refusal.FeatureMultiRound) {
				t.Error(err)
			}
			if want := "server/discover server/discover tools/list tools/call tools/call"; p.methods() != want {
				t.Error(p.methods())
			}
		})
	}
}

// NEG-06: the child stays, and is not told that the probe was given up.
func TestSilentProbe(t *testing.T) {
	t.Parallel()
	p := stdioPeer(t, script{"initialize": {line(`"result":` + initLegacy)}})
	p.server.Limits.Probe = 30 * time.Millisecond
	s := open(t, p)
	if s.Modern() || s.Close() != nil {
		t.Error(s.Handshake())
	}
	if want := "server/discover initialize notifications/initialized"; p.methods() != want {
		t.Error(p.methods())
	}
}

// STD-06: the answer to the probe comes only when initialize is sent already.
func TestLateDiscovery(t *testing.T) {
	t.Parallel()
	p := stdioPeer(t, script{
		"initialize": {
			`{"jsonrpc":"2.0","id":1,"result":` + discoverModern + "}\n" + line(`"error":{"code":-32601,"message":"prose"}`),
		},
		"tools/list": {line(`"result":{"tools":[]}`)},
	})
	p.server.Limits.Probe = 30 * time.Millisecond
	s := open(t, p)
	if h := s.Handshake(); !s.Modern() || string(h.Result) != discoverModern {
		t.Error(h)
	}
	if _, err := s.ListPage(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if want := "server/discover initialize tools/list"; p.methods() != want {
		t.Error(p.methods())
	}
}

func TestExitsTwice(t *testing.T) {
	t.Parallel()
	p := stdioPeer(t, script{"server/discover": {"exit"}, "initialize": {"exit"}})
	_, err := Open(t.Context(), p.dial, p.server, me)
	if no, ok := refusal.As(err); !ok || no.Entry() != refusal.TransportExited || no.Detail("exit") != int64(1) {
		t.Error(err)
	}
	if want := "server/discover initialize"; p.methods() != want {
		t.Error(p.methods())
	}
}

func TestStartDeadline(t *testing.T) {
	t.Parallel()
	p := stdioPeer(t, script{})
	p.server.Limits.Probe, p.server.Limits.Start = 20*time.Millisecond, 60*time.Millisecond
	_, err := Open(t.Context(), p.dial, p.server, me)
	if no, ok := refusal.As(err); !ok || no.Entry() != refusal.DeadlineStart || no.Detail("limit") != int64(60) {
		t.Error(err)
	}
}

// RES-10: the server asks for roots while it works, under an id that is ours, and then fails.
func TestRootsMidCall(t *testing.T) {
	t.Parallel()
	p := stdioPeer(t, script{
		"initialize": {line(`"result":` + initLegacy)},
		"tools/call": {
			`{"jsonrpc":"2.0","id":2,"method":"roots/list"}` + "\n" + line(`"error":{"code":-32603,"message":"prose"}`),
			`{"jsonrpc":"2.0","id":"a","method":"ping"}` + "\n" + line(`"result":{"isError":true}`),
			`{"jsonrpc":"2.0","id":"b","method":"roots/list"}` + "\n" + line(`"result":{}`),
			line(`"error":{"code":-32603,"message":"prose"}`),
		},
	})
	p.server.Protocol = transport.Legacy
	s := open(t, p)
	if _, err := s.Call(t.Context(), Call{Tool: "t"}); !refusal.Is(err, refusal.FeatureRoots) {
		t.Error(err)
	}
	got, err := s.Call(t.Context(), Call{Tool: "t"})
	if err != nil || !got.IsError || got.Asked != nil { // each call has its own
		t.Errorf("%+v %v", got, err)
	}
	got, err = s.Call(t.Context(), Call{Tool: "t"})
	if err != nil || len(got.Asked) != 1 || got.Asked[0] != "roots" || got.Refused != nil {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := s.Call(t.Context(), Call{Tool: "t"}); !refusal.Is(err, refusal.ProtocolError) {
		t.Error(err)
	}
}

// HTTP-04 and NEG-13: a lost session is begun again for a list, once, and never for a call.
func TestLostSession(t *testing.T) {
	t.Parallel()
	gone := httpAnswer("404 Not Found", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"prose"}}`)
	p := httpPeer(t, script{
		"server/discover":           {httpAnswer("404 Not Found", "Invalid session ID")},
		"initialize":                {httpAnswer("200 OK", line(`"result":`+initLegacy), "Mcp-Session-Id: abc")},
		"notifications/initialized": {"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n"},
		"notifications/cancelled":   {"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n"},
		"tools/list":                {gone, httpAnswer("200 OK", line(`"result":{"tools":[]}`))},
		"tools/call":                {gone},
		"":                          {"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"}, // DELETE
	})
	s := open(t, p)
	if _, err := s.ListPage(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Call(t.Context(), Call{Tool: "t"}); !refusal.Is(err, refusal.TransportSessionLost) {
		t.Error(err)
	}
	want := "server/discover initialize notifications/initialized tools/list " +
		"initialize notifications/initialized tools/list tools/call"
	if p.methods() != want {
		t.Error(p.methods())
	}
}

// The outcome of a call that a connection swallows is unknown, and the call is not sent again.
func TestBrokenCall(t *testing.T) {
	t.Parallel()
	for kind, p := range map[string]*peer{
		"http":    httpPeer(t, script{"tools/call": {""}}),
		"gateway": httpPeer(t, script{"tools/call": {httpAnswer("502 Bad Gateway", "<html>prose")}}),
		"stdio":   stdioPeer(t, script{"tools/call": {"exit"}}),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, err := Resume(t.Context(), p.dial, p.server, me, transport.Modern)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Call(t.Context(), Call{Tool: "t"})
			if !refusal.Is(err, refusal.TransportOutcomeUnknown) {
				t.Error(err)
			}
			if err := s.Close(); err != nil || p.methods() != "tools/call" {
				t.Error(err, p.methods())
			}
		})
	}
}

func TestListenOverBoth(t *testing.T) {
	t.Parallel()
	const (
		head    = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
		granted = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",` +
			`"params":{"notifications":{"toolsListChanged":true}}}` + "\n"
		changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"
	)
	closed := line(`"result":{"resultType":"complete"}`)
	for kind, p := range map[string]*peer{
		"http": httpPeer(t, script{"subscriptions/listen": {
			head + "data: " + granted + "\ndata: " + changed + "\ndata: " + closed + "\n",
		}}),
		"stdio": stdioPeer(t, script{"subscriptions/listen": {granted + changed + closed}}),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, err := Resume(t.Context(), p.dial, p.server, me, transport.Modern)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			told := 0
			if err := s.Listen(t.Context(), nil, func() { told++ }); err != nil || told != 1 {
				t.Error(err, told)
			}
		})
	}
}
