package transport

import (
	"io"
	"net/http"
	"strings"
	"time"

	"mcpc/internal/refusal"
)

// challengeOf returns what the Authorizer is asked about: a 401, or a 403 with a Bearer challenge. A 403 without one
// is about the method, and signing in again would not help.
func challengeOf(resp *http.Response) *Challenge {
	c := Challenge{Status: resp.StatusCode, WWWAuthenticate: resp.Header.Values("Www-Authenticate")}
	if c.Status == http.StatusUnauthorized || c.Status == http.StatusForbidden && bearer(c.WWWAuthenticate) {
		return &c
	}
	return nil
}

// bearer reports whether one of the challenges has the scheme Bearer (RFC 9110, 11.6.1). Commas divide challenges as
// well as their parameters, and may stand inside quotes.
func bearer(values []string) bool {
	for _, value := range values {
		for _, part := range splitUnquoted(value) {
			scheme, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			if strings.EqualFold(scheme, "Bearer") {
				return true
			}
		}
	}
	return false
}

func splitUnquoted(s string) []string {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			parts, start = append(parts, s[start:i]), i+1
		}
	}
	return append(parts, s[start:])
}

// challenged asks the Authorizer about a refused credential; nil means that the message may be sent once more.
func (x *httpExchange) challenged(c Challenge, try int) *Failure {
	f := &Failure{Status: c.Status, Bearer: bearer(c.WWWAuthenticate), Challenge: &c}
	a := x.carrier.options.Authorizer
	switch {
	case a == nil && len(x.carrier.options.Headers) > 0:
		f.Refusal = refusal.New(refusal.SourceRejected, refusal.Num("status", c.Status))
		return f
	case a == nil:
		f.Refusal = refusal.New(refusal.OAuthLoginRequired)
		return f
	case try > 1 && c.Status == http.StatusUnauthorized:
		f.Refusal = refusal.New(refusal.OAuthTokenRejected)
		return f
	}
	again, err := a.Challenged(x.ctx, x.state.token, c)
	switch {
	case refusal.Is(err, refusal.OAuthLoginRequired) && x.state.token.Empty() && len(x.carrier.options.Headers) > 0:
		// What was refused is what the configuration names. That signing in may help is left as the hint.
		f.Refusal = refusal.New(refusal.SourceRejected, refusal.Num("status", c.Status)).Hint(refusal.From(err).HintText())
	case err != nil:
		f.Refusal = x.unauthorized(err).Refusal
	case again && try == 1:
		return nil
	default:
		f.Refusal = refusal.New(refusal.OAuthTokenRejected)
	}
	return f
}

// judge lets a 2xx pass and says what any other status means.
func (x *httpExchange) judge(resp *http.Response) (*http.Response, *Failure) {
	status := resp.StatusCode
	if status >= 200 && status < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	rpc, addressed := x.errorOf(resp)
	f := &Failure{Status: status, RPC: rpc, Sent: status >= 500}
	if x.state.session != "" && sessionLost(status, addressed || x.notification) {
		f.Refusal = refusal.New(refusal.TransportSessionLost, refusal.Num("status", status))
		return nil, f
	}
	f.Refusal = x.refusalOf(resp, rpc)
	if rpc == nil && gateway(status) {
		f.Cause = CauseStatus
	}
	return nil, f
}

// gateway reports whether a status may come from something before the server, which has the request and may still be
// working on it.
func gateway(status int) bool {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, 524:
		return true
	}
	return false
}

func (x *httpExchange) refusalOf(resp *http.Response, rpc *RPCError) *refusal.Refusal {
	status, method := refusal.Num("status", resp.StatusCode), refusal.Own("method", x.req.Method)
	switch code := resp.StatusCode; {
	case code == http.StatusForbidden:
		return refusal.New(refusal.TransportMethodRefused, status, method)
	case code == http.StatusTooManyRequests || code >= 500 || code < 300:
		return statusRefusal(resp, x.req.Method)
	case x.notification:
		return refusal.New(refusal.ProtocolNotAccepted, status, method)
	case rpc != nil:
		return refusal.New(refusal.ProtocolError, method, refusal.Num("code", rpc.Code), status)
	default:
		return statusRefusal(resp, x.req.Method)
	}
}

// sessionLost reads a status that answers a request with a session id. 404 is what the protocol gives for an unknown
// session (2025-11-25, "Session Management"); servers in the field say 400, which means the session unless the answer
// is a JSON-RPC error for this very request, or the message a notification, to which no error can be addressed.
func sessionLost(status int, addressed bool) bool {
	return status == http.StatusNotFound || status == http.StatusBadRequest && !addressed
}

func statusRefusal(resp *http.Response, method string) *refusal.Refusal {
	r := refusal.New(refusal.TransportStatus,
		refusal.Num("status", resp.StatusCode), refusal.Own("method", method))
	if seconds, ok := retryAfter(resp.Header); ok {
		return r.With(refusal.Num("retry_after", seconds))
	}
	return r
}

// errorOf returns the JSON-RPC error in the body of an error answer, and whether it is addressed to the request by its
// id. Such a body often has no id, or a string of the server's own; it can only be about the one request that the
// answer is for. Any other body is not looked at.
func (x *httpExchange) errorOf(resp *http.Response) (rpc *RPCError, addressed bool) {
	limits := x.carrier.options.Server.Limits
	stop := time.AfterFunc(x.carrier.waits.errorBody, x.cancel)
	defer stop.Stop()
	body, err := ReadBounded(resp.Body, limits.FrameBytes, refusal.LimitFrame)
	if err != nil {
		return nil, false
	}
	m, no := decodeFrame(body, limits.Depth)
	if no != nil || m.rpc == nil {
		return nil, false
	}
	x.carrier.options.Trace.Received(x.req.Method, resp.StatusCode, body)
	addressed = m.id.is(x.id) && !x.notification
	if m.id != nil && !addressed && m.id[0] != '"' {
		return nil, false
	}
	return m.rpc, addressed
}

// drain reads what little a server may answer to a notification, so that the connection can be used again.
func (x *httpExchange) drain(resp *http.Response) {
	const enough = 64 << 10
	defer resp.Body.Close()
	if mediaType(resp.Header) == streamType {
		return
	}
	stop := time.AfterFunc(x.carrier.waits.errorBody, x.cancel)
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, enough)
}
