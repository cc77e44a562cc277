package oauthflow

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
)

// tokens is a successful answer of the token endpoint.
type tokens struct {
	access  config.Secret
	refresh config.Secret // empty when the answer has none
	expiry  time.Time     // zero when not said, or not in a form that can be read
	scopes  []string      // nil when the answer names none: they are those asked for (RFC 6749 section 5.1)
}

// tokenRequest posts one request to a token or revocation endpoint, with the client authentication that was agreed
// and never another one tried first.
func (f *Flow) tokenRequest(
	ctx context.Context, endpoint string, c store.Registration, form url.Values,
) (*answer, *refusal.Refusal) {
	secret := c.Secret
	if own := f.configuredClient(); own.ID == c.ClientID && own.Secret != nil && f.ClientSecret != nil {
		s, err := f.ClientSecret(ctx)
		if err != nil {
			return nil, refusal.From(err)
		}
		secret = s
	}
	var auth func(*http.Request)
	switch c.AuthMethod {
	case methodBasic: // RFC 6749 section 2.3.1: form-encoded before it is joined
		auth = func(req *http.Request) {
			req.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(secret.Reveal()))
		}
	case methodPost:
		form.Set("client_secret", secret.Reveal())
		form.Set("client_id", c.ClientID)
	default:
		form.Set("client_id", c.ClientID)
	}
	return f.postForm(ctx, endpoint, form, auth)
}

// tokenFault is an answer of the token endpoint that brings no token.
type tokenFault struct {
	code       string // "" when the answer is not an OAuth error; else of the closed set
	fault      string // our words, where the answer is a success that cannot be used
	notBearer  bool
	status     int
	retryAfter int64
}

// definitive reports whether the answer ends the grant: an OAuth error of that meaning, whatever the status. A 429 or
// 5xx never does.
func (t *tokenFault) definitive() bool { return endsGrant(t.code) && !t.temporary() }

func (t *tokenFault) temporary() bool {
	return t.status >= 500 || t.status == http.StatusTooManyRequests || t.status == http.StatusRequestTimeout
}

// readTokens reads an answer of the token endpoint.
func (f *Flow) readTokens(a *answer) (*tokens, *tokenFault) {
	bad := &tokenFault{status: a.status, retryAfter: a.retryAfter}
	doc, ok := a.object(f.Limits.Depth)
	if code := strictjson.MemberText(doc, "error"); ok && code != "" {
		bad.code = registered(code)
		return nil, bad
	}
	switch {
	case !a.ok():
		return nil, bad
	case !ok:
		bad.fault = "it is not one strict JSON object"
		return nil, bad
	}
	t, fault, bearer := parseTokens(doc, f.Now())
	if fault != "" || !bearer {
		bad.fault, bad.notBearer = fault, !bearer
		return nil, bad
	}
	return t, nil
}

// parseTokens reads a validated token answer (RFC 6749 section 5.1). A token_type that is missing counts as Bearer,
// since servers forget it and mcpc sends nothing else; any other type is not admitted.
func parseTokens(doc []byte, now time.Time) (t *tokens, fault string, bearer bool) {
	access := strictjson.MemberText(doc, "access_token")
	refresh := strictjson.MemberText(doc, "refresh_token")
	switch kind, _ := strictjson.Member(doc, "token_type"); {
	case access == "":
		return nil, "it has no access token", true
	case !sendable(access) || refresh != "" && !printable(refresh):
		return nil, "a token has characters that no token may have", true
	case !isBearer(kind):
		return nil, "", false
	}
	t = &tokens{access: config.NewSecret(access), refresh: config.NewSecret(refresh)}
	if n := seconds(doc, "expires_in"); n >= 0 {
		t.expiry = now.Add(time.Duration(n) * time.Second).UTC()
	}
	t.scopes = answerScopes(doc)
	return t, "", true
}

func isBearer(value []byte) bool {
	if value == nil || strictjson.Kind(value) == 'n' {
		return true
	}
	s, ok := strictjson.Text(value)
	return ok && strings.EqualFold(strings.TrimSpace(s), "bearer")
}

// sendable reports whether a token can stand in an Authorization header as it is.
func sendable(token string) bool { return printable(token) && !strings.Contains(token, " ") }

// printable is 1*VSCHAR of RFC 6749 appendix A.12 and A.17.
func printable(token string) bool {
	return !strings.ContainsFunc(token, func(c rune) bool { return c < 0x20 || c > 0x7E })
}

// answerScopes reads scope: a string, or an array as some servers write it.
func answerScopes(doc []byte) []string {
	v, _ := strictjson.Member(doc, "scope")
	if s, ok := strictjson.Text(v); ok {
		return scopeTokens(s)
	}
	var tokens []string
	for _, e := range strictjson.Elements(v) {
		s, _ := strictjson.Text(e)
		tokens = append(tokens, scopeTokens(s)...)
	}
	return tokens
}

// seconds reads a whole number of seconds, as a number or as a string of digits. What cannot be read is -1, unknown:
// a good token is not thrown away over it.
func seconds(doc []byte, member string) int64 {
	v, _ := strictjson.Member(doc, member)
	text := string(bytes.TrimSpace(v))
	if s, ok := strictjson.Text(v); ok {
		text = s
	}
	if strings.Trim(text, "0123456789") != "" {
		return -1
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > 1<<33 {
		return -1
	}
	return n
}
