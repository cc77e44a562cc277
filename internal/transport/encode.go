package transport

import (
	"bytes"
	"strconv"

	"mcpc/internal/strictjson"
)

// EncodeRequest returns the exact bytes of a request as a carrier sends it, without a line end. Carriers count their
// ids from 1.
func EncodeRequest(id int64, req *Request) []byte { return encodeRequest(id, req) }

// encodeRequest returns one line without its end. The parameters are spliced in as they stand.
func encodeRequest(id int64, req *Request) []byte {
	b := append(make([]byte, 0, len(req.Params)+128), `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, id, 10)
	return appendMethod(append(b, ','), req)
}

func encodeNotification(req *Request) []byte {
	b := append(make([]byte, 0, len(req.Params)+128), `{"jsonrpc":"2.0",`...)
	return appendMethod(b, req)
}

func appendMethod(b []byte, req *Request) []byte {
	b = strictjson.AppendQuote(append(b, `"method":`...), req.Method)
	if req.Params != nil {
		b = append(append(b, `,"params":`...), oneLine(req.Params)...)
	}
	return append(b, '}')
}

// oneLine puts a space for every line end. In valid JSON those stand between tokens only; on stdio a message must not
// hold one.
func oneLine(json []byte) []byte {
	if !bytes.ContainsAny(json, "\r\n") {
		return json
	}
	line := bytes.Clone(json)
	for i, c := range line {
		if c == '\n' || c == '\r' {
			line[i] = ' '
		}
	}
	return line
}

// encodeReply answers a request of the server's: a ping with an empty result, as the legacy protocol demands, and
// anything else with "method not found", since mcpc advertises no capability.
func encodeReply(id rawID, method string) []byte {
	b := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), ',')
	if method == "ping" {
		return append(b, `"result":{}}`...)
	}
	return append(b, `"error":{"code":-32601,"message":"Method not found"}}`...)
}

// encodeCancelled tells the server that nobody waits for the answer to id any more.
func encodeCancelled(id int64) []byte {
	params := strconv.AppendInt([]byte(`{"requestId":`), id, 10)
	return encodeNotification(&Request{Method: "notifications/cancelled", Params: append(params, '}')})
}
