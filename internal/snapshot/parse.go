package snapshot

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// Parse reads and verifies a document. Digests, byte counts, names, reasons and the id are computed again from the
// descriptors, and then the whole is written again and must be the same bytes: a document that was reformatted is not
// the document that was stored. The snapshot holds on to data.
//
// It refuses with limit.snapshot, limit.depth, snapshot.version and snapshot.altered; the pointer of the last holds
// member names of the format and indexes, nothing else of the document.
func Parse(data []byte, limits config.Limits) (*Snapshot, error) {
	if int64(len(data)) > limits.SnapshotBytes {
		return nil, refusal.New(refusal.LimitSnapshot, refusal.Num("limit", limits.SnapshotBytes))
	}
	if err := strictjson.ValidateObject(data, int(limits.Depth)); err != nil {
		return nil, unreadable(err, limits.Depth)
	}
	if kind := strictjson.MemberText(data, "mcpc"); kind != version {
		return nil, refusal.New(refusal.SnapshotVersion)
	}
	d := document{Snapshot: &Snapshot{}}
	if pointer, ok := d.read(data); !ok {
		return nil, altered(pointer)
	}
	if pointer, ok := d.verify(); !ok {
		return nil, altered(pointer)
	}
	rest := remainder(data)
	if _, err := d.WriteTo(&rest); err != nil || len(rest) > 0 {
		return nil, altered("")
	}
	return d.Snapshot, nil
}

func unreadable(err error, depth int64) error {
	var e *strictjson.Error
	if errors.As(err, &e) && e.Fault == strictjson.FaultDepth {
		return refusal.New(refusal.LimitDepth, refusal.Num("limit", depth))
	}
	return altered("")
}

func altered(pointer string) error {
	r := refusal.New(refusal.SnapshotAltered)
	if pointer != "" {
		r = r.With(refusal.Own("pointer", pointer))
	}
	return r.Hint("take the snapshot again, and read the diff before an authority document names it")
}

// remainder is the part of a document that has not been written again yet. It refuses what differs.
type remainder []byte

func (r *remainder) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(*r, b) {
		return 0, errors.New("differs")
	}
	*r = (*r)[len(b):]
	return len(b), nil
}

// document is a snapshot with what its text says of it; the two are compared before anyone sees the first.
type document struct {
	*Snapshot
	tools, rejected []claim
}

// claim is what the text says of one descriptor.
type claim struct {
	element
	bytes int64
}

// read fills in what the text says. At a fault it returns the pointer to the member at fault.
func (d *document) read(data []byte) (pointer string, ok bool) {
	for name, value := range strictjson.Members(data) {
		where, fine := "", true
		switch name {
		case "mcpc":
		case "id":
			d.ID, fine = digestOf(value)
		case "server":
			d.Server, fine = ParseIdentity(value)
		case "protocol":
			d.Protocol, fine = strictjson.Text(value)
		case "recorded":
			fine = d.Recorded.read(value)
		case "auth":
			d.Auth = &Auth{}
			fine = d.Auth.read(value)
		case "bounds":
			d.Bounds, fine = readBounds(value)
		case "handshake":
			d.Handshake, fine = readHandshake(value)
		case "tools":
			d.tools, where, fine = readClaims(value, (*claim).readTool)
		case "rejected":
			d.rejected, where, fine = readClaims(value, (*claim).readRejected)
		default:
			return "", false // the name is not ours to show
		}
		if !fine {
			return strictjson.Pointer(name) + where, false
		}
	}
	return "", true
}

func (r *Recorded) read(value []byte) (ok bool) {
	ok = strictjson.Kind(value) == '{'
	for name, v := range strictjson.Members(value) {
		fine := false
		switch name {
		case "at":
			var err error
			r.At, err = time.Parse(time.RFC3339, strictjson.MemberText(value, name))
			fine = err == nil
		case "by":
			r.By, fine = strictjson.Text(v)
		case "executable":
			r.Executable, fine = strictjson.Text(v)
		case "sha256":
			r.ExecutableDigest, fine = digestOf(v)
		case "env":
			r.Env, fine = texts(v)
		}
		ok = ok && fine
	}
	return ok
}

func (a *Auth) read(value []byte) (ok bool) {
	ok = strictjson.Kind(value) == '{'
	fields := map[string]*string{
		"kind": &a.Kind, "issuer": &a.Issuer, "resource": &a.Resource,
		"client": &a.Client, "handle": &a.Handle,
	}
	for name, v := range strictjson.Members(value) {
		fine := false
		if field := fields[name]; field != nil {
			*field, fine = strictjson.Text(v)
		} else if name == "scopes" {
			a.Scopes, fine = texts(v)
		}
		ok = ok && fine
	}
	return ok
}

func readBounds(value []byte) (bounds []Bound, ok bool) {
	ok = strictjson.Kind(value) == '{'
	for name, v := range strictjson.Members(value) {
		n, fine := number(v)
		known := slices.ContainsFunc(config.Table, func(l config.Limit) bool { return l.Member == name })
		ok = ok && fine && known
		bounds = append(bounds, Bound{Member: name, Value: n})
	}
	return bounds, ok
}

func readHandshake(value []byte) ([]byte, bool) {
	switch strictjson.Kind(value) {
	case 'n':
		return nil, true
	case '{':
		return value, true
	}
	return nil, false
}

func readClaims(value []byte, read func(*claim, string, []byte) bool) (claims []claim, pointer string, ok bool) {
	if strictjson.Kind(value) != '[' {
		return nil, "", false
	}
	for i, entry := range strictjson.Elements(value) {
		c := claim{bytes: -1}
		for name, v := range strictjson.Members(entry) {
			if !read(&c, name, v) {
				return nil, strictjson.Pointer(strconv.Itoa(i)), false
			}
		}
		if c.Descriptor == nil {
			return nil, strictjson.Pointer(strconv.Itoa(i)), false
		}
		claims = append(claims, c)
	}
	return claims, "", true
}

func (c *claim) readTool(name string, value []byte) (ok bool) {
	switch name {
	case "name":
		c.Name, ok = strictjson.Text(value)
	case "digest":
		c.Digest, ok = digestOf(value)
	default:
		ok = c.readShared(name, value)
	}
	return ok
}

func (c *claim) readRejected(name string, value []byte) (ok bool) {
	switch name {
	case "page":
		c.page, ok = position(value)
	case "index":
		c.index, ok = position(value)
	case "reason":
		c.reason, ok = strictjson.Text(value)
	default:
		ok = c.readShared(name, value)
	}
	return ok
}

func (c *claim) readShared(name string, value []byte) (ok bool) {
	switch name {
	case "raw":
		c.Raw, ok = digestOf(value)
	case "bytes":
		c.bytes, ok = number(value)
	case "descriptor":
		c.Descriptor, ok = value, true
	}
	return ok
}

func digestOf(value []byte) (strictjson.Digest, bool) {
	text, _ := strictjson.Text(value)
	return strictjson.ParseDigest(text)
}

func number(value []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	return n, err == nil && n >= 0
}

func position(value []byte) (int, bool) {
	n, ok := number(value)
	return int(n), ok && n <= 1<<30
}
