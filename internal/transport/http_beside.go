package transport

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
)

const (
	methodCall  = "tools/call"
	listChanged = "notifications/tools/list_changed"

	// maxBeside bounds a message beside a call: with an answer of the frame limit under way at the same time, it must not
	// double what a server can have us hold.
	maxBeside = 1 << 20
)

// beside is the stream that a legacy server has for itself, held open while a call is in flight (2025-11-25, "Listening
// for Messages from the Server"). What a tool wants from the client belongs on the stream of its call, but many servers
// ask for it here, or on no stream at all, and then wait until their own time is up; here they are told at once that it
// is not admitted. Nothing needs the stream: what goes wrong with it ends it in silence, it is not opened again, and no
// exchange waits for anything that comes from it.
type beside struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed when nothing of it runs any more; what follows may be read then
	inbox   inbox         // its own, with its own count; no request is in flight there, so a response ends the stream
	changed bool          // the server said that its tools changed
}

// openBeside opens the stream for a call in a session. It carries what the call carries; nobody is asked for a token, and
// no challenge is answered. It returns when the stream has taken its connection, or has begun to dial, so that the
// server hears of it first: a request that a server has no stream for is lost.
func (x *httpExchange) openBeside() {
	x.endBeside()
	if x.req.Method != methodCall || !x.state.protocol.Legacy || x.state.session == "" {
		return
	}
	b := &beside{done: make(chan struct{}), inbox: inbox{limits: x.inbox.limits, protocol: x.state.protocol}}
	ctx, cancel := context.WithCancel(x.ctx) // #nosec G118 -- endBeside calls it, however the call ends
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	aside := &httpExchange{
		carrier: x.carrier, outer: ctx, state: x.state, inbox: &b.inbox,
		verb: http.MethodGet, req: &Request{Method: http.MethodGet},
		ctx: httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn:      func(httptrace.GotConnInfo) { begin() },
			DNSStart:     func(httptrace.DNSStartInfo) { begin() },
			ConnectStart: func(string, string) { begin() },
		}),
	}
	b.cancel, x.beside = cancel, b
	go func() {
		defer close(b.done)
		aside.listenBeside(b)
	}()
	select {
	case <-begun:
	case <-b.done:
	}
}

// listenBeside answers what the server asks, until anything at all ends the stream.
func (x *httpExchange) listenBeside(b *beside) {
	c := x.carrier
	r, err := c.request(x.ctx, x.verb, nil, x.state, x.req.Method)
	if err != nil {
		return
	}
	r.Close = !x.state.http2 // the call must not come by a connection on which this stream went wrong
	resp, err := c.client.Do(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || mediaType(resp.Header) != streamType {
		return
	}
	in := newEventReader(resp.Body, min(b.inbox.limits.FrameBytes, maxBeside))
	_, _ = x.pump(in, resp.StatusCode, func(n Notification) { b.changed = b.changed || n.Method == listChanged })
}

// endBeside closes the stream and takes over what it brought. Everything that it may be doing ends with its context, so
// there is nothing of the server's to wait for.
func (x *httpExchange) endBeside() {
	b := x.beside
	if b == nil {
		return
	}
	x.beside = nil
	b.cancel()
	<-b.done
	for _, method := range b.inbox.asked {
		x.inbox.remember(method)
	}
	x.changed = x.changed || b.changed
}

// tell ends the stream beside the exchange and says what it was told there and is of interest to the caller: that the
// tools changed. Other notifications have no place on that stream and are dropped.
func (x *httpExchange) tell(note func(Notification)) {
	x.endBeside()
	if x.changed && note != nil {
		note(Notification{Method: listChanged})
	}
}
