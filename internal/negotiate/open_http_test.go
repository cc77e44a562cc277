package negotiate

import (
	"strconv"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

func TestOpenOnHTTP(t *testing.T) {
	t.Parallel()
	forbidden := status("server/discover", 403)
	rows := []row{
		{
			name: "401", steps: []step{bearer("server/discover", 401)},
			want: "oauth.login_required: sign-in is needed", log: probed,
		},
		{
			name: "401 with a JSON-RPC error", steps: []step{withRPC(bearer("server/discover", 401), -32601)},
			want: "oauth.login_required: sign-in is needed", log: probed,
		},
		{
			name: "403 with a Bearer challenge", steps: []step{bearer("server/discover", 403)},
			want: "oauth.login_required: sign-in is needed", log: probed,
		},
		{
			name: "NEG-09 403 for the probe only", steps: []step{forbidden, inits(initLegacy)},
			want: "2025-11-25 initialize: server/discover answered status 403", log: fellBack,
		},
		{
			name: "NEG-09 403 for both", steps: []step{forbidden, status("initialize", 403)},
			want: methodForbidden("server/discover"), log: refusedInit,
		},
		{
			name:  "403, and initialize is unknown",
			steps: []step{withRPC(forbidden, -32000), rpcError("initialize", 404, -32601, "")},
			want:  methodForbidden("server/discover"), log: refusedInit,
		},
		{
			name: "403, then authorization", steps: []step{forbidden, bearer("initialize", 401)},
			want: "oauth.login_required: sign-in is needed", log: refusedInit,
		},
		{
			name: "403, then a fault of the server", steps: []step{forbidden, status("initialize", 503)},
			want: "transport.status: HTTP status 503", log: refusedInit,
		},
		{
			name: "pinned modern, 403", server: pin(transport.Modern), steps: []step{forbidden},
			want: methodForbidden("server/discover"), log: probed,
		},
		{
			name: "pinned legacy, 403", server: pin(transport.Legacy), steps: []step{status("initialize", 403)},
			want: methodForbidden("initialize"), log: "initialize [/legacy]",
		},
		{
			name:  "NEG-10 405 for both",
			steps: []step{rpcError("server/discover", 405, -32000, ""), rpcError("initialize", 405, -32000, "")},
			want: "transport.http_sse_unsupported: the endpoint does not speak Streamable HTTP (status 405); " +
				"the deprecated HTTP+SSE transport is not supported",
			log: refusedInit,
		},
		{
			name: "404 for both", steps: []step{status("server/discover", 404), status("initialize", 404)},
			want: "transport.http_sse_unsupported: the endpoint does not speak Streamable HTTP (status 404); " +
				"the deprecated HTTP+SSE transport is not supported",
			log: refusedInit,
		},
		{
			name:  "404 for both, with a JSON-RPC error",
			steps: []step{status("server/discover", 404), rpcError("initialize", 404, -32601, "")},
			want:  "protocol.error: the server answers initialize with JSON-RPC error -32601 (status 404)",
			log:   refusedInit,
		},
		{
			name: "400 for both", steps: []step{status("server/discover", 400), status("initialize", 400)},
			want: "transport.status: HTTP status 400", log: refusedInit,
		},
		{
			name:  "429",
			steps: []step{status("server/discover", 429)},
			want:  "transport.status: HTTP status 429",
			log:   probed,
		},
		{
			name: "429 with a JSON-RPC error", steps: []step{rpcError("server/discover", 429, -32601, "")},
			want: "transport.status: HTTP status 429", log: probed,
		},
		{
			name:  "502",
			steps: []step{status("server/discover", 502)},
			want:  "transport.status: HTTP status 502",
			log:   probed,
		},
		{
			name: "500 with a JSON-RPC error", steps: []step{rpcError("server/discover", 500, -32603, "")},
			want: "transport.status: HTTP status 500", log: probed,
		},
		{
			name: "a modern error is known by its code", steps: []step{rpcError("server/discover", 500, -32020, "")},
			want: "protocol.header_mismatch: the server refuses the Mcp-* headers of the call (JSON-RPC error -32020)",
			log:  probed,
		},
		{
			name:  "410",
			steps: []step{status("server/discover", 410)},
			want:  "transport.status: HTTP status 410",
			log:   probed,
		},
		{
			name: "a redirect", steps: []step{{method: "server/discover", fail: &transport.Failure{
				Refusal: refusal.New(refusal.TransportRedirect, refusal.Num("status", 301)), Status: 301,
			}}},
			want: "transport.redirect: the server answers with a redirect (status 301), which is not followed",
			log:  probed,
		},
		{
			name:  "no connection",
			steps: []step{{method: "server/discover", fail: failure(refusal.TransportUnreachable, transport.CauseConnection)}},
			want:  "transport.unreachable: cannot connect", log: probed,
		},
		{
			name:  "no TLS",
			steps: []step{{method: "server/discover", fail: failure(refusal.TransportTLS, transport.CauseConnection)}},
			want:  "transport.tls: no TLS connection: (unknown)", log: probed,
		},
		{
			name:  "a connection that ends",
			steps: []step{{method: "server/discover", fail: failure(refusal.TransportClosed, transport.CauseConnection)}},
			want:  "transport.closed: the connection ended before the answer", log: probed,
		},
		{
			name: "a page", steps: []step{unusable("server/discover", 200), inits(initLegacy)},
			want: "2025-11-25 initialize: server/discover answered nothing that is a message", log: fellBack,
		},
		{
			name: "a page for both", steps: []step{unusable("server/discover", 200), unusable("initialize", 200)},
			want: "transport.content_type: the answer is neither application/json nor text/event-stream (status 200)",
			log:  refusedInit,
		},
		{
			name: "202", steps: []step{unusable("server/discover", 202), inits(initLegacy)},
			want: "2025-11-25 initialize: server/discover answered nothing that is a message", log: fellBack,
		},
		{
			name:  "initialize is over the rate",
			steps: []step{status("server/discover", 400), status("initialize", 429)},
			want:  "transport.status: HTTP status 429", log: refusedInit,
		},
	}
	for _, code := range []int{400, 404, 405, 406, 415, 422} {
		rows = append(rows, row{
			name:  "NEG-01 status " + strconv.Itoa(code),
			steps: []step{status("server/discover", code), inits(initLegacy)},
			want:  "2025-11-25 initialize: server/discover answered status " + strconv.Itoa(code), log: fellBack,
		})
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.run(t, httpServer())
		})
	}
}

func withRPC(s step, code int64) step {
	f := *s.fail
	f.RPC = &transport.RPCError{Code: code}
	s.fail = &f
	return s
}
