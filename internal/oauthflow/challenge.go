package oauthflow

import (
	"regexp"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"mcpc/internal/refusal"
)

const (
	maxChallenges   = 16
	maxChallengeLen = 16 << 10
)

// challenge is what the Bearer challenges of one answer say (RFC 6750 section 3, RFC 9728 section 5.1). All of it is
// the peer's text.
type challenge struct {
	bearer      bool
	metadataURL string
	code        string // error
	scopes      []string
}

// emptyParam is what the parser fails a whole header for, although a real server writes it; compiled when one does.
var emptyParam = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[\s,])[a-z_]+=""\s*,?`)
})

// parseChallenges reads WWW-Authenticate values as far as they can be read. What is malformed counts as not said: the
// well-known places are asked then, and nothing worse follows from a lost challenge.
func parseChallenges(values []string) challenge {
	var c challenge
	for _, v := range values[:min(len(values), maxChallenges)] {
		if len(v) > maxChallengeLen {
			continue
		}
		parsed, err := oauthex.ParseWWWAuthenticate([]string{v})
		if err != nil {
			parsed, err = oauthex.ParseWWWAuthenticate([]string{strings.TrimRight(emptyParam().ReplaceAllString(v, "$1"), " ,")})
		}
		if err != nil {
			continue
		}
		for _, p := range parsed {
			c.add(p)
		}
	}
	return c
}

func (c *challenge) add(p oauthex.Challenge) {
	if p.Scheme != "bearer" {
		return
	}
	c.bearer = true
	if c.metadataURL == "" {
		c.metadataURL = p.Params["resource_metadata"]
	}
	if c.code == "" {
		c.code = p.Params["error"]
	}
	if len(c.scopes) == 0 {
		c.scopes = scopeTokens(p.Params["scope"])
	}
}

// scopeTokens splits a scope value (RFC 6749 section 3.3) and leaves out what is not a scope token.
func scopeTokens(value string) []string {
	var tokens []string
	for _, s := range strings.Split(value, " ") {
		if refusal.ScopeToken(s) {
			tokens = append(tokens, s)
		}
	}
	return tokens
}
