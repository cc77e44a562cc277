package oauthflow

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// ours demands that a refusal is of the catalogue and holds nothing but our words: the entry's name and sentence fill
// it, and what differs is from a closed set.
func ours(t *testing.T, r *refusal.Refusal) {
	t.Helper()
	doc, err := json.Marshal(r)
	if err != nil || len(doc) > 8<<10 {
		t.Fatalf("%d bytes, %v", len(doc), err)
	}
	for _, b := range []byte(r.Error() + r.HintText()) {
		if b < ' ' || b > '~' {
			t.Fatalf("a refusal with byte %#x: %q", b, r.Error())
		}
	}
	if _, known := refusal.Lookup(r.Name()); !known {
		t.Fatalf("no such refusal: %s", r.Name())
	}
}

func FuzzCallback(f *testing.F) {
	for _, v := range callbackVectors(f) {
		f.Add(string(v.Data), v.Header["advertised"] == "true")
	}
	const issuer = "https://auth.example.com"
	f.Fuzz(func(t *testing.T, query string, advertised bool) {
		code, mine, r := expectation{"S", issuer, advertised}.read(query)
		if (code.Reveal() != "") != (mine && r == nil) {
			t.Fatalf("code %t, ours %t, refusal %v", code.Reveal() != "", mine, r)
		}
		if r != nil {
			ours(t, r)
		}
		q, err := url.ParseQuery(query)
		if mine && (err != nil || !slices.Equal(q["state"], []string{"S"})) {
			t.Fatal("an answer without the exact state")
		}
		if iss := q["iss"]; !code.Empty() && (len(iss) > 1 || len(iss) == 1 && iss[0] != issuer || len(iss) == 0 && advertised) {
			t.Fatalf("a code of issuer %q", iss)
		}
		if mine && len(q["iss"]) == 1 && q.Get("iss") != issuer && r.Entry() != refusal.OAuthCallbackIssuer {
			t.Fatalf("another issuer chose %v", r)
		}
	})
}

func FuzzChallenge(f *testing.F) {
	for _, v := range challengeVectors(f) {
		f.Add(string(v.Data))
	}
	flow := &Flow{Name: "docs", Endpoint: "https://mcp.example.com/mcp"}
	endpoint, _ := flow.endpoint()
	f.Fuzz(func(t *testing.T, header string) {
		c := parseChallenges(strings.Split(header, "\n"))
		if !c.bearer && (c.metadataURL != "" || c.code != "" || c.scopes != nil) {
			t.Fatalf("no Bearer challenge, and %+v", c)
		}
		for _, s := range c.scopes {
			if !refusal.ScopeToken(s) {
				t.Fatalf("scope %q", s)
			}
		}
		named, r := flow.namedMetadata(endpoint, c)
		if named != "" && (r != nil || origin(parsed(named)) != "https://mcp.example.com:443") {
			t.Fatalf("metadata at %q", named)
		}
		ours(t, flow.forbidden(c, nil, config.NewSecret("t"), 403))
	})
}

func FuzzTokenAnswer(f *testing.F) {
	for _, doc := range fieldFiles(f) {
		f.Add(doc, 200)
		f.Add(doc, 400)
	}
	flow := &Flow{Limits: config.DefaultLimits(), Now: func() time.Time { return time.Unix(0, 0) }}
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		tok, bad := flow.readTokens(&answer{status: status, body: body, retryAfter: -1})
		if (tok == nil) == (bad == nil) {
			t.Fatalf("%+v and %+v", tok, bad)
		}
		if bad != nil {
			ours(t, bad.refusal())
			if bad.definitive() && (strictjson.ValidateObject(body, strictjson.MaxDepth) != nil || status >= 500) {
				t.Fatal("a grant ended by what is no OAuth error")
			}
			return
		}
		if status < 200 || status > 299 || !sendable(tok.access.Reveal()) || tok.access.Empty() {
			t.Fatalf("a token from status %d", status)
		}
		if strictjson.MemberText(body, "access_token") != tok.access.Reveal() || strictjson.MemberText(body, "error") != "" {
			t.Fatal("another token than the answer has")
		}
		if !tok.expiry.IsZero() && tok.expiry.Before(time.Unix(0, 0)) {
			t.Fatalf("expiry %v", tok.expiry)
		}
	})
}

func FuzzMetadata(f *testing.F) {
	for _, doc := range fieldFiles(f) {
		f.Add(doc)
	}
	const issuer = "https://auth.example.com"
	flow := &Flow{Endpoint: "https://mcp.example.com/mcp", Limits: config.DefaultLimits()}
	endpoint, _ := flow.endpoint()
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, ok := (&answer{body: body}).object(flow.Limits.Depth)
		if !ok {
			return
		}
		if meta, r := serverMetadata(doc); r != nil {
			ours(t, r)
		} else if r := flow.checkServer(meta, issuer); r != nil {
			ours(t, r)
		} else {
			for _, u := range []string{meta.AuthorizationEndpoint, meta.TokenEndpoint, meta.RegistrationEndpoint, meta.RevocationEndpoint} {
				if u != "" && (!openable(u) || !strings.HasPrefix(strings.ToLower(u), "https://")) {
					t.Fatalf("accepted %q", u)
				}
			}
			if meta.Issuer != issuer || strictjson.MemberText(doc, "issuer") != issuer || !slices.Contains(meta.CodeChallengeMethodsSupported, "S256") {
				t.Fatalf("accepted %+v", meta)
			}
		}
		if meta, r := resourceMetadata(doc); r != nil {
			ours(t, r)
		} else if r := flow.checkResource(resource{meta: meta, from: FromPathForm}, endpoint, false); r != nil {
			ours(t, r)
		} else if meta.Resource != flow.Endpoint {
			t.Fatalf("accepted %q", meta.Resource)
		}
	})
}
