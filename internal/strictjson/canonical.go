package strictjson

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest is "sha256:" and 64 lower-case hex digits.
type Digest string

const prefix = "sha256:"

// Sum is the digest of the bytes as they stand.
func Sum(data []byte) Digest {
	h := sha256.Sum256(data)
	text := append(make([]byte, 0, len(prefix)+2*len(h)), prefix...)
	return Digest(hex.AppendEncode(text, h[:]))
}

// ParseDigest returns the digest that s spells in full; ok is false for anything else, upper case included.
func ParseDigest(s string) (d Digest, ok bool) {
	hexed, found := strings.CutPrefix(s, prefix)
	if !found || len(hexed) != 64 || strings.Trim(hexed, "0123456789abcdef") != "" {
		return "", false
	}
	return Digest(s), true
}

// Hex returns the 64 hex digits.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), prefix) }

// Short returns the first 12 hex digits, for people only.
func (d Digest) Short() string { return d.Hex()[:min(12, len(d.Hex()))] }

// Canonical returns the canonical form mcpc-c14n/1 of one strict JSON value: RFC 8785 with UTF-16 key order, minimal
// escapes and no white space, except that every number keeps its own spelling. RFC 8785 alone would give
// 9007199254740992 and 9007199254740993 one form.
func Canonical(value []byte) ([]byte, error) { return AppendCanonical(nil, value) }

// AppendCanonical is Canonical into a buffer that can be used again for the next value.
func AppendCanonical(dst, value []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(dst, value, jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, fault(value, err)
	}
	return out, nil
}

// CanonicalDigest is the digest of the canonical form.
func CanonicalDigest(value []byte) (Digest, error) {
	c, err := Canonical(value)
	if err != nil {
		return "", err
	}
	return Sum(c), nil
}
