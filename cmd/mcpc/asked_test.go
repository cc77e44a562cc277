package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// asker is a legacy server whose tool asks for that method, waits for the answer, and then returns the result: on the
// stream of the call, or on the stream that the server has for itself.
func asker(method, then string, beside bool) replies {
	question := `data: {"jsonrpc":"2.0","id":0,"method":"` + method + `","params":{"message":"` + prose + `"}}` + "\n\n"
	answered := make(chan struct{}, 9)
	answer := func(p *peer, c net.Conn, r *request) {
		if r.rpc == "" {
			answered <- struct{}{}
		}
		status(202, "", "")(p, c, r)
	}
	waiting := func(begin string) reply {
		return func(p *peer, c net.Conn, r *request) {
			raw(begin)(p, c, r)
			<-answered
			raw(then)(p, c, r)
		}
	}
	if beside {
		stream := heldOpen(streamHeader + question)
		return replies{"POST /mcp": answer, "GET /mcp": stream, "tools/call": waiting(streamHeader)}
	}
	return replies{"POST /mcp": answer, "tools/call": waiting(streamHeader + question)}
}

// RES-10: what a tool answers without the input that it asked for is printed, and the command ends by the feature.
func TestCallThatWantsInput(t *testing.T) {
	t.Parallel()
	answers := func(result string) string { return `data: {"jsonrpc":"2.0","id":$ID,"result":` + result + `}` + "\n\n" }
	const failed = `{"content":[{"type":"text","text":"no"}],"isError":true}`
	fails := `data: {"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"` + prose + `"}}` + "\n\n"
	tests := []struct {
		name, method, then string
		exit               int
		refusal, stdout    string
	}{
		{"elicitation", "elicitation/create", answers(okText), 3, "feature.elicitation", okText + "\n"},
		{"sampling", "sampling/createMessage", answers(okText), 3, "feature.sampling", okText + "\n"},
		{"elicitation, an error result", "elicitation/create", answers(failed), 3, "feature.elicitation", failed + "\n"},
		{"elicitation, failing", "elicitation/create", fails, 3, "feature.elicitation", ""},
		{"elicitation, closed", "elicitation/create", "", 3, "feature.elicitation", ""},
		{"roots", "roots/list", answers(okText), 0, "", okText + "\n"},
		{"roots, an error result", "roots/list", answers(failed), 1, "", failed + "\n"},
		{"roots, failing", "roots/list", fails, 3, "feature.roots", ""},
		{"another", "vendor/x", answers(okText), 0, "", okText + "\n"},
	}
	for _, test := range tests {
		for place, beside := range map[string]bool{"on the stream of the call": false, "beside it": true} {
			t.Run(test.name+" "+place, func(t *testing.T) {
				t.Parallel()
				f := newField(t)
				f.calledPeer(legacy(), asker(test.method, test.then, beside))
				end := f.call("t")
				if end.exit != test.exit || end.refusal != test.refusal || end.stdout != test.stdout ||
					strings.Contains(end.stderr, prose) {
					t.Errorf("exit %d %q\nstdout: %s\nstderr: %s", end.exit, end.refusal, end.stdout, end.stderr)
				}
				if test.refusal != "" {
					f.wantDetail(end, "tool", "t")
				}
			})
		}
	}
}

// For people the result is the answer's text, and stderr says why it is not the answer.
func TestCallThatWantsInputForPeople(t *testing.T) {
	t.Parallel()
	f := newField(t)
	f.calledPeer(legacy(), asker("elicitation/create", `data: {"jsonrpc":"2.0","id":$ID,"result":`+okText+"}\n\n", true))
	end := f.runIn("", "call", "s", "t", "--authority", filepath.Join(f.home, "authority.json"))
	if end.exit != 3 || end.stdout != "ok\n" {
		t.Errorf("exit %d, stdout %q", end.exit, end.stdout)
	}
	f.want("stderr", end.stderr, "mcpc: note: the server asked for elicitation during the call and was refused\n")
	f.want("stderr", end.stderr, "mcpc: feature.elicitation: ")
	f.want("stderr", end.stderr, "mcpc: hint: the tool went on without it")
}
