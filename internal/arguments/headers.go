package arguments

import (
	"strings"

	"mcpc/internal/refusal"
	"mcpc/internal/schema"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// paramPrefix begins the name of every header that mirrors an argument.
const paramPrefix = "Mcp-Param-"

// Headers returns the Mcp-Param-* headers that mirror these arguments, by the pinned input schema (MCP 2026-07-28,
// Streamable HTTP, "Custom Headers from Tool Parameters"). A null or absent argument has none. args is an object that
// Parse returned.
func Headers(tool *snapshot.Tool, args []byte) ([]transport.HeaderField, error) {
	input, _ := strictjson.Member(tool.Descriptor, "inputSchema")
	params, ok := snapshot.HeaderParams(input)
	if !ok { // such a tool is among the rejected of a snapshot over HTTP
		return nil, refusal.New(refusal.AuthorityToolRejected, refusal.Own("tool", tool.Name),
			refusal.Own("reason", snapshot.ReasonHeaderAnnotation))
	}
	var fields []transport.HeaderField
	for _, param := range params {
		value, ok := at(args, param.Path)
		if !ok || strictjson.Kind(value) == 'n' {
			continue
		}
		text, err := mirror(tool, param, value)
		if err != nil {
			return nil, err
		}
		fields = append(fields, transport.HeaderField{
			Name: paramPrefix + param.Header, Value: transport.EncodeHeaderValue(text),
		})
	}
	return fields, nil
}

// at returns the value at a path of member names.
func at(object []byte, path []string) (value []byte, ok bool) {
	value = object
	for _, name := range path {
		if value, ok = strictjson.Member(value, name); !ok {
			return nil, false
		}
	}
	return value, true
}

// mirror returns the text of a header. A value of another type than the annotated one has no text that the server
// could compare, so the call is refused. The names of the path stand in the arguments, so the operator wrote them.
func mirror(tool *snapshot.Tool, param snapshot.HeaderParam, value []byte) (string, error) {
	switch kind := strictjson.Kind(value); param.Type {
	case "string":
		if text, ok := strictjson.Text(value); ok {
			return text, nil
		}
		return "", wrongType(tool, param, "a string")
	case "boolean":
		if kind == 't' || kind == 'f' {
			return string(value), nil
		}
		return "", wrongType(tool, param, "true or false")
	default:
		if text, ok := decimal(value); ok {
			return text, nil
		}
		return "", refusal.New(refusal.ArgumentsHeader, argumentOf(param), refusal.Own("tool", tool.Name))
	}
}

func wrongType(tool *snapshot.Tool, param snapshot.HeaderParam, want string) error {
	return refusal.New(refusal.ArgumentsType, argumentOf(param), refusal.Own("want", want), refusal.Own("tool", tool.Name))
}

func argumentOf(param snapshot.HeaderParam) refusal.Field {
	return refusal.Own("argument", strings.Join(param.Path, "."))
}

// maxSafe is 2^53-1, the largest integer that every JSON reader keeps exactly.
const maxSafe = 1<<53 - 1

// decimal returns the plain decimal spelling of an integer within ±(2^53-1), however it is spelled: 1e2 is 100.
func decimal(value []byte) (string, bool) {
	if strictjson.Kind(value) != '0' {
		return "", false
	}
	n, ok := schema.Number(string(value))
	if !ok || !n.IsInt() || !n.Num().IsInt64() {
		return "", false
	}
	if i := n.Num().Int64(); i > maxSafe || i < -maxSafe {
		return "", false
	}
	return n.Num().String(), true
}
