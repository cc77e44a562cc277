package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// Protocol versions that can be pinned. An older one is admitted per server, by accept_protocols.
const (
	modernProtocol = "2026-07-28"
	legacyProtocol = "2025-11-25"
)

func (r *reader) root(c *Config, data []byte) {
	value{r, "", data}.members(map[string]func(value){
		"servers": func(v value) {
			v.each(func(name string, v value) {
				if reason := badName(name); reason != "" {
					v.wrong(reason)
				}
				c.Servers[name] = v.server(name)
			})
		},
		"custody": func(v value) {
			v.members(map[string]func(value){"key": func(v value) { c.Custody.Key = v.source(true) }})
		},
	})
}

// badName says why a server cannot have this name: it must be told from a URL, a file and a flag on the command line.
func badName(name string) string {
	switch {
	case name == "" || len(name) > 128:
		return "a server's name has 1 to 128 bytes"
	case strings.HasPrefix(name, "-"):
		return "a server's name does not begin with -"
	case strings.Contains(name, "/"):
		return "a server's name has no /"
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return "a server's name has only characters that show"
	}
	return ""
}

func (v value) server(name string) *Server {
	s := &Server{Name: name, Limits: DefaultLimits()}
	var protocol value
	v.members(map[string]func(value){
		"stdio":     func(v value) { s.Stdio = v.stdio() },
		"http":      func(v value) { s.HTTP = v.http() },
		"oauth":     func(v value) { s.OAuth = v.oauth() },
		"limits":    func(v value) { v.limits(&s.Limits) },
		"authority": func(v value) { s.Authority = v.file() },
		"protocol":  func(v value) { s.Protocol, protocol = v.text(), v },
		"accept_protocols": func(v value) {
			s.AcceptProtocols = v.elements("an array of protocol versions", value.olderProtocol)
		},
	})
	if v.r.fault == nil {
		v.consistent(s, protocol)
	}
	return s
}

// consistent checks what the members of one server say together.
func (v value) consistent(s *Server, protocol value) {
	switch {
	case s.Stdio == nil && s.HTTP == nil:
		v.wrong("stdio or http is missing")
	case s.Stdio != nil && s.HTTP != nil:
		v.wrong("stdio and http exclude each other")
	case s.OAuth != nil && s.HTTP == nil:
		v.wrong("oauth goes with http only")
	case s.OAuth != nil && hasHeader(s.HTTP.Headers, "Authorization"):
		v.wrong("oauth and an Authorization header exclude each other")
	case s.Protocol != "" && !slices.Contains(append(s.AcceptProtocols, modernProtocol, legacyProtocol), s.Protocol):
		protocol.wrong("must be " + modernProtocol + ", " + legacyProtocol + " or one of accept_protocols")
	}
}

func hasHeader(headers []Header, name string) bool {
	return slices.ContainsFunc(headers, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

// olderProtocol reads a version that came before the oldest that is spoken by itself. Versions are dates, so they sort.
func (v value) olderProtocol() string {
	s := v.text()
	if _, err := time.Parse(time.DateOnly, s); err != nil || s >= legacyProtocol {
		v.wrong("must be a protocol version (YYYY-MM-DD) older than " + legacyProtocol)
	}
	return s
}

func (v value) limits(l *Limits) {
	readers := map[string]func(value){}
	for _, limit := range Table {
		readers[limit.Member] = func(v value) { limit.Set(l, v.number(limit.Max)) }
	}
	v.members(readers)
}

func (v value) stdio() *Stdio {
	s := &Stdio{}
	v.members(map[string]func(value){
		"command": func(v value) { s.Command = v.argv() },
		"env":     func(v value) { s.Env = v.envNames() },
		"cwd": func(v value) {
			if s.Cwd = v.file(); !filepath.IsAbs(s.Cwd) && !strings.HasPrefix(s.Cwd, "/") {
				v.wrong("must be an absolute path")
			}
		},
		"stdout_noise": func(v value) {
			if s.SkipNoise = v.text() == "skip"; !s.SkipNoise {
				v.wrong(`must be "skip"`)
			}
		},
	})
	if s.Command == nil {
		v.wrong("command is missing")
	}
	return s
}

// argv reads a command line. It is never split and never sees a shell, so a lone $ is just that; ${ is refused, since
// whoever writes it expects it to be expanded.
func (v value) argv() []string {
	argv := v.elements("an array of strings, the program first", value.plainText)
	if v.r.fault != nil {
		return nil
	}
	if len(argv) == 0 || argv[0] == "" {
		v.wrong("names no program")
	}
	if i := secretInCommand(argv); i >= 0 {
		value{v.r, v.at + "/" + strconv.Itoa(i), nil}.secret()
	}
	return argv
}

var envName = lazy(`^[A-Za-z_][A-Za-z0-9_().-]*$`)

// envNames reads the names a child inherits. An object of names and values, as other programs have it, holds values.
func (v value) envNames() []string {
	if strictjson.Kind(v.raw) == '{' {
		v.secret()
		return nil
	}
	names := v.elements("an array of names of environment variables", value.envName)
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
		v.wrong("a name stands there twice")
	}
	return names
}

func (v value) envName() string {
	s := v.text()
	if name, _, ok := strings.Cut(s, "="); ok && envName.MatchString(name) {
		v.secret()
	}
	if !envName.MatchString(s) {
		v.wrong("not the name of an environment variable")
	}
	return s
}

func (v value) http() *HTTP {
	h := &HTTP{}
	v.members(map[string]func(value){
		"url":     func(v value) { h.URL = v.url() },
		"headers": func(v value) { h.Headers = v.headers() },
		"ca_file": func(v value) { h.CAFile = v.file() },
	})
	if h.URL == "" {
		v.wrong("url is missing")
	}
	return h
}

var urlTemplate = lazy(`\$[A-Za-z_]|\{(env|input):`)

// url reads an endpoint. %NAME% is not looked for: in a URL it is an escape, or not a URL at all.
func (v value) url() string {
	s := v.plainText()
	if strings.ContainsAny(s, "${") && urlTemplate.MatchString(s) {
		v.template()
	}
	u, reason := EndpointURL(s)
	switch {
	case reason != "":
		v.refuse(refusal.ConfigURL, refusal.Own("reason", reason))
	case secretInQuery(u):
		v.secret()
	}
	return s
}

func (v value) headers() []Header {
	var headers []Header
	v.each(func(name string, v value) {
		switch reason := badHeader(name); {
		case reason != "":
			v.wrong(reason)
		case hasHeader(headers, name):
			v.wrong("the header stands there twice; case makes no difference")
		}
		headers = append(headers, Header{name, v.source(false)})
	})
	return headers
}

var headerToken = lazy("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// Headers that the protocol or the connection owns.
var (
	ownedHeaders = []string{
		"host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "cookie", "cookie2",
		"accept", "last-event-id", "origin", "referer", "range", "date", "via", "forwarded", "http2-settings",
	}
	ownedPrefixes = []string{"content-", "accept-", "mcp-", "proxy-", "sec-", ":"}
)

// badHeader says why a header of that name cannot be configured (RFC 9110 section 5.1 gives the syntax).
func badHeader(name string) string {
	lower := strings.ToLower(name)
	owned := slices.ContainsFunc(ownedPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
	switch {
	case !headerToken.MatchString(name):
		return "not the name of a header"
	case owned || slices.Contains(ownedHeaders, lower):
		return "this header is set by the protocol and cannot be configured"
	}
	return ""
}
