package negotiate

import (
	"context"
	"strconv"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// Call is one tools/call.
type Call struct {
	Tool      string
	Arguments []byte                  // one JSON object, sent as it stands; nil sends {}
	Headers   []transport.HeaderField // Mcp-Param-*, encoded
	Progress  func(Progress)          // nil asks for no progress
}

// Progress is one notifications/progress for the call; Message is the peer's text.
type Progress struct {
	Value, Total float64 // Total is 0 when unknown
	Message      string
}

// Result is the answer to a call.
type Result struct {
	Raw     []byte   // the result member as received
	IsError bool     // isError is true, or is not a boolean
	Asked   []string // what the server asked for meanwhile and was refused: "elicitation", "sampling", "roots", otherName
	// Refused is set where Asked holds elicitation or sampling: what the tool says without the input that it asked for
	// is worth showing, and is not the answer to the call.
	Refused *refusal.Refusal
}

// Call sends the call, once, within the call limit. Nothing sends it again: not a lost session, not a broken
// connection, and not an answer that says nothing about whether it ran. An error is a *refusal.Refusal.
func (s *Session) Call(ctx context.Context, call Call) (*Result, error) {
	ctx, stop := within(ctx, s.server.Limits.Call)
	defer stop()
	note, token := s.note, ""
	if call.Progress != nil {
		s.tokens++
		token = progressToken(s.tokens)
		note = func(n transport.Notification) {
			s.note(n)
			report(n, token, call.Progress)
		}
	}
	a := s.send(ctx, callRequest(s.handshake.Protocol, s.client, call, token), note)
	asked := featureNames(s.carrier.Asked())
	if a.result == nil {
		return nil, s.callRefusal(ctx, a, asked, call.Tool)
	}
	if no := s.checkResult(methodCall, a.result, refusal.Own("tool", call.Tool)); no != nil {
		return nil, ran(no)
	}
	refused := inputRefusal(asked, call.Tool)
	return &Result{Raw: a.result, IsError: reportsError(a.result), Asked: asked, Refused: refused}, nil
}

// progressToken is a string, so that it cannot be mistaken for a number that a server made up.
func progressToken(n int64) string { return "mcpc-" + strconv.FormatInt(n, 10) }

// report passes on progress of our own token. Anything else, and numbers that are none, is ignored: it is a remark
// beside the answer and no reason to lose that.
func report(n transport.Notification, token string, to func(Progress)) {
	if n.Method != "notifications/progress" || strictjson.MemberText(n.Params, "progressToken") != token {
		return
	}
	value, ok := number(n.Params, "progress")
	if !ok {
		return
	}
	total, _ := number(n.Params, "total")
	to(Progress{Value: value, Total: max(total, 0), Message: strictjson.MemberText(n.Params, "message")})
}

// maxNumber bounds the spelling of a number that is only shown.
const maxNumber = 64

func number(params []byte, name string) (float64, bool) {
	value, ok := strictjson.Member(params, name)
	if !ok || strictjson.Kind(value) != '0' || len(value) > maxNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	return f, err == nil // which a number out of range is not
}
