package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// Exact comparison expands an exponent into digits: 1e5000000 would cost megabytes and minutes. Numbers beyond these
// bounds are kept from the evaluator.
const (
	maxDigits   = 400
	maxExponent = 400
)

// ordinaryNumber reports whether a JSON number literal is within the bounds.
func ordinaryNumber(literal string) bool {
	mantissa, exponent, found := strings.Cut(strings.ToLower(literal), "e")
	if len(mantissa) > maxDigits+2 { // sign and point
		return false
	}
	if !found {
		return true
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && n >= -maxExponent && n <= maxExponent
}

// Number returns the exact value of a JSON number literal that is spelled within the bounds.
func Number(literal string) (n *big.Rat, ok bool) {
	if !ordinaryNumber(literal) {
		return nil, false
	}
	return new(big.Rat).SetString(literal)
}

// ordinaryNumbers reports whether all numbers of a decoded value are.
func ordinaryNumbers(value any) bool {
	switch v := value.(type) {
	case json.Number:
		return ordinaryNumber(string(v))
	case []any:
		for _, e := range v {
			if !ordinaryNumbers(e) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !ordinaryNumbers(e) {
				return false
			}
		}
	}
	return true
}

// literalWork is the work of one exact operation on a number: its digits, and those that the exponent stands for.
func literalWork(literal string) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	n, _ := strconv.Atoi(exponent)
	return 1 + (len(mantissa)+max(n, -n))/16
}

// weight is the work of comparing or hashing a whole value.
func weight(value any) int {
	switch v := value.(type) {
	case json.Number:
		return literalWork(string(v))
	case string:
		return 1 + len(v)/256
	case []any:
		sum := 1
		for _, e := range v {
			sum += weight(e)
		}
		return sum
	case map[string]any:
		sum := 1
		for _, e := range v {
			sum += 1 + weight(e)
		}
		return sum
	}
	return 1
}
