package snapshot

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// IdentityOf returns the identity of a configured server. It refuses what cannot be written down exactly: a URL that
// is none, and an argument or folder that is not UTF-8.
func IdentityOf(s *config.Server) (Identity, error) {
	if s.HTTP != nil {
		u, ok := NormalURL(s.HTTP.URL)
		if !ok {
			return Identity{}, refusal.New(refusal.ConfigURL, refusal.Own("pointer", "/http/url"),
				refusal.Own("reason", "not an http or https URL without user and fragment"))
		}
		return Identity{HTTP: u}, nil
	}
	if s.Stdio == nil || len(s.Stdio.Command) == 0 {
		return Identity{}, unwritable("/stdio/command", "names no command")
	}
	for _, arg := range s.Stdio.Command {
		if !utf8.ValidString(arg) {
			return Identity{}, unwritable("/stdio/command", "is not UTF-8")
		}
	}
	if !utf8.ValidString(s.Stdio.Cwd) {
		return Identity{}, unwritable("/stdio/cwd", "is not UTF-8")
	}
	return Identity{Stdio: slices.Clone(s.Stdio.Command), Cwd: s.Stdio.Cwd}, nil
}

func unwritable(pointer, reason string) error {
	return refusal.New(refusal.ConfigValue, refusal.Own("pointer", pointer), refusal.Own("reason", reason))
}

// NormalURL returns the form of an http or https URL that identifies a server: scheme and host in lower case, default
// port dropped, an empty path as "/" (RFC 3986 section 6.2.3), everything else byte for byte.
func NormalURL(configured string) (normal string, ok bool) {
	u, err := url.Parse(configured)
	if err != nil || u.User != nil || u.Hostname() == "" || strings.Contains(configured, "#") {
		return "", false
	}
	if !utf8.ValidString(configured) || (u.Scheme != "https" && u.Scheme != "http") {
		return "", false
	}
	_, rest, found := strings.Cut(configured, "://")
	if !found {
		return "", false
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, tail := strings.ToLower(rest[:end]), rest[end:]
	if port := u.Port(); port == "" || port == defaultPorts[u.Scheme] {
		host = strings.TrimSuffix(host, ":"+port)
	}
	if !strings.HasPrefix(tail, "/") {
		tail = "/" + tail
	}
	return u.Scheme + "://" + host + tail, true
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// Equal compares two identities.
func (i Identity) Equal(o Identity) bool {
	return i.HTTP == o.HTTP && i.Cwd == o.Cwd && slices.Equal(i.Stdio, o.Stdio)
}

// AppendJSON appends the identity as documents spell it: {"http":URL} or {"stdio":[ARG,…],"cwd":DIR}, the cwd only
// where one is configured.
func (i Identity) AppendJSON(dst []byte) []byte {
	if i.HTTP != "" {
		dst = strictjson.AppendQuote(append(dst, `{"http":`...), i.HTTP)
		return append(dst, '}')
	}
	dst = appendStrings(append(dst, `{"stdio":`...), i.Stdio)
	if i.Cwd != "" {
		dst = strictjson.AppendQuote(append(dst, `,"cwd":`...), i.Cwd)
	}
	return append(dst, '}')
}

// ParseIdentity reads what AppendJSON writes, from a validated JSON value. A URL may be spelled in any way that
// NormalURL takes.
func ParseIdentity(value []byte) (i Identity, ok bool) {
	ok = strictjson.Kind(value) == '{'
	for name, v := range strictjson.Members(value) {
		fine := false
		switch name {
		case "http":
			var text string
			if text, fine = strictjson.Text(v); fine {
				i.HTTP, fine = NormalURL(text)
			}
		case "stdio":
			i.Stdio, fine = texts(v)
		case "cwd":
			i.Cwd, fine = strictjson.Text(v)
			fine = fine && i.Cwd != ""
		}
		ok = ok && fine
	}
	stdio := len(i.Stdio) > 0 && i.HTTP == ""
	http := i.HTTP != "" && i.Stdio == nil && i.Cwd == ""
	return i, ok && (stdio || http)
}

// texts returns a validated array of strings; ok is false for anything else.
func texts(array []byte) (list []string, ok bool) {
	if strictjson.Kind(array) != '[' {
		return nil, false
	}
	list = []string{}
	for _, v := range strictjson.Elements(array) {
		s, isText := strictjson.Text(v)
		if !isText {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendQuote(dst, s)
	}
	return append(dst, ']')
}
