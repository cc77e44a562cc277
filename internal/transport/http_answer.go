package transport

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"time"

	"mcpc/internal/refusal"
)

// maxResumes bounds the tries to resume a stream that bring nothing new.
const maxResumes = 5

// mediaType returns the media type in lower case and without parameters (RFC 9110, 8.3.1). Some proxies fold the
// header of two hops into one line; that is accepted where both say the same, else it is "".
func mediaType(h http.Header) string {
	found := ""
	for _, value := range h.Values("Content-Type") {
		for _, one := range splitUnquoted(value) {
			name, _, _ := strings.Cut(one, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			if found != "" && name != found {
				return ""
			}
			found = name
		}
	}
	return found
}

// read takes the response out of a 2xx answer.
func (x *httpExchange) read(resp *http.Response, note func(Notification)) (*Response, *Failure) {
	switch mediaType(resp.Header) {
	case jsonType:
		return x.readJSON(resp)
	case streamType:
		return x.readStream(resp, note)
	default:
		return nil, x.noMessage(resp.StatusCode)
	}
}

// noMessage is an answer that is no message at all.
func (x *httpExchange) noMessage(status int) *Failure {
	return &Failure{
		Refusal: refusal.New(refusal.TransportContentType,
			refusal.Num("status", status), refusal.Own("method", x.req.Method)),
		Status: status, Unusable: true, Sent: true,
	}
}

// malformedFrame is an answer that was refused as a message.
func malformedFrame(no *refusal.Refusal, status int) *Failure {
	f := &Failure{Refusal: no, Status: status, Sent: true}
	f.Unusable = no.Entry() == refusal.ProtocolFrame || no.Entry() == refusal.ProtocolMessage
	return f
}

// readJSON reads the body to its end, so that the connection can be used again.
func (x *httpExchange) readJSON(resp *http.Response) (*Response, *Failure) {
	c, status := x.carrier, resp.StatusCode
	body, err := ReadBounded(resp.Body, c.options.Server.Limits.FrameBytes, refusal.LimitFrame)
	if err != nil {
		f := x.broken(err)
		f.Status = status
		return nil, f
	}
	c.options.Trace.Received(x.req.Method, status, body)
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, x.noMessage(status)
	}
	d, no := x.inbox.frame(body)
	switch {
	case no != nil:
		return nil, malformedFrame(no, status)
	case d.response == nil:
		return nil, malformedFrame(malformed("the body is not a response"), status)
	}
	d.response.Status = status
	return d.response, nil
}

// readStream reads events up to the response and not to the end: a server may hold the stream open. A legacy stream
// that breaks after an event with an id is resumed; the request itself is never sent again.
func (x *httpExchange) readStream(resp *http.Response, note func(Notification)) (*Response, *Failure) {
	in := newEventReader(resp.Body, x.carrier.options.Server.Limits.FrameBytes)
	for {
		before := in.id
		answer, err := x.pump(in, resp.StatusCode, note)
		var f *Failure
		switch {
		case err == nil:
			return answer, nil
		case errors.As(err, &f):
			return nil, f
		case in.id != before:
			x.resumes = 0
		}
		more := x.resume(in)
		if more == nil {
			return nil, x.broken(err)
		}
		defer more.Body.Close()
		in = in.resumed(more.Body)
	}
}

// pump handles events until the response comes. Its error is a *Failure, or what ended the stream before.
func (x *httpExchange) pump(in *eventReader, status int, note func(Notification)) (*Response, error) {
	c := x.carrier
	for {
		ev, err := in.next()
		if r, ok := refusal.As(err); ok {
			return nil, &Failure{Refusal: r, Status: status, Sent: true}
		}
		if err != nil {
			return nil, err
		}
		if len(ev.data) == 0 || ev.kind != "" && ev.kind != "message" {
			continue // only messages carry frames; an empty one primes the client with an id
		}
		c.options.Trace.Received(x.req.Method, status, ev.data)
		d, no := x.inbox.frame(ev.data)
		switch {
		case no != nil:
			return nil, malformedFrame(no, status)
		case d.response != nil:
			d.response.Status = status
			return d.response, nil
		case d.note != nil && note != nil:
			note(*d.note)
		case d.reply != nil:
			x.aside(x.ctx, "response", d.reply)
		}
	}
}

// wait waits as long as the server asked for before a stream is resumed (2025-11-25, "Sending Messages to the
// Server"), within bounds.
func (x *httpExchange) wait(in *eventReader) error {
	waits := x.carrier.waits
	pause := waits.retry
	if in.retry >= 0 {
		pause = min(max(in.retry, waits.retryMin), waits.retryMax)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
}

// resume asks for the rest of a stream by GET (2025-11-25, "Resumability and Redelivery"); nil where there is none.
func (x *httpExchange) resume(in *eventReader) *http.Response {
	if !x.state.protocol.Legacy || in.id == "" {
		return nil
	}
	for again := true; again && x.resumes < maxResumes; {
		x.resumes++
		if x.wait(in) != nil {
			return nil
		}
		var resp *http.Response
		if resp, again = x.get(in.id); resp != nil {
			return resp
		}
	}
	return nil
}

// get makes one try to resume; again says whether another one may help.
func (x *httpExchange) get(lastID string) (resp *http.Response, again bool) {
	c := x.carrier
	r, err := c.request(x.ctx, http.MethodGet, nil, x.state, x.req.Method)
	if err != nil {
		return nil, false
	}
	r.Header.Set("Last-Event-ID", lastID)
	if resp, err = c.client.Do(r); err != nil {
		return nil, refusal.Is(err, refusal.TransportClosed) || refusal.Is(err, refusal.TransportUnreachable)
	}
	if resp.StatusCode == http.StatusOK && mediaType(resp.Header) == streamType {
		return resp, true
	}
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusConflict && x.beside != nil {
		x.endBeside() // the server has one stream at a time, and the answer needs it
		return nil, true
	}
	return nil, resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
}

// keepSession keeps the session that a legacy server begins with its answer to initialize. An id must be visible ASCII
// (2025-11-25, "Session Management"); any other counts as none.
func (x *httpExchange) keepSession(resp *http.Response) {
	id := resp.Header.Get(sessionHeader)
	if x.req.Method != "initialize" || !x.state.protocol.Legacy || strings.ContainsFunc(id, notVisible) {
		return
	}
	c := x.carrier
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.session, c.state.http2 = id, resp.ProtoMajor >= 2
}

func notVisible(r rune) bool { return r < '!' || r > '~' }

var _ Carrier = (*httpCarrier)(nil)
