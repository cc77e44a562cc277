package snapshot

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

const (
	listMethod = "tools/list"
	maxTries   = 3  // traversals of a list that says it changed meanwhile: the first and two more
	patience   = 10 // a whole traversal may take this many times what one request may
)

// Take lists all tools and makes the snapshot, all or nothing. Its errors are those of the session, limit.*,
// protocol.result, protocol.cursor_repeated and protocol.unstable.
func Take(ctx context.Context, l Lister, c Context) (*Snapshot, error) {
	elements, err := listInTime(ctx, l, &c)
	if err != nil {
		return nil, err
	}
	if len(c.Handshake) > 0 {
		if err := strictjson.ValidateObject(c.Handshake, int(c.Limits.Depth)); err != nil {
			return nil, malformed(err)
		}
	}
	s := &Snapshot{
		Server:    c.Server,
		Protocol:  c.Protocol,
		Recorded:  c.Recorded.writable(),
		Auth:      c.Auth.writable(),
		Bounds:    boundsOf(&c.Limits),
		Handshake: bytes.TrimSpace(c.Handshake),
	}
	rejectDuplicates(elements)
	s.split(elements)
	if s.ID, err = s.computeID(); err != nil {
		return nil, malformed(err)
	}
	if s.size() > c.Limits.SnapshotBytes {
		return nil, refusal.New(refusal.LimitSnapshot, refusal.Num("limit", c.Limits.SnapshotBytes))
	}
	return s, nil
}

// listInTime bounds the traversal as a whole: a server that mints fresh cursors slowly is within every other deadline.
func listInTime(ctx context.Context, l Lister, c *Context) ([]element, error) {
	limit := patience * c.Limits.Request
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	elements, err := listStable(bounded, l, c)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return nil, refusal.New(refusal.DeadlineDiscovery, refusal.Num("limit", limit.Milliseconds()))
	}
	return elements, err
}

// listStable lists until no list_changed came meanwhile.
func listStable(ctx context.Context, l Lister, c *Context) ([]element, error) {
	for range maxTries {
		before := l.Changes()
		t := traversal{limits: &c.Limits, http: c.Server.HTTP != "", seen: map[string]bool{}}
		stood, err := t.list(ctx, l, before)
		if err != nil {
			return nil, err
		}
		if stood {
			return slices.Concat(t.pages...), nil
		}
	}
	return nil, refusal.New(refusal.ProtocolUnstable, refusal.Num("tries", maxTries))
}

// traversal is one walk through all pages.
type traversal struct {
	limits *config.Limits
	http   bool
	seen   map[string]bool // cursors
	pages  [][]element
	tools  int64    // elements so far
	bytes  int64    // of all descriptors so far
	values [][]byte // of the page being read
	buffer []byte   // for canonical forms
}

// list reads page after page; stood is false as soon as the list is known to have changed.
func (t *traversal) list(ctx context.Context, l Lister, before int) (stood bool, err error) {
	var cursor *string
	for page := 0; ; page++ {
		if int64(page) >= t.limits.Pages {
			return false, refusal.New(refusal.LimitPages, refusal.Num("limit", t.limits.Pages))
		}
		if ctx.Err() != nil {
			return false, refusal.New(refusal.Interrupted)
		}
		result, err := l.ListPage(ctx, cursor)
		if err != nil {
			return false, err
		}
		if l.Changes() != before {
			return false, nil
		}
		if cursor, err = t.page(page, result); err != nil {
			return false, err
		}
		// In the legacy era servers end the list with an empty cursor; in the modern era only absence ends it.
		if cursor == nil || (*cursor == "" && !l.Modern()) {
			return true, nil
		}
	}
}

// page takes one page in and returns the cursor of the next. The cursor is judged before the tools are looked at, so
// that a server that repeats itself adds nothing.
func (t *traversal) page(page int, result []byte) (next *string, err error) {
	tools, cursor := pageParts(result)
	if strictjson.Kind(tools) != '[' {
		return nil, fault("tools is not an array")
	}
	if next, err = t.cursor(page, cursor); err != nil {
		return nil, err
	}
	return next, t.take(page, tools)
}

func pageParts(result []byte) (tools, cursor []byte) {
	for name, value := range strictjson.Members(result) {
		switch name {
		case "tools":
			tools = value
		case "nextCursor":
			cursor = value
		}
	}
	return tools, cursor
}

func (t *traversal) cursor(page int, value []byte) (*string, error) {
	if value == nil || strictjson.Kind(value) == 'n' {
		return nil, nil
	}
	text, ok := strictjson.Text(value)
	switch {
	case !ok:
		return nil, fault("nextCursor is not a string")
	case int64(len(text)) > t.limits.CursorBytes:
		return nil, refusal.New(refusal.LimitCursor, refusal.Num("limit", t.limits.CursorBytes),
			refusal.Num("page", page))
	case t.seen[text]:
		return nil, refusal.New(refusal.ProtocolCursorRepeated, refusal.Num("page", page))
	}
	t.seen[text] = true
	return &text, nil
}

// take adds the descriptors of one page. They are copied out together, so that nothing holds on to the page: a page
// may be much larger than its descriptors.
func (t *traversal) take(page int, tools []byte) error {
	sum := 0
	t.values = t.values[:0]
	for index, value := range strictjson.Elements(tools) {
		if err := t.admit(page, index, len(value)); err != nil {
			return err
		}
		sum += len(value)
		t.values = append(t.values, value)
	}
	elements, copies := make([]element, len(t.values)), make([]byte, 0, sum)
	for index, value := range t.values {
		from := len(copies)
		copies = append(copies, value...)
		e := &elements[index]
		e.page, e.index, e.Descriptor = page, index, copies[from:len(copies):len(copies)]
		if err := t.read(e); err != nil {
			return err
		}
	}
	t.pages = append(t.pages, elements)
	return nil
}

// admit holds one more descriptor against the limits on one, on their number and on their sum.
func (t *traversal) admit(page, index, size int) error {
	t.tools++
	t.bytes += int64(size)
	switch {
	case int64(size) > t.limits.DescriptorBytes:
		return refusal.New(refusal.LimitDescriptor, refusal.Num("limit", t.limits.DescriptorBytes),
			refusal.Num("page", page), refusal.Num("index", index))
	case t.tools > t.limits.Tools:
		return refusal.New(refusal.LimitTools, refusal.Num("limit", t.limits.Tools))
	case t.bytes > t.limits.SnapshotBytes:
		return refusal.New(refusal.LimitSnapshot, refusal.Num("limit", t.limits.SnapshotBytes))
	}
	return nil
}

func (t *traversal) read(e *element) (err error) {
	e.Name, e.reason = judge(e.Descriptor, t.http)
	e.Raw, e.Digest, t.buffer, err = digests(e.Descriptor, t.buffer)
	if err != nil {
		return malformed(err)
	}
	return nil
}

func fault(what string) error {
	return refusal.New(refusal.ProtocolResult, refusal.Own("method", listMethod), refusal.Own("fault", what))
}

// malformed is for JSON that is not strict after all. The session lets none through; nothing here relies on that.
func malformed(error) error { return fault("not strict JSON") }

// relevant are the limits that decide what a snapshot can hold.
var relevant = []string{
	"frame_bytes", "result_bytes", "descriptor_bytes", "tools", "pages", "snapshot_bytes",
	"cursor_bytes", "depth",
}

func boundsOf(limits *config.Limits) []Bound {
	bounds := make([]Bound, 0, len(relevant))
	for _, member := range relevant {
		for _, limit := range config.Table {
			if limit.Member == member {
				bounds = append(bounds, Bound{Member: member, Value: limit.Get(limits)})
			}
		}
	}
	return bounds
}

// writable returns the record in the form in which it is written: whole seconds in UTC, and U+FFFD for bytes of a path
// or name that are not UTF-8. None of it is in the id.
func (r Recorded) writable() Recorded {
	r.At = r.At.UTC().Truncate(time.Second)
	r.By, r.Executable = valid(r.By), valid(r.Executable)
	r.Env = validAll(r.Env)
	return r
}

func (a *Auth) writable() *Auth {
	if a == nil {
		return nil
	}
	return &Auth{
		Kind: valid(a.Kind), Issuer: valid(a.Issuer), Resource: valid(a.Resource), Client: valid(a.Client),
		Handle: valid(a.Handle), Scopes: validAll(a.Scopes),
	}
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func validAll(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, valid(s))
	}
	return out
}
