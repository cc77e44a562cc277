package negotiate

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

func listed(raw string) step { return result("tools/list", raw) }

const (
	listOnce  = "tools/list [2025-11-25/legacy]"
	listAgain = listOnce + "|restart|initialize [/legacy]|notifications/initialized [2025-11-25/legacy]|" + listOnce
)

func TestListPage(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *config.Server, protocol string) {
		page := listed(`{"tools":[], "nextCursor":"" }`)
		page.notes = []transport.Notification{
			notification("notifications/tools/list_changed", `{}`), notification("notifications/message", `{}`),
		}
		s, c := resume(t, server, protocol, page, page, silent("tools/list"))
		cursor := "a\"é"
		for _, at := range []*string{nil, &cursor} {
			if raw, err := s.ListPage(t.Context(), at); err != nil || string(raw) != `{"tools":[], "nextCursor":"" }` {
				t.Error(string(raw), err)
			}
		}
		if s.Changes() != 2 {
			t.Errorf("%d changes", s.Changes())
		}
		if strings.Contains(c.params[0], "cursor") || !strings.HasPrefix(c.params[1], `{"cursor":"a\"é"`) {
			t.Error(c.params)
		}
		_, err := s.ListPage(t.Context(), nil)
		if err == nil || err.Error() != "limit.deadline_request: no answer to tools/list in 60000 ms" {
			t.Error(err)
		}
	})
}

func TestListPageRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, era, init, want, log string
		steps                      []step
	}{
		{
			name: "an error", steps: []step{rpcError("tools/list", 0, -32603, "")},
			want: "protocol.error: the server answers tools/list with JSON-RPC error -32603",
		},
		{
			name: "no such method", steps: []step{rpcError("tools/list", 404, -32601, "")},
			want: "protocol.error: the server answers tools/list with JSON-RPC error -32601 (status 404)",
		},
		{
			name:  "no such method, and none was offered",
			era:   transport.Legacy,
			init:  `{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}}}`,
			steps: []step{rpcError("tools/list", 0, -32601, "")},
			want:  "protocol.no_tools: the server does not offer tools",
		},
		{
			name:  "more input",
			steps: []step{listed(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`)},
			want: "feature.multi_round: the server asks for more input before it answers (roots); " +
				"multi-round results are not admitted in 0.1",
		},
		{name: "401", steps: []step{bearer("tools/list", 401)}, want: "oauth.login_required: sign-in is needed"},
		{
			name: "403", steps: []step{status("tools/list", 403)},
			want: methodForbidden("tools/list"),
		},
		{
			name: "the child ends", steps: []step{exited("tools/list")},
			want: "transport.exited: the server process ended before the answer",
		},
		{
			name: "HTTP-04 a lost session is begun again", era: transport.Legacy, log: listAgain,
			steps: []step{lost("tools/list", 404), inits(initLegacy), listed(`{"tools":[]}`)},
		},
		{
			name: "HTTP-04 lost twice", era: transport.Legacy, log: listAgain,
			steps: []step{lost("tools/list", 404), inits(initLegacy), lost("tools/list", 404)},
			want:  "transport.session_lost: the server no longer knows the session (status 404)",
		},
		{
			name: "HTTP-05 a 400 is not replayed", era: transport.Legacy, steps: []step{lost("tools/list", 400)},
			want: "transport.session_lost: the server no longer knows the session (status 400)",
		},
		{
			name:  "a lost session comes back in another version",
			era:   transport.Legacy,
			log:   listOnce + "|restart|initialize [/legacy]",
			steps: []step{lost("tools/list", 404), inits(`{"protocolVersion":"2025-06-18"}`)},
			want:  "protocol.version: no common protocol version; the server names 2025-06-18",
		},
	}
	for _, test := range tests {
		for _, era := range []string{transport.Modern, transport.Legacy} {
			if test.era != "" && test.era != era {
				continue
			}
			t.Run(test.name+" "+era, func(t *testing.T) {
				t.Parallel()
				s, c := resume(t, httpServer(), era, test.steps...)
				if test.init != "" {
					s.handshake.Result = []byte(test.init)
				}
				_, err := s.ListPage(t.Context(), nil)
				if got := text(err); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				log := test.log
				if log == "" {
					log = "tools/list " + c.version()
				}
				if diff := cmp.Diff(strings.Split(log, "|"), c.log); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	if _, ok := refusal.As(err); !ok {
		return "not a refusal: " + err.Error()
	}
	return err.Error()
}

// Pages of two sessions need not belong together, so a session lost between them counts as a change of the list. A
// session is begun again only once.
func TestListPageLostWhilePaging(t *testing.T) {
	t.Parallel()
	s, _ := resume(t, httpServer(), transport.Legacy,
		lost("tools/list", 404), inits(`{"protocolVersion":"2025-11-25","instructions":"new"}`), listed(`{}`),
		lost("tools/list", 404))
	cursor := "2"
	before := string(s.Handshake().Result)
	if _, err := s.ListPage(t.Context(), &cursor); err != nil || s.Changes() != 1 {
		t.Error(err, s.Changes())
	}
	if string(s.Handshake().Result) != before {
		t.Error("the handshake is not the first one")
	}
	if _, err := s.ListPage(t.Context(), &cursor); !refusal.Is(err, refusal.TransportSessionLost) {
		t.Error(err)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, protocol, want, hint string
		steps                      []step
		server                     func(*config.Server)
	}{
		{name: "modern: nothing is sent", protocol: "2026-07-28", want: "2026-07-28"},
		{
			name: "legacy", protocol: "2025-11-25", steps: []step{inits(initLegacy)},
			want: "2025-11-25 initialize: the snapshot records it",
		},
		{
			name: "legacy, and the server moved on", protocol: "2025-11-25", hint: "mcpc snapshot take docs",
			steps: []step{rpcError("initialize", 0, -32022, `{"supported":["2026-07-28"]}`)},
			want:  "protocol.version: no common protocol version; the server names 2026-07-28",
		},
		{
			name: "legacy, and the server answers an accepted other one", protocol: "2025-11-25",
			server: accept("2025-06-18"),
			hint:   "mcpc snapshot take docs", steps: []step{inits(`{"protocolVersion":"2025-06-18"}`)},
			want: "protocol.version: no common protocol version; the server names 2025-06-18",
		},
		{
			name: "older", protocol: "2025-06-18",
			server: accept("2025-06-18"),
			steps:  []step{inits(`{"protocolVersion":"2025-06-18"}`)},
			want:   "2025-06-18 initialize: the snapshot records it",
		},
		{
			name: "older, and no longer accepted", protocol: "2025-06-18", hint: "accept_protocols",
			want: "protocol.version: no common protocol version; the server names 2025-06-18",
		},
		{
			name: "the child ends", protocol: "2025-11-25", steps: []step{exited("initialize")},
			want: "transport.exited: the server process ended before the answer",
		},
		{
			name: "no answer", protocol: "2025-11-25", steps: []step{silent("initialize")},
			want: "limit.deadline_start: the server did not answer its first message in 60000 ms",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := stdioServer()
				if test.server != nil {
					test.server(server)
				}
				c := fake(t, test.steps...)
				s, err := Resume(t.Context(), c.dialer(), server, me, test.protocol)
				got := ""
				if got = text(err); err == nil {
					got = strings.TrimRight(outcome(s, nil), " :")
				}
				if got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				if no, ok := refusal.As(err); ok && !strings.Contains(no.HintText(), test.hint) {
					t.Errorf("hint %q, want %q", no.HintText(), test.hint)
				}
				if len(test.steps) > 0 && !strings.Contains(c.params[0], `"protocolVersion":"`+test.protocol+`"`) {
					t.Error(c.params)
				}
			})
		})
	}
}
