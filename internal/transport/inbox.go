package transport

import (
	"slices"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// inbox decides what an inbound message is for: both carriers ask it about every message, in order. It is not safe
// for concurrent use.
type inbox struct {
	limits    config.Limits
	protocol  Protocol
	flight    int64            // id of the request in flight; 0 for none
	method    string           // its method
	messages  int64            // seen since begin
	abandoned map[int64]string // ids given up, whose answer may still come: method by id; stays empty on HTTP
	asked     []string         // since begin
}

// delivery is what to do with one message: exactly one member is set, or none, then the message is dropped.
type delivery struct {
	response *Response     // the answer to the request in flight
	note     *Notification // for the caller
	reply    []byte        // to send to the server, which asked something
	late     *late         // an answer that nobody waits for
}

// late is the answer to a request that was given up.
type late struct {
	method   string
	response *Response
}

// begin says which request is in flight, 0 for none yet; the messages from here on are counted for its answer, and what
// the server asks is asked meanwhile.
func (in *inbox) begin(id int64, method string) {
	in.flight, in.method, in.messages, in.asked = id, method, 0, nil
}

// end says that the request in flight has its answer.
func (in *inbox) end() { in.flight, in.method = 0, "" }

// abandon gives up the request in flight on a carrier that stays open; its late answer is then no fault.
func (in *inbox) abandon() {
	if in.flight == 0 {
		return
	}
	if in.abandoned == nil {
		in.abandoned = map[int64]string{}
	}
	in.abandoned[in.flight] = in.method
	in.end()
}

// frame is decodeFrame and take.
func (in *inbox) frame(frame []byte) (delivery, *refusal.Refusal) {
	m, no := decodeFrame(frame, in.limits.Depth)
	if no != nil {
		return delivery{}, no
	}
	return in.take(m)
}

// take counts a message and says what it is for.
func (in *inbox) take(m message) (delivery, *refusal.Refusal) {
	if in.messages++; in.messages > in.limits.Events {
		return delivery{}, refusal.New(refusal.LimitEvents, refusal.Num("limit", in.limits.Events))
	}
	switch m.kind {
	case kindNotification:
		return delivery{note: &Notification{Method: m.method, Params: m.params}}, nil
	case kindRequest:
		return in.request(m)
	}
	return in.response(m)
}

// request refuses a server's request in the modern era, which has none, and makes the reply to it before that. Where
// nothing is negotiated yet the server may be a legacy one.
func (in *inbox) request(m message) (delivery, *refusal.Refusal) {
	if !in.protocol.Legacy && in.protocol.Version != "" {
		return delivery{}, refusal.New(refusal.ProtocolServerRequest, refusal.Own("protocol", in.protocol.Version))
	}
	if m.method != "ping" {
		in.remember(m.method)
	}
	return delivery{reply: encodeReply(m.id, m.method)}, nil
}

// remember keeps the method if it is of the closed set, and "" for any other: the name is the peer's text.
func (in *inbox) remember(method string) {
	switch method {
	case "roots/list", "sampling/createMessage", "elicitation/create":
	default:
		method = ""
	}
	if !slices.Contains(in.asked, method) {
		in.asked = append(in.asked, method)
	}
}

// response accepts the answer to the request in flight. An error without an id can only be meant for that one.
func (in *inbox) response(m message) (delivery, *refusal.Refusal) {
	answer := &Response{Result: m.result, Err: m.rpc}
	if id, ok := m.id.own(); ok {
		if method, ok := in.abandoned[id]; ok {
			delete(in.abandoned, id)
			return delivery{late: &late{method, answer}}, nil
		}
	}
	if in.flight == 0 || (m.id != nil && !m.id.is(in.flight)) {
		return delivery{}, refusal.New(refusal.ProtocolID)
	}
	if no := checkResult(m.result, in.limits.ResultBytes); no != nil {
		return delivery{}, no
	}
	return delivery{response: answer}, nil
}
