package snapshot

import (
	"bytes"
	"strconv"
	"strings"

	"mcpc/internal/strictjson"
)

// sameButSpelling reports whether two values that differ are one but for the spelling of numbers.
func sameButSpelling(a, b []byte) bool {
	kind := strictjson.Kind(a)
	if kind != strictjson.Kind(b) {
		return false
	}
	switch kind {
	case '0':
		return sameNumber(a, b)
	case '{':
		return sameMembers(a, b)
	case '[':
		return sameElements(a, b)
	}
	return equal(a, b)
}

func sameMembers(a, b []byte) bool {
	one, two := membersOf(a), membersOf(b)
	if len(one) != len(two) {
		return false
	}
	for name, v := range one {
		if other := two[name]; other == nil || !sameButSpelling(v, other) {
			return false
		}
	}
	return true
}

func sameElements(a, b []byte) bool {
	one, two := list(a), list(b)
	if len(one) != len(two) {
		return false
	}
	for i := range one {
		if !sameButSpelling(one[i], two[i]) {
			return false
		}
	}
	return true
}

// sameNumber compares two JSON numbers exactly and without expanding their exponents. Numbers with an exponent of more
// than eighteen digits are the same only when they are spelled the same.
func sameNumber(a, b []byte) bool {
	one, okA := decimalOf(string(a))
	two, okB := decimalOf(string(b))
	if !okA || !okB {
		return bytes.Equal(a, b)
	}
	return one == two
}

// decimal is sign·digits·10^exponent, without zeros at either end of digits; zero has no digits and no sign.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

func decimalOf(number string) (d decimal, ok bool) {
	mantissa, exponent := number, ""
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		mantissa, exponent = number[:i], strings.TrimPrefix(number[i+1:], "+")
	}
	mantissa, d.negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	if exponent != "" {
		n, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || n > 1e18 || n < -1e18 {
			return decimal{}, false
		}
		d.exponent = n
	}
	d.exponent += int64(len(digits)-len(d.digits)) - int64(len(fraction))
	return d, true
}
