package oauthflow

import (
	"slices"

	"mcpc/internal/refusal"
)

// Where a scope of a sign-in came from.
const (
	ScopeAsked     = "--scope"
	ScopeConfig    = "configuration"
	ScopeChallenge = "challenge"
	ScopeSupported = "scopes_supported"
	ScopeGranted   = "granted before"
	ScopeOffline   = "for a refresh token"
)

// Scope is one scope to ask for. Its token may be the peer's text, of the charset of RFC 6749 section 3.3.
type Scope struct{ Token, From string }

// scopeSet is an ordered union: the first who names a scope is where it came from.
type scopeSet []Scope

func (s *scopeSet) add(from string, tokens ...string) {
	for _, t := range tokens {
		if refusal.ScopeToken(t) && !slices.ContainsFunc(*s, func(x Scope) bool { return x.Token == t }) {
			*s = append(*s, Scope{t, from})
		}
	}
}

func tokensOf(scopes []Scope) []string {
	tokens := make([]string, len(scopes))
	for i, s := range scopes {
		tokens[i] = s.Token
	}
	return tokens
}

// selectScopes follows the specification's scope selection: what the challenge asks for, else all of the resource's
// scopes_supported, else none. The operator's configuration stands in for both. What was granted before and what was
// asked for on the command line are added, so that a step-up loses nothing (authorization, "Step-Up Authorization
// Flow"); then scopes_supported, which is for the first sign-in, is left alone.
func (f *Flow) selectScopes(asked, granted []string, c challenge, supported []string) scopeSet {
	var s scopeSet
	s.add(ScopeGranted, granted...)
	s.add(ScopeAsked, asked...)
	switch configured := f.config().Scopes; {
	case len(configured) > 0:
		s.add(ScopeConfig, configured...)
	case len(c.scopes) > 0:
		s.add(ScopeChallenge, c.scopes...)
	case len(granted) == 0:
		s.add(ScopeSupported, supported...)
	}
	return s
}

const offlineAccess = "offline_access"

// addOffline asks for a refresh token where the authorization server lists the scope for one (OpenID Connect Core
// section 11).
func (s *scopeSet) addOffline(supported []string) {
	if slices.Contains(supported, offlineAccess) {
		s.add(ScopeOffline, offlineAccess)
	}
}
