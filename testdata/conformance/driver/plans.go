package main

import "encoding/json"

// call is one tool and the arguments to call it with.
type call struct{ tool, arguments string }

// plan is what differs from scenario to scenario: the calls to make, and what an operator knows of the server.
type plan struct {
	calls    []call
	accept   string // protocol version that the operator accepts besides those that mcpc speaks
	metadata string // URL of the client metadata document that the operator hosts
	trusting bool   // the operator grants any arguments, where a draft would close them to the declared types
	choose   func(told given, tools []tool) []call
}

// tool is one descriptor of `mcpc discover --json`.
type tool struct {
	Name       string `json:"name"`
	Descriptor struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	} `json:"descriptor"`
}

// usual is the plan of every scenario that is not listed: the suite's protected servers have one tool.
var usual = plan{calls: []call{{"test-tool", "{}"}}}

var plans = map[string]plan{
	"initialize":               {},
	"request-metadata":         {},
	"json-schema-ref-no-deref": {},

	"tools_call":            {calls: []call{{"add_numbers", `{"a":5,"b":3}`}}},
	"http-standard-headers": {calls: []call{{"test_headers", "{}"}}},
	"sse-retry":             {calls: []call{{"test_reconnection", "{}"}}, accept: "2025-03-26"},

	"elicitation-sep1034-client-defaults": {calls: []call{{"test_client_elicitation_defaults", "{}"}}},
	"sep-2322-client-request-state": {calls: []call{
		{"test_mrtr_echo_state", "{}"},
		{"test_mrtr_no_state", "{}"},
		{"test_mrtr_unrelated", "{}"},
		{"test_mrtr_no_result_type", "{}"},
	}},

	"http-custom-headers":              {choose: asTold, trusting: true},
	"http-invalid-tool-headers":        {choose: everyTool},
	"json-schema-2020-12-preservation": {choose: echoSchema},

	"auth/basic-cimd": {calls: usual.calls, metadata: "https://conformance-test.local/client-metadata.json"},
}

// asTold makes the calls that the suite names, with the arguments as they stand.
func asTold(told given, _ []tool) []call {
	var calls []call
	for _, c := range told.ToolCalls {
		calls = append(calls, call{c.Name, string(c.Arguments)})
	}
	return calls
}

// everyTool calls each tool that mcpc shows.
func everyTool(_ given, tools []tool) []call {
	var calls []call
	for _, t := range tools {
		calls = append(calls, call{t.Name, `{"region":"us-west1"}`})
	}
	return calls
}

// echoSchema sends one tool's input schema, as mcpc shows it, to another.
func echoSchema(_ given, tools []tool) []call {
	for _, t := range tools {
		if t.Name == "json_schema_2020_12_tool" {
			return []call{{"json_schema_echo", `{"schema":` + string(t.Descriptor.InputSchema) + `}`}}
		}
	}
	return nil
}
