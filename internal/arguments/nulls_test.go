package arguments

import (
	"testing"

	"mcpc/internal/refusal"
)

func TestNullOfMirroredArguments(t *testing.T) {
	t.Parallel()
	tool := toolOf(`{"type":"object","required":["must"],"properties":{
		"must":{"type":"string","x-mcp-header":"Must"},
		"flag":{"type":"boolean","x-mcp-header":"Flag"},
		"in":{"type":"object","properties":{"id":{"type":"integer","x-mcp-header":"Id"},"n":{"type":"integer"}}},
		"plain":{"type":"boolean"}}}`)
	for args, pointer := range map[string]string{
		`{"must":"x","flag":null}`:                     "",
		`{"must":"x","in":{"id":null,"n":1}}`:          "",
		`{ "must":"x", "flag":null, "in":{"id":null}}`: "",
		`{"must":"x","flag":true}`:                     "",
		`{"must":"x","flag":1}`:                        "/flag",
		`{"must":null,"flag":null}`:                    "/must",
		`{"must":"x","plain":null}`:                    "/plain",
		`{"must":"x","flag":null,"plain":null}`:        "/plain",
		`{"must":"x","in":{"id":null,"n":null}}`:       "/in/n",
		`{"must":"x","in":null}`:                       "/in",
	} {
		sent, _, err := Parse(tool, nil, &args, files{}, limit)
		r, _ := refusal.As(err)
		switch {
		case pointer == "" && (err != nil || string(sent) != args):
			t.Errorf("%s: sent %s, %v", args, sent, err)
		case pointer != "" && (!refusal.Is(err, refusal.ArgumentsSchema) || r.Detail("pointer") != pointer):
			t.Errorf("%s: %v, want a misfit at %s", args, err, pointer)
		}
	}
}
