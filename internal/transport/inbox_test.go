package transport

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

func testInbox(p Protocol) *inbox {
	in := &inbox{limits: config.DefaultLimits(), protocol: p}
	in.begin(2, "tools/call")
	return in
}

const rpc = `{"jsonrpc":"2.0",`

func TestInboxResponse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, frame, refusal, result string }{
		{"ours", rpc + `"id":2,"result":{"a":1}}`, "", `{"a":1}`},
		{"another", rpc + `"id":3,"result":{}}`, "protocol.id", ""},
		{"earlier", rpc + `"id":1,"result":{}}`, "protocol.id", ""},
		{"string", rpc + `"id":"2","result":{}}`, "protocol.id", ""},
		{"error without id", rpc + `"error":{"code":-32700}}`, "", ""},
		{"error null id", rpc + `"id":null,"error":{"code":-32700}}`, "", ""},
		{"error of another", rpc + `"id":9,"error":{"code":-32700}}`, "protocol.id", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, no := testInbox(Protocol{}).frame([]byte(test.frame))
			checkRefusal(t, no, test.refusal)
			if test.refusal == "" && (d.response == nil || string(d.response.Result) != test.result) {
				t.Errorf("%+v", d.response)
			}
		})
	}
}

func checkRefusal(t *testing.T, no *refusal.Refusal, want string) {
	t.Helper()
	got := ""
	if no != nil {
		got = no.Name()
	}
	if got != want {
		t.Fatalf("%q (%v), want %q", got, no, want)
	}
}

func TestInboxLate(t *testing.T) {
	t.Parallel()
	in := testInbox(Protocol{})
	in.abandon()
	in.begin(3, "initialize")
	late := []byte(rpc + `"id":2,"result":{}}`)
	d, no := in.frame(late)
	if no != nil || d.late == nil || d.late.method != "tools/call" || d.response != nil {
		t.Fatalf("%+v %v", d, no)
	}
	_, no = in.frame(late)
	checkRefusal(t, no, "protocol.id") // an id is answered once
	in.end()
	_, no = in.frame([]byte(rpc + `"id":3,"result":{}}`))
	checkRefusal(t, no, "protocol.id")
	_, no = in.frame([]byte(rpc + `"error":{"code":1}}`))
	checkRefusal(t, no, "protocol.id") // nothing is in flight that it could be for
}

func TestInboxServerRequest(t *testing.T) {
	t.Parallel()
	in := testInbox(Protocol{Version: Legacy, Legacy: true})
	methods := "ping roots/list vendor/secret sampling/createMessage roots/list vendor/other elicitation/create"
	for method := range strings.FieldsSeq(methods) {
		d, no := in.frame([]byte(rpc + `"id":2,"method":"` + method + `"}`))
		if no != nil || string(d.reply) != string(encodeReply(rawID("2"), method)) {
			t.Fatalf("%s: %s %v", method, d.reply, no)
		}
	}
	want := []string{"roots/list", "", "sampling/createMessage", "elicitation/create"}
	if diff := cmp.Diff(want, in.asked); diff != "" {
		t.Error(diff)
	}
}

func TestInboxServerRequestModern(t *testing.T) {
	t.Parallel()
	_, no := testInbox(Protocol{Version: Modern}).frame([]byte(rpc + `"id":1,"method":"ping"}`))
	checkRefusal(t, no, "protocol.server_request")
	if no.Detail("protocol") != Modern {
		t.Errorf("%v", no)
	}
	d, no := testInbox(Protocol{}).frame([]byte(rpc + `"id":1,"method":"ping"}`))
	if no != nil || d.reply == nil {
		t.Errorf("before negotiation: %+v %v", d, no)
	}
}

func TestInboxEvents(t *testing.T) {
	t.Parallel()
	note, answer := []byte(rpc+`"method":"n"}`), []byte(rpc+`"id":2,"result":{}}`)
	for notes, want := range map[int]string{1: "", 2: "", 3: "limit.events"} {
		in := testInbox(Protocol{})
		in.limits.Events = 3
		in.begin(2, "tools/call")
		for range notes {
			if _, no := in.frame(note); no != nil {
				t.Fatal(no)
			}
		}
		_, no := in.frame(answer)
		checkRefusal(t, no, want)
	}
}

func TestInboxResultLimit(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{9: "", 10: "", 11: "limit.result"} {
		in := testInbox(Protocol{})
		in.limits.ResultBytes = 10
		_, no := in.frame([]byte(rpc + `"id":2,"result":{` + strings.Repeat(" ", size-2) + `}}`))
		checkRefusal(t, no, want)
	}
}
