package schema

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

// Division expands an exponent into digits: 1e5000000 would cost megabytes and minutes. Numbers beyond these bounds are
// not evaluated.
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

// Count reports whether a number literal is a whole number from 0 to 2^31-1, spelled within the bounds.
func Count(literal string) bool {
	n, ok := Number(literal)
	return ok && n.IsInt() && n.Sign() >= 0 && n.Num().BitLen() <= 31
}

// decimal is the exact value digits × 10^exp. No zero begins or ends the digits and zero has none, so equal numbers are
// equal as Go values.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// parseDecimal returns the value of a JSON number literal that is within the bounds.
func parseDecimal(literal string) (d decimal, ok bool) {
	if !ordinaryNumber(literal) {
		return decimal{}, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	exp, _ := strconv.Atoi(exponent)
	mantissa, neg := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return decimal{}, true
	}
	return decimal{neg, short, exp - len(fraction) + len(digits) - len(short)}, true
}

func (d decimal) whole() bool { return d.exp >= 0 }

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// compare orders by sign, then by where the first digit stands, then by digits.
func (d decimal) compare(o decimal) int {
	if c := cmp.Compare(d.sign(), o.sign()); c != 0 {
		return c
	}
	c := cmp.Compare(len(d.digits)+d.exp, len(o.digits)+o.exp)
	if c == 0 {
		c = strings.Compare(d.digits, o.digits)
	}
	return c * d.sign()
}

// count returns a whole number from 0 to 2^31-1.
func (d decimal) count() (n int, ok bool) {
	if d.neg || !d.whole() || len(d.digits)+d.exp > 10 {
		return 0, false
	}
	wide, err := strconv.ParseInt("0"+d.digits+strings.Repeat("0", d.exp), 10, 32)
	return int(wide), err == nil
}

// multiple reports whether d is a whole number of times o, which is not zero.
func (d decimal) multiple(o decimal) bool {
	dividend, divisor := d.integer(), o.integer()
	shift := power(max(d.exp-o.exp, o.exp-d.exp))
	if d.exp >= o.exp {
		dividend.Mul(dividend, shift)
	} else {
		divisor.Mul(divisor, shift)
	}
	return dividend.Rem(dividend, divisor).Sign() == 0
}

// multipleWork is the work of multiple: all digits that are written out for it.
func (d decimal) multipleWork(o decimal) int {
	return 1 + (len(d.digits)+len(o.digits)+max(d.exp-o.exp, o.exp-d.exp))/16
}

func (d decimal) integer() *big.Int {
	n, _ := new(big.Int).SetString("0"+d.digits, 10)
	return n
}

func power(exp int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exp)), nil)
}
