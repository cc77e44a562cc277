package transport

import (
	"io"
	"strconv"
	"sync"
	"time"

	"mcpc/internal/strictjson"
)

// traceDepth bounds the nesting of a frame that the trace splices in; what is deeper counts as unparsed.
const traceDepth = 1000

// Trace writes one JSON line per message, with the frame itself, for debugging a server. It is the one place where
// server text may be read. It is given frames only: no header and no authorization material can reach it. Methods of
// a nil Trace do nothing; methods may be called concurrently.
type Trace struct {
	mu  sync.Mutex
	w   io.Writer
	now func() time.Time
	err error
}

// NewTrace returns a trace that writes to w.
func NewTrace(w io.Writer, now func() time.Time) *Trace { return &Trace{w: w, now: now} }

// Sent records an outbound frame.
func (t *Trace) Sent(method string, frame []byte) { t.record("sent", method, 0, frame) }

// Received records an inbound frame; method is that of the message, or of the request it answers. Status is the HTTP
// status, 0 on stdio.
func (t *Trace) Received(method string, status int, frame []byte) {
	t.record("received", method, status, frame)
}

// Err returns the first error of writing; after one, nothing more is written.
func (t *Trace) Err() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *Trace) record(direction, method string, status int, frame []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		_, t.err = t.w.Write(traceLine(t.now(), direction, method, status, frame))
	}
}

// traceLine splices the frame in as it was, except that line ends between its tokens become spaces. A frame that is
// not strict JSON would break the line and is left out.
func traceLine(at time.Time, direction, method string, status int, frame []byte) []byte {
	b := append(make([]byte, 0, len(frame)+160), `{"time":`...)
	b = strictjson.AppendQuote(b, at.Format(time.RFC3339Nano))
	b = append(append(b, `,"direction":"`...), direction...)
	b = strictjson.AppendQuote(append(b, `","method":`...), method)
	if status != 0 {
		b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	}
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(len(frame)), 10)
	if strictjson.Validate(frame, traceDepth) != nil {
		return append(b, `,"unparsed":true}`+"\n"...)
	}
	b = append(append(b, `,"frame":`...), oneLine(frame)...)
	return append(b, "}\n"...)
}
