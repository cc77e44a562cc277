package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// httpExchange is one message on its way, with what has become of it.
type httpExchange struct {
	carrier      *httpCarrier
	outer        context.Context // the caller's
	ctx          context.Context // ends with the caller's, with Close and with the exchange
	cancel       context.CancelFunc
	verb         string // POST; GET to listen
	req          *Request
	id           int64
	frame        []byte
	notification bool
	patience     time.Duration // to the caller's deadline; 0 without one
	inbox        *inbox        // that its answer goes through
	state        httpState     // as it was for the last try
	sent         atomic.Bool   // some of it was written: it may have run
	resumes      int           // of its stream, since that last brought something new
	beside       *beside       // nil where there is none
	changed      bool          // the server said beside it that its tools changed
}

func (c *httpCarrier) exchange(ctx context.Context, req *Request, frame []byte) *httpExchange {
	x := &httpExchange{
		carrier: c, outer: ctx, verb: http.MethodPost, req: req, id: c.lastID, frame: frame, inbox: &c.inbox,
	}
	inner, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.closed, cancel)
	x.ctx, x.cancel = inner, func() { stop(); cancel() }
	if d, ok := ctx.Deadline(); ok {
		x.patience = time.Until(d).Round(time.Millisecond)
	}
	return x
}

// deliver sends the message, once more where the Authorizer has a new token after a refusal, and returns the answer if
// its status is 2xx. A message that was refused for its credential did not run.
func (x *httpExchange) deliver() (*http.Response, *Failure) {
	for try := 1; ; try++ {
		resp, f := x.send()
		if f != nil {
			return nil, f
		}
		challenge := challengeOf(resp)
		if challenge == nil {
			return x.judge(resp)
		}
		_ = resp.Body.Close()
		if f := x.challenged(*challenge, try); f != nil {
			return nil, f
		}
	}
}

func (x *httpExchange) send() (*http.Response, *Failure) {
	c := x.carrier
	if f := x.authorize(); f != nil {
		return nil, f
	}
	ctx := httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { x.sent.Store(true) },
	})
	r, err := c.request(ctx, x.verb, x.frame, x.state, x.req.Method)
	if err != nil {
		return nil, &Failure{Refusal: refusal.From(err)}
	}
	if !x.state.protocol.Legacy && !x.modernHeaders(r.Header) {
		return nil, &Failure{Refusal: refusal.New(refusal.Internal)}
	}
	x.openBeside()
	if x.frame != nil {
		c.options.Trace.Sent(x.req.Method, x.frame)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return nil, x.broken(err)
	}
	return resp, nil
}

// authorize takes the token and the session for the try that comes.
func (x *httpExchange) authorize() *Failure {
	c := x.carrier
	var token config.Secret
	if a := c.options.Authorizer; a != nil {
		var err error
		if token, err = a.Token(x.ctx); err != nil {
			return x.unauthorized(err)
		}
		if !sendable("Authorization", token.Reveal()) {
			return &Failure{Refusal: refusal.New(refusal.SourceNotText)}
		}
		c.options.Trace.Withhold(token)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.token = token
	if x.req.Method == "initialize" {
		c.state.session = "" // a new session begins; the dead id of an old one must not be attached to it
	}
	x.state = c.state
	return nil
}

// unauthorized is why the Authorizer has no token to go on with.
func (x *httpExchange) unauthorized(err error) *Failure {
	if _, ok := refusal.As(err); !ok && x.ctx.Err() != nil {
		return x.broken(err)
	}
	return &Failure{Refusal: refusal.From(err)}
}

// request makes a request to the endpoint with everything that every request carries. It is the one place where
// credentials are attached; the client refuses any other origin than the endpoint's.
func (c *httpCarrier) request(
	ctx context.Context, verb string, body []byte, state httpState, method string,
) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, verb, c.endpoint.String(), bodyReader(body))
	if err != nil {
		return nil, refusal.New(refusal.Internal)
	}
	h := r.Header
	for _, s := range c.options.Headers {
		h.Set(s.Name, s.Value.Reveal())
	}
	if !state.token.Empty() {
		h.Set("Authorization", "Bearer "+state.token.Reveal())
	}
	h.Set("User-Agent", userAgent)
	h.Set("Accept", jsonType+", "+streamType)
	if verb == http.MethodGet {
		h.Set("Accept", streamType)
	}
	if body != nil {
		h.Set("Content-Type", jsonType)
	}
	if p := state.protocol; p.Version != "" && method != "initialize" {
		h.Set(versionHeader, p.Version)
	}
	if state.session != "" {
		h.Set(sessionHeader, state.session)
	}
	// With one of these net/http would take a POST for idempotent and send it again by itself after a broken connection.
	if h.Get("Idempotency-Key") != "" || h.Get("X-Idempotency-Key") != "" {
		r.GetBody = nil
	}
	return r, nil
}

// bodyReader is nil for no body: http.NewRequest would otherwise announce one.
func bodyReader(body []byte) io.Reader {
	if body == nil {
		return nil
	}
	return bytes.NewReader(body)
}

// modernHeaders mirrors members of the body (MCP 2026-07-28, Streamable HTTP, "Request Metadata"). It reports false
// for a header that is not of the family Mcp-Param-*: a server's schema gives the names, and it must not name another.
func (x *httpExchange) modernHeaders(h http.Header) bool {
	h.Set("Mcp-Method", EncodeHeaderValue(x.req.Method))
	if x.req.Name != "" {
		h.Set("Mcp-Name", EncodeHeaderValue(x.req.Name))
	}
	for _, field := range x.req.Headers {
		h.Set(field.Name, field.Value)
		if !strings.HasPrefix(http.CanonicalHeaderKey(field.Name), "Mcp-Param-") || !sendable(field.Name, field.Value) {
			return false
		}
	}
	return true
}

func sendable(name, value string) bool {
	return httpguts.ValidHeaderFieldName(name) && httpguts.ValidHeaderFieldValue(value)
}

// broken is why there is no whole answer: the caller's deadline or interruption, a refusal of the client's, or else a
// connection that ended.
func (x *httpExchange) broken(err error) *Failure {
	f := &Failure{Sent: x.sent.Load()}
	switch {
	case errors.Is(x.outer.Err(), context.DeadlineExceeded):
		f.Cause = CauseDeadline
		f.Refusal = refusal.New(refusal.DeadlineRequest,
			refusal.Own("method", x.req.Method), refusal.Num("limit", x.patience.Milliseconds()))
		return f
	case x.ctx.Err() != nil:
		f.Cause, f.Refusal = CauseInterrupted, refusal.New(refusal.Interrupted)
		return f
	}
	r, ok := refusal.As(err)
	if !ok || r.Entry() == refusal.TransportClosed {
		r = refusal.New(refusal.TransportClosed, refusal.Own("method", x.req.Method))
	}
	f.Refusal = r
	switch r.Entry() {
	case refusal.TransportClosed, refusal.TransportUnreachable, refusal.TransportTLS:
		f.Cause = CauseConnection
	case refusal.TransportRedirect:
		status, _ := r.Detail("status").(int64)
		f.Status, f.Sent = int(status), false
	}
	return f
}

// giveUp tells a legacy server that nobody waits any more; a modern one sees the stream close (MCP 2026-07-28,
// "Cancellation"). An initialize must not be cancelled.
func (x *httpExchange) giveUp(f *Failure) {
	x.cancel()
	ended := f.Cause == CauseDeadline || f.Cause == CauseInterrupted
	if ended && f.Sent && x.state.protocol.Legacy && x.req.Method != "initialize" {
		x.aside(context.WithoutCancel(x.outer), "notifications/cancelled", encodeCancelled(x.id))
	}
}

// aside posts a message whose fate does not matter.
func (x *httpExchange) aside(ctx context.Context, method string, frame []byte) {
	c := x.carrier
	ctx, cancel := context.WithTimeout(ctx, c.waits.aside)
	defer cancel()
	if r, err := c.request(ctx, http.MethodPost, frame, x.state, method); err == nil {
		c.options.Trace.Sent(method, frame)
		c.forget(r)
	}
}
