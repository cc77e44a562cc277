package negotiate

import (
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// checkResult refuses what is not the result of the request but something that stands in its place, and nothing else:
// what a result holds is not looked at. Before 2026-07-28 there is no resultType; a member of that name is then the
// server's own, unless its value means that the request was not carried out.
func (s *Session) checkResult(method string, result []byte, fields ...refusal.Field) *refusal.Refusal {
	if limit := s.server.Limits.ResultBytes; int64(len(result)) > limit {
		return refusal.New(refusal.LimitResult, refusal.Num("limit", limit))
	}
	kind, has := strictjson.Member(result, "resultType")
	switch text, _ := strictjson.Text(kind); {
	case text == "input_required":
		return multiRound(result, fields...)
	case text == "task" || createdTask(result):
		return refusal.New(refusal.FeatureTasks, fields...)
	case has && text != "complete" && s.Modern():
		return refusal.New(refusal.ProtocolResultType, refusal.Own("protocol", s.handshake.Protocol))
	}
	return nil
}

// createdTask reports a CreateTaskResult (specification 2025-11-25, basic/utilities/tasks): a task in place of content.
func createdTask(result []byte) bool {
	task, _ := strictjson.Member(result, "task")
	_, hasID := strictjson.Member(task, "taskId")
	_, hasContent := strictjson.Member(result, "content")
	return hasID && !hasContent
}

// multiRound names what the server asks for before it goes on (specification, basic/patterns/mrtr). A result that has
// only a requestState asks for nothing but another try.
func multiRound(result []byte, fields ...refusal.Field) *refusal.Refusal {
	requests, _ := strictjson.Member(result, "inputRequests")
	var asked []string
	for _, request := range strictjson.Members(requests) {
		asked = append(asked, strictjson.MemberText(request, "method"))
	}
	no := refusal.New(refusal.FeatureMultiRound, fields...)
	if names := featureNames(asked); names != nil {
		no = no.With(refusal.Owns("features", names))
	}
	return no
}

// reportsError reads isError of a call's result. Anything but a plain false or null counts as an error: a value of
// another type breaks the protocol, but the call ran, so its result is still worth printing, and is no honest yes.
func reportsError(result []byte) bool {
	value, ok := strictjson.Member(result, "isError")
	return ok && string(value) != "false" && string(value) != "null"
}
