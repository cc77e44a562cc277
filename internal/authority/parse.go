package authority

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// Bounds on a document.
const (
	maxDocument  = 1 << 20
	maxToolName  = 256 // bytes; the bound of a snapshot's names
	maxArguments = 1 << 30
)

// Parse reads a document. Its errors are refusals of the family authority, and limit.config for one over 1 MiB. Their
// pointers hold names that the document's author wrote.
func Parse(data []byte) (*Document, error) {
	if err := strict(data); err != nil {
		return nil, err
	}
	if strictjson.MemberText(data, "mcpc") != Kind {
		return nil, refusal.New(refusal.AuthorityVersion)
	}
	doc := &Document{}
	if err := readObject(doc, data, "", documentMembers); err != nil {
		return nil, err
	}
	digest, err := strictjson.CanonicalDigest(data)
	if err != nil {
		return nil, refusal.New(refusal.AuthoritySyntax, refusal.Own("fault", string(strictjson.FaultSyntax)))
	}
	doc.Digest = digest
	return doc, nil
}

// strict refuses what is not one strict JSON object, with the place in the text.
func strict(data []byte) error {
	if len(data) > maxDocument {
		return refusal.New(refusal.LimitConfig, refusal.Num("limit", maxDocument))
	}
	err := strictjson.ValidateObject(data, strictjson.MaxDepth)
	var fault *strictjson.Error
	if !errors.As(err, &fault) {
		return err
	}
	if fault.Fault == strictjson.FaultDuplicate && fault.Pointer != "" {
		return invalid(fault.Pointer, "stands there twice")
	}
	line, column := strictjson.Position(data, fault.Offset)
	return refusal.New(refusal.AuthoritySyntax, refusal.Own("fault", string(fault.Fault)),
		refusal.Num("line", line), refusal.Num("column", column))
}

func invalid(pointer, reason string) error {
	return refusal.New(refusal.AuthorityInvalid, refusal.Own("pointer", pointer), refusal.Own("reason", reason))
}

// member is one member that an object may have.
type member[T any] struct {
	name     string
	required bool
	read     func(into *T, value []byte, at string) error
}

// readObject reads an object that has the required members and no other than the listed.
func readObject[T any](into *T, object []byte, at string, members []member[T]) error {
	if strictjson.Kind(object) != '{' {
		return invalid(at, "must be an object")
	}
	seen := map[string]bool{}
	for name, value := range strictjson.Members(object) {
		i := slices.IndexFunc(members, func(m member[T]) bool { return m.name == name })
		pointer := at + strictjson.Pointer(name)
		if i < 0 {
			return invalid(pointer, "is no member that is known here")
		}
		seen[name] = true
		if err := members[i].read(into, value, pointer); err != nil {
			return err
		}
	}
	for _, m := range members {
		if m.required && !seen[m.name] {
			return invalid(at+strictjson.Pointer(m.name), "is missing")
		}
	}
	return nil
}

var documentMembers = []member[Document]{
	{"mcpc", true, func(*Document, []byte, string) error { return nil }}, // looked at first of all
	{"server", true, readServer},
	{"snapshot", true, readSnapshot},
	{"review", true, func(d *Document, v []byte, at string) error { return readObject(d, v, at, reviewMembers) }},
	{"notAfter", false, readNotAfter},
	{"auth", false, func(d *Document, v []byte, at string) error {
		d.Auth = &Auth{}
		return readObject(d.Auth, v, at, authMembers)
	}},
	{"note", false, ignore[Document]},
	{"maxArgumentBytes", false, readMaxArgumentBytes},
	{"tools", true, readTools},
}

var reviewMembers = []member[Document]{
	{"by", true, readReviewer},
	{"at", false, func(d *Document, v []byte, at string) error {
		_, err := instant(v, at)
		d.ReviewedAt, _ = strictjson.Text(v)
		return err
	}},
	{"note", false, ignore[Document]},
}

var authMembers = []member[Auth]{
	{"issuer", true, func(a *Auth, v []byte, at string) (err error) {
		a.Issuer, err = text(v, at)
		return err
	}},
	{"scopesWithin", false, func(a *Auth, v []byte, at string) (err error) {
		a.ScopesWithin, err = texts(v, at)
		return err
	}},
}

var grantMembers = []member[Grant]{
	{"allow", true, readAllow},
	{"arguments", true, readArguments},
}

// text reads a string that is not blank.
func text(value []byte, at string) (string, error) {
	s, ok := strictjson.Text(value)
	if !ok || strings.TrimSpace(s) == "" {
		return "", invalid(at, "must be a string that is not blank")
	}
	return s, nil
}

// texts reads an array of different strings. The result is not nil.
func texts(value []byte, at string) ([]string, error) {
	if strictjson.Kind(value) != '[' {
		return nil, invalid(at, "must be an array of strings")
	}
	list, seen := []string{}, map[string]bool{}
	for i, v := range strictjson.Elements(value) {
		pointer := at + "/" + strconv.Itoa(i)
		s, ok := strictjson.Text(v)
		switch {
		case !ok:
			return nil, invalid(pointer, "must be a string")
		case seen[s]:
			return nil, invalid(pointer, "stands there twice")
		}
		seen[s] = true
		list = append(list, s)
	}
	return list, nil
}

func instant(value []byte, at string) (time.Time, error) {
	s, _ := strictjson.Text(value)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, invalid(at, "must be a time as RFC 3339 writes it, such as 2027-03-01T00:00:00Z")
	}
	return t, nil
}

// ignore reads a remark for people.
func ignore[T any](_ *T, value []byte, at string) error {
	if strictjson.Kind(value) != '"' {
		return invalid(at, "must be a string")
	}
	return nil
}

func readServer(d *Document, value []byte, at string) error {
	server, ok := snapshot.ParseIdentity(value)
	if !ok {
		return invalid(at, `must be {"http": URL} or {"stdio": [ARGUMENT, ...]}, with "cwd" where one is configured`)
	}
	d.Server = server
	return nil
}

func readSnapshot(d *Document, value []byte, at string) error {
	s, _ := strictjson.Text(value)
	digest, ok := strictjson.ParseDigest(s)
	if !ok {
		return invalid(at, `must be "sha256:" and all 64 hex digits of a snapshot's id`)
	}
	d.Snapshot = digest
	return nil
}

// readReviewer reads review.by. null is a draft: it parses, so that it can be shown and checked, and decides nothing.
func readReviewer(d *Document, value []byte, at string) (err error) {
	if strictjson.Kind(value) == 'n' {
		return nil
	}
	d.Reviewer, err = text(value, at)
	return err
}

func readNotAfter(d *Document, value []byte, at string) (err error) {
	d.NotAfter, err = instant(value, at)
	return err
}

func readMaxArgumentBytes(d *Document, value []byte, at string) error {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 1 || n > maxArguments {
		return invalid(at, "must be a whole number of bytes from 1 to 1073741824")
	}
	d.MaxArgumentBytes = n
	return nil
}

func readTools(d *Document, value []byte, at string) error {
	if strictjson.Kind(value) != '{' {
		return invalid(at, "must be an object")
	}
	for name, v := range strictjson.Members(value) {
		pointer := at + strictjson.Pointer(name)
		if name == "" || len(name) > maxToolName {
			return invalid(pointer, "is no name that a tool can have")
		}
		grant := Grant{Tool: name}
		if err := readObject(&grant, v, pointer, grantMembers); err != nil {
			return err
		}
		d.Tools = append(d.Tools, grant)
	}
	return nil
}

func readAllow(g *Grant, value []byte, at string) error {
	allow, err := texts(value, at)
	if err != nil {
		return err
	}
	for i, action := range allow {
		if action != Publish && action != Invoke {
			return invalid(at+"/"+strconv.Itoa(i), `must be "publish" or "invoke"`)
		}
	}
	g.Allow = allow
	return nil
}
