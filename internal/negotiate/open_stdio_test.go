package negotiate

import (
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

func TestOpenOnStdio(t *testing.T) {
	t.Parallel()
	late := func(raw string) *transport.Response { return &transport.Response{Result: []byte(raw)} }
	rows := []row{
		{
			name: "NEG-05 the child exits", steps: []step{exited("server/discover"), inits(initLegacy)},
			want: "2025-11-25 initialize: the process ended at server/discover",
			log:  probed + "|restart|" + initialized,
		},
		{
			name: "NEG-05 its output ends", steps: []step{
				{method: "server/discover", fail: failure(refusal.TransportClosed, transport.CauseConnection)}, inits(initLegacy),
			},
			want: "2025-11-25 initialize: the process ended at server/discover",
			log:  probed + "|restart|" + initialized,
		},
		{
			name: "NEG-05 the second child exits too", steps: []step{exited("server/discover"), exited("initialize")},
			want: "transport.exited: the server process ended before the answer",
			log:  probed + "|restart|initialize [/legacy]",
		},
		{
			name: "the child cannot be started again", steps: []step{exited("server/discover")},
			restart: failure(refusal.TransportSurvivor, ""),
			want:    "transport.survivor: the server process of (unknown) could not be ended",
			log:     probed + "|restart",
		},
		{
			name: "the second child has the whole start limit", steps: []step{
				{method: "server/discover", after: 4 * time.Second, fail: exited("server/discover").fail},
				{method: "initialize", after: 59 * time.Second, resp: inits(initLegacy).resp},
			},
			want: "2025-11-25 initialize: the process ended at server/discover",
			log:  probed + "|restart|" + initialized,
		},
		{
			name:   "pinned modern, the child exits",
			server: pin(transport.Modern),
			steps:  []step{exited("server/discover")},
			want:   "transport.exited: the server process ended before the answer", log: probed,
		},
		{
			name:  "initialize ends the child",
			steps: []step{rpcError("server/discover", 0, -32601, ""), exited("initialize")},
			want:  "transport.exited: the server process ended before the answer", log: refusedInit,
		},
		{
			name: "STD-06 a late DiscoverResult before the answer to initialize", steps: []step{
				silent("server/discover"),
				{method: "initialize", after: 20 * time.Second, late: late(discoverModern), resp: inits(initLegacy).resp},
			},
			want: "2026-07-28 server/discover: server/discover was answered late", log: refusedInit,
		},
		{
			name: "a late DiscoverResult, and initialize is refused", steps: []step{
				silent("server/discover"), withLate(rpcError("initialize", 0, -32601, ""), late(discoverModern)),
			},
			want: "2026-07-28 server/discover: server/discover was answered late", log: refusedInit,
		},
		{
			name: "a late DiscoverResult, and no answer to initialize", steps: []step{
				silent("server/discover"), withLate(silent("initialize"), late(discoverModern)),
			},
			want: "2026-07-28 server/discover: server/discover was answered late", log: refusedInit,
		},
		{
			name: "NEG-14 a late error", steps: []step{
				silent("server/discover"),
				withLate(inits(initLegacy), &transport.Response{Err: &transport.RPCError{Code: -32601}}),
			},
			want: "2025-11-25 initialize: server/discover was not answered in 5000 ms", log: fellBack,
		},
		{
			name:  "a late empty result",
			steps: []step{silent("server/discover"), withLate(inits(initLegacy), late(`{}`))},
			want:  "2025-11-25 initialize: server/discover was not answered in 5000 ms", log: fellBack,
		},
		{
			name: "a late DiscoverResult without our version", steps: []step{
				silent("server/discover"), withLate(inits(initLegacy), late(`{"supportedVersions":["2025-11-25"]}`)),
			},
			want: "2025-11-25 initialize: server/discover was not answered in 5000 ms", log: fellBack,
		},
		{
			name:  "STD-01 noise",
			steps: []step{{method: "server/discover", fail: failure(refusal.ProtocolStdoutNoise, "")}},
			want:  "protocol.stdout_noise: line (unknown) of the server's stdout ((unknown) bytes) is not a message",
			log:   probed,
		},
		{
			name:  "the server does not read",
			steps: []step{{method: "server/discover", fail: failure(refusal.TransportStalled, transport.CauseDeadline)}},
			want:  "transport.stalled: the server does not read its input", log: probed,
		},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.run(t, stdioServer())
		})
	}
}

func withLate(s step, late *transport.Response) step {
	s.late = late
	return s
}
