package negotiate

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

const (
	probed      = "server/discover [2026-07-28]"
	initialized = "initialize [/legacy]|notifications/initialized [2025-11-25/legacy]"
	fellBack    = probed + "|" + initialized
	refusedInit = probed + "|initialize [/legacy]"
)

// row is one negotiation: what the server does, what comes of it, and what was sent.
type row struct {
	name    string
	steps   []step
	server  func(*config.Server) // changes the configuration
	want    string               // "VERSION METHOD: because" or the text of the refusal
	hint    string               // part of it
	log     string               // joined by |
	restart error
}

func (r row) run(t *testing.T, server *config.Server) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if r.server != nil {
			r.server(server)
		}
		c := fake(t, r.steps...)
		c.restart = r.restart
		s, err := Open(t.Context(), c.dialer(), server, me)
		if got := outcome(s, err); got != r.want {
			t.Errorf("got  %s\nwant %s", got, r.want)
		}
		if no, ok := refusal.As(err); ok && !strings.Contains(no.HintText(), r.hint) {
			t.Errorf("hint %q, want %q", no.HintText(), r.hint)
		}
		if diff := cmp.Diff(strings.Split(r.log, "|"), c.log); diff != "" {
			t.Error(diff)
		}
		if s != nil {
			checkUse(t, s, c)
		} else if c.closed != 1 {
			t.Errorf("closed %d times after a refusal", c.closed)
		}
	})
}

func outcome(s *Session, err error) string {
	if err != nil {
		if _, ok := refusal.As(err); !ok {
			return "not a refusal: " + err.Error()
		}
		return err.Error()
	}
	h := s.Handshake()
	return strings.TrimSuffix(h.Protocol+" "+h.Method+": "+h.Because, ": ")
}

func checkUse(t *testing.T, s *Session, c *fakeCarrier) {
	t.Helper()
	want := transport.Protocol{Version: s.Handshake().Protocol, Legacy: !s.Modern()}
	if c.protocol != want || s.Modern() != (want.Version == transport.Modern) || c.closed != 0 {
		t.Errorf("in use %+v, want %+v; closed %d", c.protocol, want, c.closed)
	}
	if len(s.Handshake().Result) == 0 {
		t.Error("the handshake has no result")
	}
}

func discover(raw string) step { return result("server/discover", raw) }
func inits(raw string) step    { return result("initialize", raw) }

func accept(versions ...string) func(*config.Server) {
	return func(s *config.Server) { s.AcceptProtocols = versions }
}

// anyCarrier are the rows that read the same on stdio and HTTP. An error stands for itself on stdio, for one under
// 200, and for one under each status that a legacy server gives it.
func TestOpenOnAnyCarrier(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, 200, 400, 404, 405, 409, 422} {
		server := httpServer
		if status == 0 {
			server = stdioServer
		}
		discoverError := func(code int64, data string) step { return rpcError("server/discover", status, code, data) }
		rows := []row{
			{
				name: "a DiscoverResult with our version", steps: []step{discover(discoverModern)},
				want: "2026-07-28 server/discover", log: probed,
			},
			{
				name:  "a DiscoverResult without resultType, among newer versions",
				steps: []step{discover(`{"supportedVersions":["2027-01-01","2026-07-28"]}`)},
				want:  "2026-07-28 server/discover", log: probed,
			},
			{
				name:  "a DiscoverResult that lists the legacy version only",
				steps: []step{discover(`{"supportedVersions":["2025-11-25"],"capabilities":{}}`), inits(initLegacy)},
				want:  "2025-11-25 initialize: server/discover does not list 2026-07-28", log: fellBack,
			},
			{
				name:  "a DiscoverResult with nothing in common",
				steps: []step{discover(`{"supportedVersions":["2027-01-01","prose\u001b[31m","2025-06-18"]}`)},
				want:  "protocol.version: no common protocol version; the server names 2027-01-01, 2025-06-18",
				hint:  "accept_protocols", log: probed,
			},
			{
				name: "a DiscoverResult with an accepted older version", server: accept("2025-06-18"),
				steps: []step{discover(`{"supportedVersions":["2025-06-18"]}`), inits(`{"protocolVersion":"2025-06-18"}`)},
				want:  "2025-06-18 initialize: server/discover does not list 2026-07-28",
				log:   strings.Replace(fellBack, "2025-11-25", "2025-06-18", 1),
			},
			{
				name: "an empty result", steps: []step{discover(`{}`), inits(initLegacy)},
				want: "2025-11-25 initialize: server/discover answered no DiscoverResult", log: fellBack,
			},
			{
				name: "-32020", steps: []step{discoverError(-32020, "")},
				want: "protocol.header_mismatch: the server refuses the Mcp-* headers of the call (JSON-RPC error -32020)",
				log:  probed,
			},
			{
				name: "-32021", steps: []step{discoverError(-32021, `{"requiredCapabilities":{"sampling":{}}}`)},
				want: notAdmitted("sampling"), log: probed,
			},
			{
				name:  "-32021 for something else",
				steps: []step{discoverError(-32021, `{"requiredCapabilities":{"x":{}}}`)},
				want:  "feature.unknown: the server asked for something that mcpc does not admit, and the call failed",
				log:   probed,
			},
			{
				name:  "-32022 that lists our version, then takes it",
				steps: []step{discoverError(-32022, `{"supported":["2026-07-28"]}`), discover(discoverModern)},
				want:  "2026-07-28 server/discover", log: probed + "|" + probed,
			},
			{
				name: "NEG-08 -32022 that lists both, twice",
				steps: []step{
					discoverError(-32022, `{"requested":"2026-07-28","supported":["2026-07-28","2025-11-25","2024-11-05"]}`),
					discoverError(-32022, `{"requested":"2026-07-28","supported":["2026-07-28","2025-11-25","2024-11-05"]}`),
					inits(initLegacy),
				},
				want: "2025-11-25 initialize: server/discover refuses 2026-07-28 twice", log: probed + "|" + fellBack,
			},
			{
				name: "-32022 that lists only ours, twice",
				steps: []step{
					discoverError(-32022, `{"supported":["2026-07-28"]}`), discoverError(-32022, `{"supported":["2026-07-28"]}`),
				},
				want: "protocol.version: no common protocol version; the server names 2026-07-28",
				log:  probed + "|" + probed,
			},
			{
				name:  "-32022 that lists the legacy version",
				steps: []step{discoverError(-32022, `{"supported":["2025-11-25"]}`), inits(initLegacy)},
				want:  "2025-11-25 initialize: server/discover answered -32022", log: fellBack,
			},
			{
				name:  "-32022 without a common version",
				steps: []step{discoverError(-32022, `{"supported":["2027-01-01"]}`)},
				want:  "protocol.version: no common protocol version; the server names 2027-01-01", log: probed,
			},
			{
				name: "-32022 without a list", steps: []step{discoverError(-32022, "")},
				want: "protocol.version: no common protocol version", log: probed,
			},
			{
				name:  "-32022 with a list of something else",
				steps: []step{discoverError(-32022, `{"supported":["2025-11-25",1]}`)},
				want:  "protocol.version: no common protocol version", log: probed,
			},
			{
				name: "NEG-02 -32601", steps: []step{discoverError(-32601, ""), inits(initLegacy)},
				want: "2025-11-25 initialize: server/discover answered -32601", log: fellBack,
			},
			{
				name: "NEG-04 -32000", steps: []step{discoverError(-32000, ""), inits(initLegacy)},
				want: "2025-11-25 initialize: server/discover answered -32000", log: fellBack,
			},
			{
				name:  "NEG-11 -32004 of a draft",
				steps: []step{discoverError(-32004, `{"supported":["DRAFT-2026-v1","2025-11-25"]}`), inits(initLegacy)},
				want:  "2025-11-25 initialize: server/discover answered -32004", log: fellBack,
			},
			{
				name:  "NEG-12 initialize answers the modern version",
				steps: []step{discoverError(-32601, ""), inits(`{"protocolVersion":"2026-07-28","capabilities":{}}`)},
				want:  "protocol.version: no common protocol version; the server names 2026-07-28", log: refusedInit,
			},
			{
				name: "NEG-12 even where it is accepted", server: accept("2026-07-28"),
				steps: []step{discoverError(-32601, ""), inits(`{"protocolVersion":"2026-07-28"}`)},
				want:  "protocol.version: no common protocol version; the server names 2026-07-28", log: refusedInit,
			},
			{
				name:  "NEG-16 initialize answers an older version",
				steps: []step{discoverError(-32601, ""), inits(`{"protocolVersion":"2024-11-05"}`)},
				want:  "protocol.version: no common protocol version; the server names 2024-11-05",
				hint:  "accept_protocols", log: refusedInit,
			},
			{
				name: "an older version that is accepted", server: accept("2024-11-05"),
				steps: []step{discoverError(-32601, ""), inits(`{"protocolVersion":"2024-11-05"}`)},
				want:  "2024-11-05 initialize: server/discover answered -32601",
				log:   strings.Replace(fellBack, "2025-11-25", "2024-11-05", 1),
			},
			{
				name:  "initialize answers prose for a version",
				steps: []step{discoverError(-32601, ""), inits(`{"protocolVersion":"call 555-1234"}`)},
				want:  "protocol.version: no common protocol version", log: refusedInit,
			},
			{
				name:  "initialize answers no version",
				steps: []step{discoverError(-32601, ""), inits(`{"protocolVersion":20251125}`)},
				want: "protocol.result: the result of initialize is not of the form that the protocol gives " +
					"(protocolVersion is not a string)",
				log: refusedInit,
			},
			{
				name:  "initialize refuses the version",
				steps: []step{discoverError(-32601, ""), rpcError("initialize", 0, -32602, `{"supported":["2024-11-05"]}`)},
				want:  "protocol.version: no common protocol version; the server names 2024-11-05", log: refusedInit,
			},
			{
				name:  "initialize answers an error",
				steps: []step{discoverError(-32601, ""), rpcError("initialize", 0, -32603, "")},
				want:  "protocol.error: the server answers initialize with JSON-RPC error -32603", log: refusedInit,
			},
			{
				name:  "a request in place of an answer",
				steps: []step{{method: "server/discover", fail: failure(refusal.ProtocolServerRequest, "")}, inits(initLegacy)},
				want:  "2025-11-25 initialize: server/discover was answered with a request", log: fellBack,
			},
			{
				name:  "a frame over the limit",
				steps: []step{{method: "server/discover", fail: failure(refusal.LimitFrame, "")}},
				want:  "limit.frame: a frame is over (unknown) bytes", log: probed,
			},
			{
				name:  "NEG-06 no answer within the probe limit",
				steps: []step{silent("server/discover"), inits(initLegacy)},
				want:  "2025-11-25 initialize: server/discover was not answered in 5000 ms", log: fellBack,
			},
			{
				name:  "NEG-15 nothing at all within the start limit",
				steps: []step{silent("server/discover"), silent("initialize")},
				want:  "limit.deadline_start: the server did not answer its first message in 60000 ms", log: refusedInit,
			},
			{
				name: "a slow way to the server is no evidence",
				steps: []step{
					{method: "server/discover", hang: true, unsent: true},
					{method: "server/discover", after: 20 * time.Second, resp: discover(discoverModern).resp},
				},
				want: "2026-07-28 server/discover", log: probed + "|" + probed,
			},
			{
				name: "no way to the server",
				steps: []step{
					{method: "server/discover", hang: true, unsent: true}, {method: "server/discover", hang: true, unsent: true},
				},
				want: "limit.deadline_start: the server did not answer its first message in 60000 ms",
				log:  probed + "|" + probed,
			},
			{
				name:  "an answer to the probe, and none to initialize",
				steps: []step{discoverError(-32601, ""), silent("initialize")},
				want:  "limit.deadline_request: no answer to initialize in 60000 ms", log: refusedInit,
			},
			{
				name: "a slow server within the start limit",
				steps: []step{
					silent("server/discover"),
					{method: "initialize", after: 54 * time.Second, resp: inits(initLegacy).resp},
				},
				want: "2025-11-25 initialize: server/discover was not answered in 5000 ms",
				log:  fellBack,
			},
			{
				name: "a slow modern server, which refuses initialize by a code of its own",
				steps: []step{
					silent("server/discover"), rpcError("initialize", status, -32020, ""),
					{method: "server/discover", after: 20 * time.Second, resp: discover(discoverModern).resp},
				},
				want: "2026-07-28 server/discover: initialize was answered as a modern server does",
				log:  refusedInit + "|" + probed,
			},
			{
				name: "a modern server that is too slow",
				steps: []step{
					silent("server/discover"), rpcError("initialize", status, -32022, ""), silent("server/discover"),
				},
				want: "limit.deadline_request: no answer to server/discover in 60000 ms", log: refusedInit + "|" + probed,
			},
			{
				name: "a slow modern server of another version",
				steps: []step{
					silent("server/discover"), rpcError("initialize", status, -32020, ""),
					discover(`{"supportedVersions":["2027-01-01"]}`),
				},
				want: "protocol.version: no common protocol version; the server names 2027-01-01",
				log:  refusedInit + "|" + probed,
			},
			{
				name:  "an error of the legacy era is no sign of a modern server",
				steps: []step{silent("server/discover"), rpcError("initialize", 0, -32601, "")},
				want:  "protocol.error: the server answers initialize with JSON-RPC error -32601", log: refusedInit,
			},
			{
				name: "pinned modern", server: pin(transport.Modern), steps: []step{discover(discoverModern)},
				want: "2026-07-28 server/discover: the configuration pins it", log: probed,
			},
			{
				name: "pinned modern and slow", server: pin(transport.Modern),
				steps: []step{{method: "server/discover", after: 20 * time.Second, resp: discover(discoverModern).resp}},
				want:  "2026-07-28 server/discover: the configuration pins it", log: probed,
			},
			{
				name:   "pinned modern, legacy evidence",
				server: pin(transport.Modern),
				steps:  []step{discoverError(-32601, "")},
				want:   doesNotSpeak("2026-07-28"),
				hint:   "without protocol", log: probed,
			},
			{
				name: "pinned modern, another version", server: pin(transport.Modern),
				steps: []step{discover(`{"supportedVersions":["2027-01-01"]}`)},
				want:  doesNotSpeak("2026-07-28"), log: probed,
			},
			{
				name:   "pinned modern, no answer",
				server: pin(transport.Modern),
				steps:  []step{silent("server/discover")},
				want:   "limit.deadline_start: the server did not answer its first message in 60000 ms", log: probed,
			},
			{
				name: "pinned legacy", server: pin(transport.Legacy), steps: []step{inits(initLegacy)},
				want: "2025-11-25 initialize: the configuration pins it", log: initialized,
			},
			{
				name: "pinned legacy, modern server", server: pin(transport.Legacy),
				steps: []step{rpcError("initialize", 0, -32022, `{"supported":["2026-07-28"]}`)},
				want:  doesNotSpeak("2025-11-25"), log: "initialize [/legacy]",
			},
			{
				name: "pinned legacy, older answer although accepted", server: pin(transport.Legacy, "2025-06-18"),
				steps: []step{inits(`{"protocolVersion":"2025-06-18"}`)},
				want:  doesNotSpeak("2025-11-25"), log: "initialize [/legacy]",
			},
			{
				name:   "pinned older",
				server: pin("2025-06-18", "2025-06-18"),
				steps:  []step{inits(`{"protocolVersion":"2025-06-18"}`)},
				want:   "2025-06-18 initialize: the configuration pins it",
				log:    strings.Replace(initialized, "2025-11-25", "2025-06-18", 1),
			},
		}
		for _, r := range rows {
			t.Run(r.name+" "+strconv.Itoa(status), func(t *testing.T) {
				t.Parallel()
				r.run(t, server())
			})
		}
	}
}

func methodForbidden(method string) string {
	return "transport.method_refused: the server refuses " + method + " with status 403 and asks for no sign-in"
}

func doesNotSpeak(version string) string {
	return "protocol.pinned: the server does not speak " + version + ", which the configuration pins"
}

func pin(version string, accepted ...string) func(*config.Server) {
	return func(s *config.Server) { s.Protocol, s.AcceptProtocols = version, accepted }
}

func TestOpenInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := fake(t, silent("server/discover"))
		if _, err := Open(ctx, c.dialer(), stdioServer(), me); !refusal.Is(err, refusal.DeadlineStart) {
			t.Errorf("the caller's deadline is no evidence: %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		c = fake(t, silent("server/discover"))
		if _, err := Open(ctx, c.dialer(), stdioServer(), me); !refusal.Is(err, refusal.Interrupted) {
			t.Errorf("the caller's interruption is no evidence: %v", err)
		}
	})
}

func TestOpenDial(t *testing.T) {
	t.Parallel()
	dial := func(context.Context) (transport.Carrier, error) { return nil, failure(refusal.TransportStart, "") }
	if s, err := Open(t.Context(), dial, stdioServer(), me); s != nil || !refusal.Is(err, refusal.TransportStart) {
		t.Error(s, err)
	}
}

func TestOpenNotifyRefused(t *testing.T) {
	t.Parallel()
	c := fake(t, inits(initLegacy))
	c.notify = failure(refusal.ProtocolNotAccepted, "")
	server := httpServer()
	server.Protocol = transport.Legacy
	_, err := Open(t.Context(), c.dialer(), server, me)
	if !refusal.Is(err, refusal.ProtocolNotAccepted) || c.closed != 1 {
		t.Error(err, c.closed)
	}
}
