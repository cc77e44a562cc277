package snapshot

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"mcpc/internal/strictjson"
)

const version = "snapshot/1"

// Encode returns the document as it is stored: fixed member order, one tool a line, received bytes spliced in.
func (s *Snapshot) Encode() []byte {
	var b bytes.Buffer
	b.Grow(int(s.size()))
	_, _ = s.WriteTo(&b) // a buffer takes everything
	return b.Bytes()
}

// WriteTo is Encode without the document in memory; it writes in small pieces.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	out := &counter{w: w}
	out.put(s.appendHead(nil))
	line := []byte(nil)
	for i := range s.Tools {
		line = s.Tools[i].appendHead(append(line[:0], between(i, "\n", ",\n")...))
		out.put(line)
		out.put(s.Tools[i].Descriptor)
		out.put([]byte("}"))
	}
	out.put([]byte("],\n\"rejected\":["))
	for i := range s.Rejected {
		line = s.Rejected[i].appendHead(append(line[:0], between(i, "", ",\n")...))
		out.put(line)
		out.put(s.Rejected[i].Descriptor)
		out.put([]byte("}"))
	}
	out.put([]byte("]}\n"))
	return out.n, out.err
}

// size is the length of the document.
func (s *Snapshot) size() int64 {
	n, _ := s.WriteTo(io.Discard)
	return n
}

// counter counts what it writes and stops at the first error.
type counter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counter) put(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.err = err
}

func between(i int, first, later string) string {
	if i == 0 {
		return first
	}
	return later
}

// appendHead appends everything before the first tool.
func (s *Snapshot) appendHead(b []byte) []byte {
	b = appendText(b, `{"mcpc":`, version)
	b = appendText(b, ",\n\"id\":", string(s.ID))
	b = s.Server.AppendJSON(append(b, ",\n\"server\":"...))
	b = appendText(b, ",\n\"protocol\":", s.Protocol)
	b = s.Recorded.append(append(b, ",\n\"recorded\":"...), s.Server.HTTP == "")
	if s.Auth != nil {
		b = s.Auth.append(append(b, ",\n\"auth\":"...))
	}
	b = append(b, ",\n\"bounds\":{"...)
	for i, bound := range s.Bounds {
		b = strictjson.AppendQuote(append(b, between(i, "", ",")...), bound.Member)
		b = strconv.AppendInt(append(b, ':'), bound.Value, 10)
	}
	b = append(b, "},\n\"handshake\":"...)
	if s.Handshake == nil {
		b = append(b, "null"...)
	}
	b = append(b, s.Handshake...)
	return append(b, ",\n\"tools\":["...)
}

func (r *Recorded) append(b []byte, stdio bool) []byte {
	b = appendText(b, `{"at":`, r.At.UTC().Format(time.RFC3339))
	b = appendText(b, `,"by":`, r.By)
	if stdio {
		b = appendUnlessEmpty(b, `,"executable":`, r.Executable)
		b = appendUnlessEmpty(b, `,"sha256":`, string(r.ExecutableDigest))
		b = appendStrings(append(b, `,"env":`...), r.Env)
	}
	return append(b, '}')
}

func (a *Auth) append(b []byte) []byte {
	b = appendText(b, `{"kind":`, a.Kind)
	b = appendUnlessEmpty(b, `,"issuer":`, a.Issuer)
	b = appendUnlessEmpty(b, `,"resource":`, a.Resource)
	b = appendUnlessEmpty(b, `,"client":`, a.Client)
	b = appendStrings(append(b, `,"scopes":`...), a.Scopes)
	b = appendUnlessEmpty(b, `,"handle":`, a.Handle)
	return append(b, '}')
}

func (t *Tool) appendHead(b []byte) []byte {
	b = appendText(b, `{"name":`, t.Name)
	b = appendText(b, `,"raw":`, string(t.Raw))
	b = appendText(b, `,"digest":`, string(t.Digest))
	return appendSplice(b, t.Descriptor)
}

func (r *Rejected) appendHead(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"page":`...), int64(r.Page), 10)
	b = strconv.AppendInt(append(b, `,"index":`...), int64(r.Index), 10)
	b = appendText(b, `,"reason":`, r.Reason)
	b = appendText(b, `,"raw":`, string(r.Raw))
	return appendSplice(b, r.Descriptor)
}

func appendSplice(b, descriptor []byte) []byte {
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(len(descriptor)), 10)
	return append(b, `,"descriptor":`...)
}

func appendText(b []byte, member, text string) []byte {
	return strictjson.AppendQuote(append(b, member...), text)
}

func appendUnlessEmpty(b []byte, member, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(b, member, text)
}
