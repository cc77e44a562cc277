package transport

import "testing"

func TestEncode(t *testing.T) {
	t.Parallel()
	req := &Request{Method: "tools/call", Params: []byte(`{"name":"<a>&","n":1.50}`)}
	tests := map[string][2]string{
		"request":      {string(EncodeRequest(1, req)), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"<a>&","n":1.50}}`},
		"later":        {string(encodeRequest(12, &Request{Method: "ping"})), `{"jsonrpc":"2.0","id":12,"method":"ping"}`},
		"notification": {string(encodeNotification(req)), `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"<a>&","n":1.50}}`},
		"cancelled":    {string(encodeCancelled(3)), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`},
		"ping":         {string(encodeReply(rawID(`"a"`), "ping")), `{"jsonrpc":"2.0","id":"a","result":{}}`},
		"other": {
			string(encodeReply(rawID("2"), "roots/list")),
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`,
		},
		"line ends": {
			string(EncodeRequest(1, &Request{Method: "m", Params: []byte("{\r\n\"a\":\"\\n\"\n}")})),
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{  "a":"\n" }}`,
		},
	}
	for name, test := range tests {
		if test[0] != test[1] {
			t.Errorf("%s:\n got %s\nwant %s", name, test[0], test[1])
		}
	}
}
