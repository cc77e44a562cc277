package oauthflow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

const maxRedirects = 3

// answer is one HTTP answer, read whole within the limit. Its body is the peer's text.
type answer struct {
	status     int
	body       []byte
	over       bool // the body is longer than the limit; body holds the part within it
	challenges []string
	retryAfter int64 // seconds; -1 when not said
}

func (a *answer) ok() bool { return a.status >= 200 && a.status < 300 }

// object returns the body when it is one strict JSON object.
func (a *answer) object(depth int64) ([]byte, bool) {
	if a.over || strictjson.ValidateObject(a.body, int(depth)) != nil {
		return nil, false
	}
	return a.body, true
}

// bounds refuses an answer that is over a limit. An error answer is only looked at for its code, and may be nested as
// it likes.
func (f *Flow) bounds(a *answer) *refusal.Refusal {
	var e *strictjson.Error
	switch {
	case a.over:
		return refusal.New(refusal.LimitDocument, refusal.Num("limit", f.Limits.DocumentBytes))
	case a.ok() && errors.As(strictjson.Validate(a.body, int(f.Limits.Depth)), &e) && e.Fault == strictjson.FaultDepth:
		return refusal.New(refusal.LimitDepth, refusal.Num("limit", f.Limits.Depth))
	}
	return nil
}

// redirects says which redirect a request follows; a request with a body follows none.
type redirects func(req *http.Request, via []*http.Request) error

func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// sameOrigin follows a few redirects within one origin. Anything else ends with the redirect itself as the answer.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || origin(req.URL) != origin(via[0].URL) || req.URL.User != nil {
		return http.ErrUseLastResponse
	}
	return nil
}

// httpClient returns a client without cookies that follows what it is told to.
func (f *Flow) httpClient(p transport.Purpose, follow redirects) (*http.Client, *refusal.Refusal) {
	made, err := f.Clients(p)
	if err != nil {
		return nil, refusal.From(err)
	}
	client := *made
	client.Jar, client.CheckRedirect = nil, follow
	return &client, nil
}

// send makes one request within the request limit.
func (f *Flow) send(
	ctx context.Context, p transport.Purpose, req *http.Request, follow redirects,
) (*answer, *refusal.Refusal) {
	client, r := f.httpClient(p, follow)
	if r != nil {
		return nil, r
	}
	ctx, cancel := context.WithTimeout(ctx, f.Limits.Request)
	defer cancel()
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, f.broken(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is lost with it
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.Limits.DocumentBytes+1))
	if err != nil {
		return nil, f.broken(ctx, err)
	}
	a := &answer{status: resp.StatusCode, body: body, challenges: resp.Header.Values("WWW-Authenticate"), retryAfter: -1}
	if int64(len(body)) > f.Limits.DocumentBytes {
		a.body, a.over = body[:f.Limits.DocumentBytes], true
	}
	if n, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 32); err == nil && n >= 0 {
		a.retryAfter = n
	}
	return a, nil
}

// broken names why there is no answer. The error itself may quote a URL with a query and is dropped.
func (f *Flow) broken(ctx context.Context, err error) *refusal.Refusal {
	if r, ok := refusal.As(err); ok {
		return r
	}
	switch op := (*net.OpError)(nil); {
	case errors.Is(ctx.Err(), context.Canceled):
		return refusal.New(refusal.Interrupted)
	case ctx.Err() != nil:
		return refusal.New(refusal.DeadlineAuthorizer, refusal.Num("limit", f.Limits.Request.Milliseconds()))
	case errors.As(err, &op) && op.Op == "dial":
		return refusal.New(refusal.TransportUnreachable)
	}
	return refusal.New(refusal.TransportClosed)
}

// notSent reports whether a refusal says that no connection was made.
func notSent(r *refusal.Refusal) bool {
	switch r.Entry() {
	case refusal.TransportUnreachable, refusal.TransportTLS, refusal.TransportAddress, refusal.TransportPlaintext:
		return true
	}
	return false
}

// document gets a metadata document. It is nil where there is none: another status, or a body that is not meant to be
// JSON, as hosts answer that have a page for every path.
func (f *Flow) document(ctx context.Context, u string) (doc []byte, status int, r *refusal.Refusal) {
	req, err := http.NewRequest(http.MethodGet, u, nil)
	if err != nil {
		return nil, 0, nil
	}
	req.Header.Set("Accept", "application/json")
	a, r := f.send(ctx, transport.ForMetadata, req, sameOrigin)
	if r != nil && r.Entry() == refusal.TransportRedirect {
		return nil, 0, nil // to another origin, and not followed
	}
	if r != nil {
		return nil, 0, r
	}
	if a.status != http.StatusOK || strictjson.Kind(a.body) != '{' {
		return nil, a.status, nil
	}
	if r := f.bounds(a); r != nil {
		return nil, a.status, r
	}
	if _, ok := a.object(f.Limits.Depth); !ok {
		return nil, a.status, refusal.New(refusal.OAuthMetadataInvalid, refusal.Own("member", "the document"))
	}
	return a.body, a.status, nil
}

// post sends a body with its type. It follows no redirect: the answer may be one.
func (f *Flow) post(
	ctx context.Context, u, contentType string, body []byte, auth func(*http.Request),
) (*answer, *refusal.Refusal) {
	req, err := http.NewRequest(http.MethodPost, u, bytes.NewReader(body))
	if err != nil {
		return nil, refusal.New(refusal.OAuthEndpointScheme, refusal.Own("member", "an endpoint"))
	}
	req.GetBody = nil // so that no lower layer can send it a second time
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	if auth != nil {
		auth(req)
	}
	a, r := f.send(ctx, transport.ForToken, req, noRedirects)
	switch {
	case r != nil:
		return nil, r
	case a.status >= 300 && a.status < 400:
		return nil, refusal.New(refusal.TransportRedirect, refusal.Num("status", a.status))
	}
	if r := f.bounds(a); r != nil {
		return nil, r
	}
	return a, nil
}

func (f *Flow) postForm(
	ctx context.Context, u string, form url.Values, auth func(*http.Request),
) (*answer, *refusal.Refusal) {
	return f.post(ctx, u, "application/x-www-form-urlencoded", []byte(form.Encode()), auth)
}
