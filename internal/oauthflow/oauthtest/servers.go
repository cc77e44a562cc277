package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

func writeJSON(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v)
}

func (w *World) oauthError(rw http.ResponseWriter, status int, code string) {
	w.refused = append(w.refused, code)
	writeJSON(rw, status, map[string]string{"error": code, "error_description": Prose})
}

func (w *World) serveMCP(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch req.Method + " " + req.URL.Path {
	case "GET /.well-known/oauth-protected-resource" + w.path:
		writeJSON(rw, http.StatusOK, w.resource)
	case "POST " + w.path, "POST /" + strings.TrimPrefix(w.path, "/"):
		w.serveCall(rw, req)
	default:
		http.Error(rw, Prose, http.StatusNotFound)
	}
}

func (w *World) serveCall(rw http.ResponseWriter, req *http.Request) {
	token, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	g := w.access[token]
	switch {
	case g == nil:
		if w.challenge != "" {
			rw.Header().Set("WWW-Authenticate", w.challenge)
		}
		rw.WriteHeader(http.StatusUnauthorized)
	case w.need != "" && !slices.Contains(strings.Fields(g.scope), w.need):
		rw.Header().Set("WWW-Authenticate",
			`Bearer error="insufficient_scope", scope="`+w.need+`", error_description="`+prose+`"`)
		rw.WriteHeader(http.StatusForbidden)
	default:
		w.behind(rw, req)
	}
}

func (w *World) serveAS(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch req.Method + " " + req.URL.Path {
	case "GET /.well-known/oauth-authorization-server":
		writeJSON(rw, http.StatusOK, w.server)
	case "POST /register":
		w.serveRegister(rw, req)
	case "GET /authorize":
		w.serveAuthorize(rw, req)
	case "POST /token":
		w.serveToken(rw, req)
	case "POST /revoke":
		w.serveRevoke(rw, req)
	default:
		http.Error(rw, Prose, http.StatusNotFound)
	}
}

// serveRegister reads the recorded body, since the request's own has been read.
func (w *World) serveRegister(rw http.ResponseWriter, _ *http.Request) {
	var doc struct {
		RedirectURIs    []string `json:"redirect_uris"`
		ApplicationType string   `json:"application_type"`
		Method          string   `json:"token_endpoint_auth_method"`
	}
	body := w.log[len(w.log)-1].Body
	err := json.Unmarshal([]byte(body), &doc)
	if err != nil || len(doc.RedirectURIs) != 1 || doc.ApplicationType != "native" {
		w.oauthError(rw, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	w.serial++
	c := &client{id: fmt.Sprintf("client-%d", w.serial), method: doc.Method, redirect: doc.RedirectURIs[0]}
	w.clients[c.id] = c
	answer := map[string]any{
		"client_id": c.id, "redirect_uris": doc.RedirectURIs, "token_endpoint_auth_method": c.method, "client_name": Prose,
	}
	if c.method != "none" {
		c.secret = w.fresh("SECRET")
		answer["client_secret"] = c.secret
	}
	writeJSON(rw, http.StatusCreated, answer)
}

// serveAuthorize consents at once. A client or redirect URI that is not known gets a page and no redirect, as RFC 6749
// section 4.1.2.1 demands.
func (w *World) serveAuthorize(rw http.ResponseWriter, req *http.Request) {
	q := req.Form
	redirect := q.Get("redirect_uri")
	c := w.clients[q.Get("client_id")]
	if c == nil && !strings.HasPrefix(q.Get("client_id"), "https://") || c != nil && c.redirect != redirect {
		http.Error(rw, Prose, http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "iss": {w.AS.URL}}
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" ||
		q.Get("resource") == "" {
		back.Set("error", "invalid_request")
		back.Set("error_description", Prose)
	} else {
		code := w.fresh("CODE")
		w.serial++
		w.codes[code] = &grant{
			client: q.Get("client_id"), redirect: redirect, challenge: q.Get("code_challenge"),
			resource: q.Get("resource"), scope: q.Get("scope"), family: w.serial,
		}
		back.Set("code", code)
	}
	if w.back != nil {
		w.back(back)
	}
	http.Redirect(rw, req, redirect+"?"+back.Encode(), http.StatusFound) // #nosec G710 -- what the peer of a test is for
}

func (w *World) authenticated(req *http.Request, id string) bool {
	c := w.clients[id]
	if c == nil {
		return strings.HasPrefix(id, "https://") && !strings.Contains(req.Header.Get("Authorization"), "Basic")
	}
	basicID, basicSecret, basic := req.BasicAuth()
	switch c.method {
	case "client_secret_basic":
		return basic && basicID == url.QueryEscape(c.id) && basicSecret == url.QueryEscape(c.secret) &&
			!req.Form.Has("client_secret")
	case "client_secret_post":
		return !basic && req.Form.Get("client_id") == c.id && req.Form.Get("client_secret") == c.secret
	default:
		return !basic && req.Form.Get("client_id") == c.id && !req.Form.Has("client_secret")
	}
}

func (w *World) serveToken(rw http.ResponseWriter, req *http.Request) {
	f := req.Form
	var g *grant
	switch f.Get("grant_type") {
	case "authorization_code":
		g = w.codes[f.Get("code")]
		delete(w.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if g != nil && (g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || g.redirect != f.Get("redirect_uri")) {
			g = nil
		}
	case "refresh_token":
		if g = w.refreshes[f.Get("refresh_token")]; g != nil && g.dead {
			w.endFamily(g.family) // a token used twice ends them all
			g = nil
		}
	}
	switch {
	case g == nil:
		w.oauthError(rw, http.StatusBadRequest, "invalid_grant")
	case !w.authenticated(req, g.client):
		w.oauthError(rw, http.StatusUnauthorized, "invalid_client")
	case f.Get("resource") != g.resource:
		w.oauthError(rw, http.StatusBadRequest, "invalid_target")
	default:
		writeJSON(rw, http.StatusOK, w.issue(g, f.Get("grant_type") == "refresh_token"))
	}
}

func (w *World) issue(g *grant, refreshed bool) map[string]any {
	access := w.fresh("ACCESS")
	w.access[access] = g
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600}
	if !refreshed || w.rotate {
		next := *g
		g.dead = refreshed
		token := w.fresh("REFRESH")
		w.refreshes[token] = &next
		answer["refresh_token"] = token
	}
	maps.Copy(answer, w.answer)
	for k, v := range answer {
		if v == nil {
			delete(answer, k)
		}
	}
	return answer
}

func (w *World) endFamily(family int) {
	for k, g := range w.refreshes {
		if g.family == family {
			delete(w.refreshes, k)
		}
	}
	for k, g := range w.access {
		if g.family == family {
			delete(w.access, k)
		}
	}
}

func (w *World) serveRevoke(rw http.ResponseWriter, req *http.Request) {
	for _, m := range []map[string]*grant{w.refreshes, w.access} {
		if g := m[req.Form.Get("token")]; g != nil {
			w.endFamily(g.family)
		}
	}
	rw.WriteHeader(http.StatusOK)
}
