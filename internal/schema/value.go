package schema

import (
	"bytes"
	"encoding/json"
	"strconv"

	"mcpc/internal/strictjson"
)

// object is a decoded object. Its names are sorted, so that the first fault is the same one every time.
type object struct {
	names   []string
	members map[string]any
}

// decode reads one strict JSON value, with objects as object and numbers as decimal.
func decode(text []byte, limit int, what string) (value any, why string) {
	if len(text) > limit {
		return nil, what + " is too large"
	}
	if strictjson.Validate(text, strictjson.MaxDepth) != nil {
		return nil, what + " is not strict JSON"
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, what + " is not strict JSON"
	}
	value, ok := refine(value)
	if !ok {
		return nil, what + " holds an extreme number"
	}
	return value, ""
}

// refine puts object and decimal in place of what encoding/json made; ok is false at a number beyond the bounds.
func refine(value any) (refined any, ok bool) {
	switch v := value.(type) {
	case json.Number:
		return parseDecimal(string(v))
	case []any:
		for i := range v {
			if v[i], ok = refine(v[i]); !ok {
				return nil, false
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], ok = refine(v[name]); !ok {
				return nil, false
			}
		}
		return object{sortedNames(v), v}, true
	}
	return value, true
}

// appendKey appends a text that two values have in common exactly when they are equal: 1 and 1.0 are, in any depth.
func appendKey(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, 'n')
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendText(append(dst, '"'), v)
	case decimal:
		if v.neg {
			dst = append(dst, '-')
		}
		return appendText(strconv.AppendInt(append(dst, '#'), int64(v.exp), 10), v.digits)
	case []any:
		dst = append(dst, '[')
		for _, e := range v {
			dst = appendKey(dst, e)
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for _, name := range v.names {
			dst = appendKey(appendText(dst, name), v.members[name])
		}
		return append(dst, '}')
	}
	return dst
}

// appendText appends a text behind its length, so that no text can pass for what follows it.
func appendText(dst []byte, text string) []byte {
	dst = append(strconv.AppendInt(append(dst, ' '), int64(len(text)), 10), ':')
	return append(dst, text...)
}

// weight is the work of making a key.
func weight(value any) int {
	sum := 1
	switch v := value.(type) {
	case string:
		sum += len(v) / 256
	case []any:
		for _, e := range v {
			sum += weight(e)
		}
	case object:
		for _, name := range v.names {
			sum += 1 + len(name)/256 + weight(v.members[name])
		}
	}
	return sum
}
