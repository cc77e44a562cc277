package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// inbound is one line of a child's stdout.
type inbound struct {
	frame   []byte // without its line end, and without white space around it; not shared with later lines
	number  int    // counted from 1, blank lines included
	over    bool   // over the limit; frame is nil, and nothing more is read
	unended bool   // the stream ended within it
}

// lineReader cuts a stream into lines of at most limit bytes, line end not counted.
type lineReader struct {
	r      *bufio.Reader
	limit  int64
	number int
}

func newLineReader(r io.Reader, limit int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next line that is not blank. After a line that is over the limit the reader is not used again.
func (l *lineReader) next() (inbound, error) {
	for {
		l.number++
		line, err := l.line()
		if errors.Is(err, errLineOver) {
			return inbound{number: l.number, over: true}, nil
		}
		if frame := bytes.Trim(line, " \t\r"); len(frame) > 0 {
			return inbound{frame: frame, number: l.number, unended: err != nil}, nil
		}
		if err != nil {
			return inbound{}, err
		}
	}
}

var errLineOver = errors.New("line over the limit")

// line reads up to a line feed. It notices a line over the limit while the line is still coming.
func (l *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = appendWithin(line, l.limit, part...)
		if over(line, l.limit) {
			return nil, errLineOver
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return withoutEnd(line), err
		}
	}
}

// overshoot is how much is read past a limit before that is noticed: no more than a reader buffers.
const overshoot = 64 << 10

// appendWithin is append for what is read up to a limit. It doubles the room, where append takes many smaller steps and
// leaves more behind, and at last makes just the room of the limit: a peer that sends without end must not cost several
// times what it may send.
func appendWithin(b []byte, limit int64, more ...byte) []byte {
	if need := len(b) + len(more); need > cap(b) {
		room := 2 * int64(cap(b))
		if room > limit/2 { // so that no copy of nearly that size is left beside it
			room = limit + overshoot
		}
		b = append(make([]byte, 0, max(int64(need), room)), b...)
	}
	return append(b, more...)
}

func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

func over(line []byte, limit int64) bool { return int64(len(withoutEnd(line))) > limit }

// classify says whether a line that was refused is noise, that is no attempt at a message, and whether it may be
// skipped as such. A message that is malformed, and a batch, are never noise. Where two values stand on one line and
// one may be a message, the line is noise that is not skipped: the message would be lost.
func classify(line []byte, no *refusal.Refusal) (noise, skippable bool) {
	attempt := mentionsVersion(line)
	switch no.Entry() {
	case refusal.ProtocolBatch:
		return !attempt, true
	case refusal.ProtocolMessage:
		return no.Detail("fault") == faultNoVersion, true
	case refusal.ProtocolFrame, refusal.LimitDepth:
		trailing := no.Detail("fault") == string(strictjson.FaultTrailing)
		return !attempt || trailing, !attempt
	}
	return false, false
}

// mentionsVersion reports whether a line looks like an object, or an array of them, that has a jsonrpc member. It is
// asked only about lines that are refused, and errs towards yes.
func mentionsVersion(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	opens := bytes.HasPrefix(line, []byte("{")) || bytes.HasPrefix(line, []byte("["))
	return opens && bytes.Contains(line, []byte(`"jsonrpc"`))
}
