package transport

import (
	"errors"
	"strconv"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// messageKind is one of the three kinds of JSON-RPC message.
type messageKind int

const (
	kindResponse messageKind = iota + 1
	kindNotification
	kindRequest
)

// message is one inbound frame, decoded. Its byte slices are slices of the frame.
type message struct {
	kind   messageKind
	id     rawID  // nil for a notification, and for an error that names no request
	method string // "" for a response
	params []byte // nil when absent
	result []byte // of a response: exactly one of result and rpc is set
	rpc    *RPCError
}

// rawID is the JSON text of an id. The text is compared and never the value: "1" is not 1, and neither is 1.0.
type rawID []byte

// is reports whether the id is one that this side gave.
func (id rawID) is(own int64) bool { return string(id) == strconv.FormatInt(own, 10) }

// own returns the id as a number if it can be one that this side gave.
func (id rawID) own() (int64, bool) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return n, err == nil && id.is(n)
}

// Faults of a protocol.message refusal.
const (
	faultNoVersion  = "no jsonrpc member"
	faultVersion    = "jsonrpc is not 2.0"
	faultMethod     = "method is not a string"
	faultParams     = "params is not an object"
	faultID         = "id is neither a string nor an integer"
	faultNoID       = "a result without an id"
	faultNoKind     = "neither a request, a notification nor a response"
	faultManyKinds  = "more than one of method, result and error"
	faultResult     = "result is not an object"
	faultError      = "error is not an object"
	faultErrorCode  = "error code is not an integer"
	faultRequestNil = "a request whose id is null"
)

// decodeFrame makes a message of one inbound frame, whose size the caller has bounded. Nothing of the frame is looked
// at before all of it is known to be strict JSON nested at most depth deep.
func decodeFrame(frame []byte, depth int64) (message, *refusal.Refusal) {
	if err := strictjson.Validate(frame, int(depth)); err != nil {
		return message{}, frameRefusal(err, depth)
	}
	switch strictjson.Kind(frame) {
	case '{':
		return decodeObject(frame)
	case '[':
		// Batches left the protocol with 2025-06-18.
		return message{}, refusal.New(refusal.ProtocolBatch)
	}
	return message{}, refusal.New(refusal.ProtocolFrame, refusal.Own("fault", string(strictjson.FaultNotObject)))
}

func frameRefusal(err error, depth int64) *refusal.Refusal {
	var fault *strictjson.Error
	if !errors.As(err, &fault) {
		return refusal.New(refusal.ProtocolFrame, refusal.Own("fault", string(strictjson.FaultSyntax)))
	}
	if fault.Fault == strictjson.FaultDepth {
		return refusal.New(refusal.LimitDepth, refusal.Num("limit", depth))
	}
	return refusal.New(refusal.ProtocolFrame,
		refusal.Own("fault", string(fault.Fault)), refusal.Num("offset", fault.Offset))
}

// members are those of a JSON-RPC message; nil is an absent one. JSON-RPC 2.0 sections 4 and 5 name no others, and
// others are ignored.
type members struct{ version, id, method, params, result, err []byte }

func decodeObject(frame []byte) (message, *refusal.Refusal) {
	m := membersOf(frame)
	if m.version == nil {
		return message{}, malformed(faultNoVersion)
	}
	if v, ok := strictjson.Text(m.version); !ok || v != "2.0" {
		return message{}, malformed(faultVersion)
	}
	switch kinds := count(m.method, m.result, m.err); {
	case kinds == 0:
		return message{}, malformed(faultNoKind)
	case kinds > 1:
		return message{}, malformed(faultManyKinds)
	case m.id != nil && !isID(m.id) && !isNull(m.id):
		return message{}, malformed(faultID)
	case m.method != nil:
		return decodeMethod(m)
	case m.result != nil:
		return decodeResult(m)
	}
	return decodeError(m)
}

func membersOf(frame []byte) members {
	var m members
	for name, value := range strictjson.Members(frame) {
		switch name {
		case "jsonrpc":
			m.version = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
	}
	return m
}

// decodeMethod makes a request or a notification. A null params is taken for none: some servers write it so.
func decodeMethod(m members) (message, *refusal.Refusal) {
	method, ok := strictjson.Text(m.method)
	switch {
	case !ok:
		return message{}, malformed(faultMethod)
	case m.params != nil && isNull(m.params):
		m.params = nil
	case m.params != nil && strictjson.Kind(m.params) != '{':
		return message{}, malformed(faultParams)
	}
	if m.id == nil {
		return message{kind: kindNotification, method: method, params: m.params}, nil
	}
	if isNull(m.id) {
		return message{}, malformed(faultRequestNil)
	}
	return message{kind: kindRequest, id: m.id, method: method, params: m.params}, nil
}

func decodeResult(m members) (message, *refusal.Refusal) {
	switch {
	case m.id == nil || isNull(m.id):
		return message{}, malformed(faultNoID)
	case strictjson.Kind(m.result) != '{':
		return message{}, malformed(faultResult)
	}
	return message{kind: kindResponse, id: m.id, result: m.result}, nil
}

// decodeError drops the error's message text: it is the peer's prose and must reach nothing. An id that is null or
// absent says that the server could not read which request it answers (JSON-RPC 2.0 section 5).
func decodeError(m members) (message, *refusal.Refusal) {
	if strictjson.Kind(m.err) != '{' {
		return message{}, malformed(faultError)
	}
	text, _ := strictjson.Member(m.err, "code")
	code, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return message{}, malformed(faultErrorCode)
	}
	data, _ := strictjson.Member(m.err, "data")
	id := rawID(m.id)
	if isNull(m.id) {
		id = nil
	}
	return message{kind: kindResponse, id: id, rpc: &RPCError{Code: code, Data: data}}, nil
}

func malformed(fault string) *refusal.Refusal {
	return refusal.New(refusal.ProtocolMessage, refusal.Own("fault", fault))
}

// checkResult refuses a result over the limit; it is never shortened.
func checkResult(result []byte, limit int64) *refusal.Refusal {
	if int64(len(result)) > limit {
		return refusal.New(refusal.LimitResult, refusal.Num("limit", limit))
	}
	return nil
}

func count(values ...[]byte) (n int) {
	for _, v := range values {
		if v != nil {
			n++
		}
	}
	return n
}

func isNull(value []byte) bool { return string(value) == "null" }

// isID accepts a string or an integer, spelled without fraction and exponent (JSON-RPC 2.0 section 4).
func isID(value []byte) bool {
	switch strictjson.Kind(value) {
	case '"':
		return true
	case '0':
		for _, c := range value {
			if c == '.' || c == 'e' || c == 'E' {
				return false
			}
		}
		return true
	}
	return false
}
