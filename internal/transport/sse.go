package transport

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"

	"mcpc/internal/refusal"
)

// maxEventID bounds an event id that is kept to resume with; a longer one counts as none.
const maxEventID = 1 << 10

var byteOrderMark = []byte("\xEF\xBB\xBF")

// event is one dispatched event. Its data may be empty: such events only carry an id or a retry time.
type event struct {
	kind string // "" for message
	data []byte
}

// eventReader reads an event stream as the HTML standard (9.2.6) interprets it: lines end with CR, LF or CRLF in any
// mixture, an event ends with an empty line and at no other place, and how the bytes were cut into chunks makes no
// difference. A lone CR ends its line at once, so that an event is not held back until the byte after it comes.
type eventReader struct {
	in      *bufio.Reader
	limit   int64  // of the data of one event
	buffer  []byte // of the line that is read, for the next one again
	started bool   // the byte order mark, where there was one, is behind
	skipLF  bool   // the line before ended with CR; a LF here still belongs to that

	id     string        // of the last dispatched event; "" for none
	nextID string        // takes effect when the event is dispatched
	retry  time.Duration // the reconnection time the server asked for; negative for none
}

func newEventReader(r io.Reader, limit int64) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(r, 16<<10), limit: limit, retry: -1}
}

// next returns the next event. An error is that of the reader, io.EOF at the end, or the refusal limit.frame. What
// stands after the last empty line is no event.
func (r *eventReader) next() (event, error) {
	var (
		ev   event
		some bool // a data field was there
	)
	for {
		line, err := r.line()
		if err != nil {
			return event{}, err
		}
		if len(line) > 0 {
			if some, err = r.field(line, &ev, some); err != nil {
				return event{}, err
			}
			continue
		}
		r.id = r.nextID
		if some {
			return ev, nil
		}
		ev = event{}
	}
}

func (r *eventReader) field(line []byte, ev *event, some bool) (bool, error) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if !some {
			ev.data, r.buffer = value, nil // the event's own from now on
		} else {
			ev.data = appendWithin(ev.data, r.limit, '\n')
			ev.data = appendWithin(ev.data, r.limit, value...)
		}
		if int64(len(ev.data)) > r.limit {
			return true, r.overLimit()
		}
		return true, nil
	case "event":
		ev.kind = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.nextID = usableID(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
	return some, nil
}

// usableID returns the id if a header can carry it back.
func usableID(id []byte) string {
	if len(id) > maxEventID {
		return ""
	}
	for _, c := range id {
		if c < ' ' || c == 0x7F {
			return ""
		}
	}
	return string(id)
}

// line returns the next whole line without its end; it is valid until the next call. Of a comment only the colon is kept, so that a comment may be of
// any length.
func (r *eventReader) line() ([]byte, error) {
	if err := r.start(); err != nil {
		return nil, err
	}
	line := r.buffer[:0]
	for {
		window, err := r.window()
		if err != nil {
			return nil, err
		}
		end := bytes.IndexAny(window, "\r\n")
		part := window
		if end >= 0 {
			part = window[:end]
		}
		if line = appendWithin(line, r.limit, part...); len(line) > 0 && line[0] == ':' {
			line = line[:1]
		}
		if int64(len(line)) > r.limit+int64(len("data: ")) {
			return nil, r.overLimit()
		}
		if end >= 0 {
			r.skipLF = window[end] == '\r'
			r.discard(end + 1)
			r.buffer = line
			return line, nil
		}
		r.discard(len(part))
	}
}

// window returns what is there to read without waiting for more than one byte.
func (r *eventReader) window() ([]byte, error) {
	for {
		first, err := r.in.Peek(1)
		if err != nil {
			return nil, err
		}
		if skip := r.skipLF && first[0] == '\n'; !skip {
			break
		}
		r.skipLF = false
		r.discard(1)
	}
	r.skipLF = false
	return r.in.Peek(r.in.Buffered())
}

// start skips the one byte order mark that may lead the stream.
func (r *eventReader) start() error {
	if r.started {
		return nil
	}
	r.started = true
	if first, err := r.in.Peek(1); err != nil || first[0] != byteOrderMark[0] {
		return err
	}
	if mark, err := r.in.Peek(len(byteOrderMark)); err == nil && bytes.Equal(mark, byteOrderMark) {
		r.discard(len(byteOrderMark))
	}
	return nil
}

func (r *eventReader) discard(n int) { _, _ = r.in.Discard(n) }

func (r *eventReader) overLimit() error {
	return refusal.New(refusal.LimitFrame, refusal.Num("limit", r.limit))
}

// resumed reads on from another body; what is known of id and retry time stays.
func (r *eventReader) resumed(body io.Reader) *eventReader {
	next := newEventReader(body, r.limit)
	next.id, next.nextID, next.retry = r.id, r.id, r.retry
	return next
}
