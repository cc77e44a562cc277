package transport

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/strictjson"
)

// traceDepth bounds the nesting of a frame that the trace splices in; what is deeper counts as unparsed.
const traceDepth = 1000

// Trace writes one JSON line per message, with the frame itself, for debugging a server. It is the one place where
// server text may be read. It is given frames only: no header can reach it, and a frame that repeats a credential which
// was sent, as servers do that answer with what they received, is left out. Methods of a nil Trace do nothing; methods
// may be called concurrently.
type Trace struct {
	mu      sync.Mutex
	w       io.Writer
	now     func() time.Time
	secrets [][]byte // as they are, and as they stand in a JSON string
	err     error
}

// NewTrace returns a trace that writes to w.
func NewTrace(w io.Writer, now func() time.Time) *Trace { return &Trace{w: w, now: now} }

// minSecret is the length from which a value counts as one: a shorter one is found by chance.
const minSecret = 8

// Withhold has every later frame left out that holds the secret.
func (t *Trace) Withhold(secret config.Secret) {
	plain := []byte(secret.Reveal())
	if t == nil || len(plain) < minSecret {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, spelling := range [][]byte{plain, bytes.Trim(strictjson.Quote(secret.Reveal()), `"`)} {
		if !t.holds(spelling) {
			t.secrets = append(t.secrets, spelling)
		}
	}
}

// holds reports whether a text has a secret in it.
func (t *Trace) holds(text []byte) bool {
	return slices.ContainsFunc(t.secrets, func(s []byte) bool { return bytes.Contains(text, s) })
}

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
		line := traceLine(t.now(), direction, method, status, frame)
		if t.holds(line) {
			if t.holds(strictjson.Quote(method)) {
				method = ""
			}
			line = append(traceHead(t.now(), direction, method, status, frame), `,"withheld":true}`+"\n"...)
		}
		_, t.err = t.w.Write(line)
	}
}

// traceHead begins a line.
func traceHead(at time.Time, direction, method string, status int, frame []byte) []byte {
	b := append(make([]byte, 0, len(frame)+160), `{"time":`...)
	b = strictjson.AppendQuote(b, at.Format(time.RFC3339Nano))
	b = append(append(b, `,"direction":"`...), direction...)
	b = strictjson.AppendQuote(append(b, `","method":`...), method)
	if status != 0 {
		b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	}
	return strconv.AppendInt(append(b, `,"bytes":`...), int64(len(frame)), 10)
}

// traceLine splices the frame in as it was, except that line ends between its tokens become spaces. A frame that is
// not strict JSON would break the line and is left out.
func traceLine(at time.Time, direction, method string, status int, frame []byte) []byte {
	b := traceHead(at, direction, method, status, frame)
	if strictjson.Validate(frame, traceDepth) != nil {
		return append(b, `,"unparsed":true}`+"\n"...)
	}
	b = append(append(b, `,"frame":`...), oneLine(frame)...)
	return append(b, "}\n"...)
}
