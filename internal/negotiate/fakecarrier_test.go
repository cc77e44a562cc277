package negotiate

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

// step is what the scripted carrier does with one exchange.
type step struct {
	method string // that must be asked
	after  time.Duration
	notes  []transport.Notification
	asks   []string // methods of requests that the server sends meanwhile
	resp   *transport.Response
	fail   *transport.Failure
	hang   bool                // until the context ends
	unsent bool                // with hang: the request is not written by then
	late   *transport.Response // an answer to server/discover that comes before this one
}

// fakeCarrier plays a script and logs what it is told. Asking for more, or for something else, is a failure.
type fakeCarrier struct {
	t        *testing.T
	steps    []step
	log      []string
	params   []string
	asked    []string
	protocol transport.Protocol
	late     *transport.Response
	restart  error
	notify   error
	closed   int
}

func (c *fakeCarrier) say(words ...string) { c.log = append(c.log, strings.Join(words, " ")) }

func (c *fakeCarrier) version() string {
	v := c.protocol.Version
	if c.protocol.Legacy {
		v += "/legacy"
	}
	return "[" + v + "]"
}

func (c *fakeCarrier) Exchange(
	ctx context.Context, req *transport.Request, note func(transport.Notification),
) (*transport.Response, error) {
	c.say(req.Method, c.version())
	c.params = append(c.params, string(req.Params))
	if req.NoCancel != (req.Method == "server/discover") {
		c.t.Errorf("%s has NoCancel %v", req.Method, req.NoCancel)
	}
	if len(c.steps) == 0 {
		c.t.Errorf("%s is asked after the end of the script", req.Method)
		return nil, failure(refusal.TransportClosed, transport.CauseConnection)
	}
	now := c.steps[0]
	c.steps = c.steps[1:]
	if now.method != req.Method {
		c.t.Errorf("%s is asked, the script has %s", req.Method, now.method)
	}
	for _, n := range now.notes {
		note(n)
	}
	c.asked = now.asks
	if now.late != nil {
		c.late = now.late
	}
	timer := time.NewTimer(now.after)
	defer timer.Stop()
	wait := timer.C
	if now.hang {
		wait = nil
	}
	select {
	case <-wait:
	case <-ctx.Done():
		return nil, ended(ctx, !now.unsent)
	}
	if now.fail != nil {
		return nil, now.fail
	}
	return now.resp, nil
}

func ended(ctx context.Context, sent bool) *transport.Failure {
	f := &transport.Failure{Sent: sent, Cause: transport.CauseInterrupted, Refusal: refusal.New(refusal.Interrupted)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f.Cause = transport.CauseDeadline
		f.Refusal = refusal.New(refusal.DeadlineStart, refusal.Num("limit", 1))
	}
	return f
}

func (c *fakeCarrier) Notify(_ context.Context, req *transport.Request) error {
	c.say(req.Method, c.version())
	return c.notify
}

func (c *fakeCarrier) Use(p transport.Protocol) { c.protocol = p }

func (c *fakeCarrier) Restart(context.Context) error {
	c.say("restart")
	c.protocol = transport.Protocol{}
	return c.restart
}

func (c *fakeCarrier) Asked() []string { return c.asked }

func (c *fakeCarrier) Late(method string) (*transport.Response, bool) {
	if method != "server/discover" {
		return nil, false
	}
	return c.late, c.late != nil
}

func (c *fakeCarrier) Close() error { c.closed++; return nil }

// dialer hands out the one carrier.
func (c *fakeCarrier) dialer() Dialer {
	return func(context.Context) (transport.Carrier, error) { return c, nil }
}

func fake(t *testing.T, steps ...step) *fakeCarrier {
	c := &fakeCarrier{t: t, steps: steps}
	t.Cleanup(func() {
		if len(c.steps) > 0 {
			t.Errorf("the script goes on with %s", c.steps[0].method)
		}
	})
	return c
}

var (
	me = Client{Name: "mcpc", Version: "0.0.0"}

	discoverModern = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	initLegacy     = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},` +
		`"serverInfo":{"name":"s","version":"1"}}`
)

func stdioServer() *config.Server {
	return &config.Server{Name: "docs", Stdio: &config.Stdio{Command: []string{"server"}}, Limits: config.DefaultLimits()}
}

func httpServer() *config.Server {
	return &config.Server{Name: "docs", HTTP: &config.HTTP{URL: "http://127.0.0.1/mcp"}, Limits: config.DefaultLimits()}
}

func result(method, raw string) step {
	return step{method: method, resp: &transport.Response{Result: []byte(raw)}}
}

// rpcError is a JSON-RPC error under a status: 0 stands for stdio, and one from 400 makes a failure.
func rpcError(method string, status int, code int64, data string) step {
	rpc := &transport.RPCError{Code: code}
	if data != "" {
		rpc.Data = []byte(data)
	}
	if status < http.StatusBadRequest {
		return step{method: method, resp: &transport.Response{Err: rpc, Status: status}}
	}
	f := statusFailure(status)
	f.RPC = rpc
	return step{method: method, fail: f}
}

func statusFailure(status int) *transport.Failure {
	return &transport.Failure{
		Refusal: refusal.New(refusal.TransportStatus, refusal.Num("status", status)), Status: status, Sent: status >= 500,
	}
}

func status(method string, code int) step { return step{method: method, fail: statusFailure(code)} }

func bearer(method string, code int) step {
	return step{method: method, fail: &transport.Failure{
		Refusal: refusal.New(refusal.OAuthLoginRequired), Status: code, Bearer: true,
	}}
}

// unusable is an answer that is no message; status 0 cannot be.
func unusable(method string, code int) step {
	return step{method: method, fail: &transport.Failure{
		Refusal: refusal.New(refusal.TransportContentType, refusal.Num("status", code)),
		Status:  code, Unusable: true, Sent: true,
	}}
}

func failure(e *refusal.Entry, cause string) *transport.Failure {
	return &transport.Failure{Refusal: refusal.New(e), Cause: cause, Sent: cause != ""}
}

func exited(method string) step {
	f := failure(refusal.TransportExited, transport.CauseExited)
	f.Exited = true
	return step{method: method, fail: f}
}

func silent(method string) step { return step{method: method, hang: true} }

func lost(method string, status int) step {
	return step{method: method, fail: &transport.Failure{
		Refusal: refusal.New(refusal.TransportSessionLost, refusal.Num("status", status)), Status: status,
		RPC: &transport.RPCError{Code: -32001},
	}}
}

func notification(method, params string) transport.Notification {
	return transport.Notification{Method: method, Params: []byte(params)}
}
