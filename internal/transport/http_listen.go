package transport

import (
	"context"
	"errors"
	"io"
	"net/http"

	"mcpc/internal/refusal"
)

// Listener is a Carrier on which a legacy server may say something by itself while no request is under way.
type Listener interface {
	// Listen hands notifications to note, on the caller's goroutine, until the server ends the stream (nil) or ctx ends;
	// it tells onOpen when the stream is there. A server without one is refused as feature.listen. An error is a
	// *Failure.
	Listen(ctx context.Context, onOpen func(), note func(Notification)) error
}

// Listen opens the stream of a legacy server (2025-11-25, "Listening for Messages from the Server"). A call has it open
// too, and does not depend on it; see beside.
func (c *httpCarrier) Listen(ctx context.Context, onOpen func(), note func(Notification)) error {
	c.inbox.begin(0, "") // no request is in flight, so any response is refused
	x := c.exchange(ctx, &Request{Method: http.MethodGet}, nil)
	defer x.cancel()
	x.verb = http.MethodGet
	resp, f := x.deliver()
	if f != nil {
		if noStream(f.Status) {
			f.Refusal = refusal.New(refusal.FeatureListen)
		}
		return f
	}
	defer resp.Body.Close()
	if mediaType(resp.Header) != streamType {
		return x.noMessage(resp.StatusCode)
	}
	onOpen()
	_, err := x.pump(newEventReader(resp.Body, c.options.Server.Limits.FrameBytes), resp.StatusCode, note)
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, io.EOF) && x.ctx.Err() == nil:
		return nil
	}
	return x.broken(err)
}

// noStream reads the status of a GET as a server answers it that does not know what is meant: 405 by the specification,
// the others in the field.
func noStream(status int) bool {
	switch status {
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType,
		http.StatusNotImplemented:
		return true
	}
	return false
}
