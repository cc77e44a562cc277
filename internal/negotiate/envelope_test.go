package negotiate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"mcpc","version":"0.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

func TestEnvelope(t *testing.T) {
	t.Parallel()
	cursor := ""
	whole := Call{Tool: "zoek/\"café\"", Arguments: []byte(`{ "n":1.10, "big":9007199254740993 }`)}
	for name, test := range map[string]struct {
		req  *transport.Request
		want string
	}{
		"discover": {discoverRequest(me), `{` + meta + `}`},
		"initialize": {
			initializeRequest(me, "2025-11-25"),
			`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcpc","version":"0.0.0"}}`,
		},
		"list":        {listRequest(transport.Modern, me, nil), `{` + meta + `}`},
		"list at":     {listRequest(transport.Modern, me, &cursor), `{"cursor":"",` + meta + `}`},
		"legacy list": {listRequest(transport.Legacy, me, nil), `{}`},
		"call": {
			callRequest(transport.Modern, me, whole, ""),
			`{"name":"zoek/\"café\"","arguments":{ "n":1.10, "big":9007199254740993 },` + meta + `}`,
		},
		"call without": {callRequest(transport.Modern, me, Call{Tool: "t"}, ""), `{"name":"t","arguments":{},` + meta + `}`},
		"call progress": {
			callRequest(transport.Modern, me, Call{Tool: "t"}, "mcpc-1"),
			`{"name":"t","arguments":{},` + meta[:len(meta)-1] + `,"progressToken":"mcpc-1"}}`,
		},
		"legacy call": {callRequest(transport.Legacy, me, Call{Tool: "t"}, ""), `{"name":"t","arguments":{}}`},
		"legacy call progress": {
			callRequest(transport.Legacy, me, Call{Tool: "t"}, "mcpc-2"),
			`{"name":"t","arguments":{},"_meta":{"progressToken":"mcpc-2"}}`,
		},
		"listen": {listenRequest(me), `{"notifications":{"toolsListChanged":true},` + meta + `}`},
	} {
		if diff := cmp.Diff(test.want, string(test.req.Params)); diff != "" {
			t.Error(name, diff)
		}
	}
}

func TestCallMessage(t *testing.T) {
	t.Parallel()
	call := Call{Tool: "t", Arguments: []byte(`{"a":1e2}`), Progress: func(Progress) {}}
	want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1e2},` +
		meta[:len(meta)-1] + `,"progressToken":"mcpc-1"}}}`
	if diff := cmp.Diff(want, string(CallMessage(transport.Modern, me, call))); diff != "" {
		t.Error(diff)
	}
	call.Progress = nil
	want = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"a":1e2}}}`
	if diff := cmp.Diff(want, string(CallMessage(transport.Legacy, me, call))); diff != "" {
		t.Error(diff)
	}
}

func TestCallRequestHeaders(t *testing.T) {
	t.Parallel()
	call := Call{Tool: "t", Headers: []transport.HeaderField{{Name: "Mcp-Param-Owner", Value: "x"}}}
	if req := callRequest(transport.Modern, me, call, ""); req.Name != "t" || len(req.Headers) != 1 || req.NoCancel {
		t.Errorf("%+v", req)
	}
}

func TestFeature(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]*refusal.Entry{
		"roots": refusal.FeatureRoots, "roots/list": refusal.FeatureRoots, "sampling/createMessage": refusal.FeatureSampling,
		"elicitation/create": refusal.FeatureElicitation, "resources/templates/list": refusal.FeatureResources,
		"prompts/get": refusal.FeaturePrompts, "tasks/cancel": refusal.FeatureTasks,
		"completion/complete": refusal.FeatureCompletion,
		"logging/setLevel":    refusal.FeatureLogging, "tools/list": nil, "ping": nil, "": nil, "Roots": nil,
	} {
		if got := Feature(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestDated(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{
		"2025-11-25": true, "0000-99-99": true, "2025-1-25": false, "2025-11-2x": false, "2025/11/25": false,
		"20251125--": false, "2025-11-25 ": false, "٢025-11-25": false, "": false, "DRAFT-2026": false,
	} {
		if dated(v) != want {
			t.Errorf("%q: %v", v, !want)
		}
	}
}
