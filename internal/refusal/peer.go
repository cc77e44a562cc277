package refusal

import (
	"fmt"
	"strings"
)

// Two kinds of a peer's text may stand in a refusal, each in named entries only, because without them the operator
// could not act: the two URLs of a mismatch, and the scopes that a challenge asks for.
const (
	maxURL      = 512
	maxScopes   = 64
	maxScopeLen = 128
)

type peerText int

const (
	peerNone peerText = iota
	peerURL
	peerScopes
)

func (p peerText) admitted(e *Entry) bool {
	switch p {
	case peerURL:
		return e == OAuthResourceMismatch || e == OAuthIssuerMismatch
	case peerScopes:
		return e == OAuthScopeRequired
	default:
		return true
	}
}

// URL is a URL of a resource or issuer mismatch. Every byte that is not visible ASCII is percent-encoded; one over
// 512 bytes is replaced by its length.
func URL(key, u string) Field {
	if len(u) > maxURL {
		return Field{key, fmt.Sprintf("(a URL of %d bytes)", len(u)), peerURL}
	}
	var b strings.Builder
	for i := range len(u) {
		if c := u[i]; c > ' ' && c < 0x7F {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return Field{key, b.String(), peerURL}
}

// Scopes is the list of scopes of a challenge. What is not a scope token (RFC 6749, 3.3) is left out, as is a token
// over 128 bytes and whatever comes after 64 tokens.
func Scopes(key string, scopes []string) Field {
	kept := []string{}
	for _, s := range scopes {
		if len(kept) < maxScopes && len(s) <= maxScopeLen && ScopeToken(s) {
			kept = append(kept, s)
		}
	}
	return Field{key, kept, peerScopes}
}

// ScopeToken reports whether s is a scope-token as RFC 6749 section 3.3 writes it.
func ScopeToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x21 || c > 0x7E || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}
