package arguments

import (
	"fmt"
	"strings"
	"testing"

	"mcpc/internal/refusal"
)

var mirrored = toolOf(`{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"count":{"type":"integer","x-mcp-header":"Count"},
	"dry":{"type":["boolean","null"],"x-mcp-header":"Dry-Run"},
	"in":{"type":"object","properties":{"id":{"type":"string","x-mcp-header":"Inner-Id"}}},
	"plain":{"type":"string"}}}`)

func TestHeaders(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{}`:                                   ``,
		`{"region":"us-west1"}`:                `Mcp-Param-Region: us-west1`,
		`{"region":null,"dry":null}`:           ``,
		`{"region":""}`:                        `Mcp-Param-Region: `,
		`{"region":"Hello, 世界"}`:               `Mcp-Param-Region: =?base64?SGVsbG8sIOS4lueVjA==?=`,
		`{"region":" padded "}`:                `Mcp-Param-Region: =?base64?IHBhZGRlZCA=?=`,
		`{"region":"a\r\nX-Evil: 1"}`:          `Mcp-Param-Region: =?base64?YQ0KWC1FdmlsOiAx?=`,
		`{"region":"\u0061"}`:                  `Mcp-Param-Region: a`,
		`{"count":42}`:                         `Mcp-Param-Count: 42`,
		`{"count":-7.0}`:                       `Mcp-Param-Count: -7`,
		`{"count":1e2}`:                        `Mcp-Param-Count: 100`,
		`{"count":-0}`:                         `Mcp-Param-Count: 0`,
		`{"count":9007199254740991}`:           `Mcp-Param-Count: 9007199254740991`,
		`{"count":-9007199254740991}`:          `Mcp-Param-Count: -9007199254740991`,
		`{"dry":false,"plain":"x"}`:            `Mcp-Param-Dry-Run: false`,
		`{"in":{"id":"7"}}`:                    `Mcp-Param-Inner-Id: 7`,
		`{"in":{}}`:                            ``,
		`{"in":"id"}`:                          ``,
		`{"dry":true,"count":1,"region":"eu"}`: `Mcp-Param-Region: eu|Mcp-Param-Count: 1|Mcp-Param-Dry-Run: true`,
	} {
		fields, err := Headers(mirrored, []byte(args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		var got []string
		for _, f := range fields {
			got = append(got, f.Name+": "+f.Value)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: got %q", args, got)
		}
	}
}

func TestHeadersRefuse(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"count":9007199254740992}`:    "arguments.header_integer count",
		`{"count":-9007199254740992}`:   "arguments.header_integer count",
		`{"count":1.5}`:                 "arguments.header_integer count",
		`{"count":1e5000000}`:           "arguments.header_integer count",
		`{"count":"1"}`:                 "arguments.header_integer count",
		`{"region":1}`:                  "arguments.type region",
		`{"dry":"true"}`:                "arguments.type dry",
		`{"in":{"id":{"secret":true}}}`: "arguments.type in.id",
	} {
		fields, err := Headers(mirrored, []byte(args))
		r := refusal.From(err)
		if fields != nil || r == nil || fmt.Sprint(r.Name(), " ", r.Detail("argument")) != want {
			t.Errorf("%s: got %v, %v", args, fields, err)
		}
	}
	broken := toolOf(`{"properties":{"x":{"type":"number","x-mcp-header":"X"}}}`)
	if _, err := Headers(broken, []byte(`{}`)); !refusal.Is(err, refusal.AuthorityToolRejected) {
		t.Errorf("a broken annotation: %v", err)
	}
}
