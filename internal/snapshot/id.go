package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"mcpc/internal/strictjson"
)

const surface = "surface/1"

// computeID returns the digest of the canonical form of what identifies a surface:
//
//	{"mcpc":"surface/1","server":…,"protocol":…,"capabilities":DIGEST,"instructions":DIGEST or null,
//	"tools":{NAME:DIGEST,…},"rejected":[RAW,…]}
//
// List order is in no digest: the canonical form sorts the members of tools, and the rejected are sorted here. The
// form is written in its own order straight into the hash, since ten thousand tools make a document of a megabyte.
func (s *Snapshot) computeID() (strictjson.Digest, error) {
	capabilities, instructions, err := s.handshakeDigests()
	if err != nil {
		return "", err
	}
	server, err := strictjson.Canonical(s.Server.AppendJSON(nil))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	b := appendText(nil, `{"capabilities":`, string(capabilities))
	b = append(append(b, `,"instructions":`...), instructions...)
	b = appendText(b, `,"mcpc":`, surface)
	b = appendText(b, `,"protocol":`, s.Protocol)
	b = appendStrings(append(b, `,"rejected":`...), s.rejectedRaws())
	b = append(append(b, `,"server":`...), server...)
	h.Write(append(b, `,"tools":{`...))
	for i, t := range s.byName() {
		b = appendText(append(b[:0], between(i, "", ",")...), "", t.Name)
		h.Write(appendText(b, ":", string(t.Digest)))
	}
	h.Write([]byte("}}"))
	return strictjson.Digest("sha256:" + hex.EncodeToString(h.Sum(nil))), nil
}

// handshakeDigests returns the digest of the capabilities (of null where the server names none) and the JSON text that
// stands for the instructions: a quoted digest, or null where there are none.
func (s *Snapshot) handshakeDigests() (capabilities strictjson.Digest, instructions []byte, err error) {
	value, ok := strictjson.Member(s.Handshake, "capabilities")
	if !ok {
		value = []byte("null")
	}
	if capabilities, err = strictjson.CanonicalDigest(value); err != nil {
		return "", nil, err
	}
	if value, ok = strictjson.Member(s.Handshake, "instructions"); !ok {
		return capabilities, []byte("null"), nil
	}
	digest, err := strictjson.CanonicalDigest(value)
	return capabilities, strictjson.Quote(string(digest)), err
}

func (s *Snapshot) rejectedRaws() []string {
	raws := make([]string, len(s.Rejected))
	for i := range s.Rejected {
		raws[i] = string(s.Rejected[i].Raw)
	}
	slices.Sort(raws)
	return raws
}

// byName returns the tools in the order that RFC 8785 section 3.2.3 gives to members.
func (s *Snapshot) byName() []*Tool {
	sorted := make([]*Tool, len(s.Tools))
	for i := range s.Tools {
		sorted[i] = &s.Tools[i]
	}
	slices.SortFunc(sorted, func(a, b *Tool) int { return compareUTF16(a.Name, b.Name) })
	return sorted
}

// compareUTF16 orders strings by their UTF-16 code units. That is the order of the bytes of UTF-8, except that a code
// point over U+FFFF is a pair of surrogates and so comes before U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) || n == len(b) {
		return len(a) - len(b)
	}
	for n > 0 && !utf8.RuneStart(a[n]) {
		n--
	}
	return utf16Weight(a[n:]) - utf16Weight(b[n:])
}

// utf16Weight of the first code point grows with its UTF-16 form; only its order means anything.
func utf16Weight(s string) int {
	r, _ := utf8.DecodeRuneInString(s)
	if r >= 0xE000 && r <= 0xFFFF {
		return int(r) + utf8.MaxRune
	}
	return int(r)
}
