package transport

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

const (
	userAgent     = "mcpc"
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	jsonType      = "application/json"
	streamType    = "text/event-stream"
)

// HTTPOptions is what DialHTTP needs.
type HTTPOptions struct {
	Server     *config.Server
	Headers    []SecretHeader
	Authorizer Authorizer // nil where there is no sign-in
	LookupEnv  LookupEnv  // proxies and roots; see ClientPolicy
	Trace      *Trace     // nil for none
	Resolver   *net.Resolver
}

// SecretHeader is a configured request header, its value resolved.
type SecretHeader struct {
	Name  string
	Value config.Secret
}

// httpCarrier is Streamable HTTP: one POST per message (MCP 2026-07-28, Streamable HTTP; 2025-11-25 for the legacy
// era). No redirect is followed, so nothing ever goes to another origin than the configured one.
type httpCarrier struct {
	options  HTTPOptions
	endpoint *url.URL
	client   *http.Client
	inbox    inbox
	lastID   int64
	waits    waits

	closed  context.Context
	close   context.CancelFunc
	closing sync.Once

	mu    sync.Mutex // Close may come at any time
	state httpState
}

// httpState is what a message beside the request in flight needs too.
type httpState struct {
	protocol Protocol
	session  string // legacy only; "" for none
	http2    bool   // the session came by HTTP/2
	token    config.Secret
}

// waits bound what nobody should wait long for.
type waits struct {
	errorBody time.Duration // for the body of an answer whose status says enough
	aside     time.Duration // for a message of ours whose fate does not matter
	retry     time.Duration // before resuming, where the server named no time
	retryMin  time.Duration
	retryMax  time.Duration
}

var defaultWaits = waits{
	errorBody: 2 * time.Second,
	aside:     time.Second,
	retry:     time.Second,
	retryMin:  50 * time.Millisecond,
	retryMax:  30 * time.Second,
}

// DialHTTP makes a carrier for a server reached by Streamable HTTP. It connects with the first message only.
func DialHTTP(o HTTPOptions) (Carrier, error) {
	endpoint, r := CheckURL(o.Server.HTTP.URL)
	if r != nil {
		return nil, r
	}
	for _, h := range o.Headers {
		if !sendable(h.Name, h.Value.Reveal()) {
			return nil, refusal.New(refusal.SourceNotText, refusal.Own("where", h.Name))
		}
		o.Trace.Withhold(h.Value)
	}
	client, err := NewClient(ClientPolicy{
		Purpose:     ForMCP,
		Endpoint:    endpoint,
		CAFile:      o.Server.HTTP.CAFile,
		HeaderBytes: o.Server.Limits.HeaderBytes,
		LookupEnv:   o.LookupEnv,
		Resolver:    o.Resolver,
	})
	if err != nil {
		return nil, err
	}
	c := &httpCarrier{options: o, endpoint: endpoint, client: client, waits: defaultWaits}
	c.inbox.limits = o.Server.Limits
	c.closed, c.close = context.WithCancel(context.Background())
	return c, nil
}

// Exchange implements Carrier.
func (c *httpCarrier) Exchange(ctx context.Context, req *Request, note func(Notification)) (*Response, error) {
	c.lastID++
	c.inbox.begin(c.lastID, req.Method)
	defer c.inbox.end()
	x := c.exchange(ctx, req, encodeRequest(c.lastID, req))
	defer x.cancel()
	defer x.tell(note)
	resp, f := x.deliver()
	if f != nil {
		x.giveUp(f)
		return nil, f
	}
	defer resp.Body.Close()
	answer, f := x.read(resp, note)
	if f != nil {
		x.giveUp(f)
		return nil, f
	}
	x.keepSession(resp)
	return answer, nil
}

// Notify implements Carrier. Any 2xx counts as accepted: servers in the field answer 200, 204, null and {} alike.
func (c *httpCarrier) Notify(ctx context.Context, req *Request) error {
	x := c.exchange(ctx, req, encodeNotification(req))
	defer x.cancel()
	x.notification = true
	resp, f := x.deliver()
	if f != nil {
		return f
	}
	x.drain(resp)
	return nil
}

// Use implements Carrier.
func (c *httpCarrier) Use(p Protocol) {
	c.inbox.protocol = p
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.protocol = p
	if !p.Legacy {
		c.state.session = "" // the modern protocol has no sessions
	}
}

// Restart implements Carrier.
func (c *httpCarrier) Restart(context.Context) error {
	c.Use(Protocol{})
	c.lastID = 0
	c.client.CloseIdleConnections()
	return nil
}

// Asked implements Carrier.
func (c *httpCarrier) Asked() []string { return c.inbox.asked }

// Close implements Carrier. A legacy session is ended by DELETE (2025-11-25, "Session Management"); whether that
// works is the server's affair.
func (c *httpCarrier) Close() error {
	c.closing.Do(func() {
		c.close()
		ctx, cancel := context.WithTimeout(context.Background(), c.options.Server.Limits.Shutdown)
		defer cancel()
		if state := c.current(); state.session != "" {
			if r, err := c.request(ctx, http.MethodDelete, nil, state, ""); err == nil {
				c.forget(r)
			}
		}
		c.client.CloseIdleConnections()
	})
	return nil
}

func (c *httpCarrier) current() httpState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// forget sends a request whose answer does not matter.
func (c *httpCarrier) forget(r *http.Request) {
	if resp, err := c.client.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}

// retryAfter returns the Retry-After seconds where the header is a plain number (RFC 9110, 10.2.3, the one form that
// cannot hold text).
func retryAfter(h http.Header) (seconds int64, ok bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" || len(value) > 9 {
		return 0, false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		seconds = seconds*10 + int64(c-'0')
	}
	return seconds, true
}
