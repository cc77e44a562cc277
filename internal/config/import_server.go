package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcpc/internal/strictjson"
)

// entry is a server of another program while it is read.
type entry struct {
	*newServer
	at      string // pointer to it
	command []string
	args    []string
	kept    []int // of command and args together, the indexes of what is in the new command
	url     string
	urlName string // the member that has it
}

// original turns a pointer into the new server into one into the entry that it was made of.
func (e *entry) original(pointer string) string {
	index, isWord := strings.CutPrefix(pointer, "/stdio/command/")
	n, err := strconv.Atoi(index)
	switch {
	case isWord && err == nil && n < len(e.kept) && e.kept[n] > 0:
		return "/args/" + strconv.Itoa(e.kept[n]-1)
	case isWord:
		return "/command"
	case pointer == "/http/url":
		return "/" + e.urlName
	}
	return strings.TrimPrefix(strings.TrimPrefix(pointer, "/stdio"), "/http")
}

// server reads one entry. Where it returns no server the reason says why.
func (im *importer) server(object []byte, at string) (e *entry, reason string) {
	e = &entry{newServer: &newServer{}, at: at}
	if strictjson.Kind(object) != '{' {
		return nil, "not an object"
	}
	for name, value := range strictjson.Members(object) {
		if reason := im.member(e, name, value); reason != "" {
			return nil, reason
		}
	}
	switch {
	case e.command != nil && e.url == "":
		im.stdio(e)
	case e.command == nil && e.url != "":
		httpOf(e.newServer).URL = e.url
	default:
		return nil, "neither a command nor a URL, or both"
	}
	return e, ""
}

// member reads one member of an entry; a reason ends the entry.
func (im *importer) member(e *entry, name string, value []byte) (reason string) {
	pointer := e.at + strictjson.Pointer(name)
	text, isText := strictjson.Text(value)
	switch name {
	case "command", "url", "httpUrl", "serverUrl", "cwd":
		if !isText {
			return name + " is not a string"
		}
	}
	switch name {
	case "type", "transport":
		return otherTransport(text)
	case "command":
		e.command = []string{text}
	case "args":
		var ok bool
		if e.args, ok = texts(value); !ok {
			return "args is not an array of strings"
		}
	case "url", "httpUrl", "serverUrl":
		e.url, e.urlName = text, name
	case "cwd":
		stdioOf(e.newServer).Cwd = text
	case "env":
		im.env(value, pointer, e.newServer)
	case "env_vars":
		im.envNames(value, pointer, e.newServer)
	case "headers", "http_headers":
		im.headers(value, pointer, e.newServer)
	case "env_http_headers":
		im.headerNames(value, pointer, e.newServer)
	case "bearer_token_env_var":
		im.drop(pointer, tokenAlone)
	case "oauth":
		im.oauth(value, pointer, e.newServer)
	case "scopes":
		if scopes, ok := texts(value); ok {
			oauthOf(e.newServer).Scopes = scopes
		}
	default:
		im.drop(pointer, noCounterpart)
	}
	return ""
}

const tokenAlone = "the variable holds a token without the word Bearer before it; " +
	"name a source that gives the whole header"

// stdio puts command and arguments together, without those that hold a secret.
func (im *importer) stdio(e *entry) {
	s := stdioOf(e.newServer)
	for i, arg := range append(e.command, e.args...) {
		e.kept, s.Command = append(e.kept, i), append(s.Command, arg)
	}
	for _, i := range secretArguments(s.Command) {
		im.drop(e.at+"/args/"+strconv.Itoa(i-1), "the argument; it looks like a secret, or is the flag of one")
		j := slices.Index(e.kept, i)
		e.kept, s.Command = slices.Delete(e.kept, j, j+1), slices.Delete(s.Command, j, j+1)
	}
	// Other programs hand on their whole environment; without these two hardly any server starts.
	s.Env = slices.Compact(slices.Sorted(slices.Values(append(s.Env, "PATH", "HOME"))))
}

func stdioOf(s *newServer) *newStdio {
	if s.Stdio == nil {
		s.Stdio = &newStdio{}
	}
	return s.Stdio
}

func httpOf(s *newServer) *newHTTP {
	if s.HTTP == nil {
		s.HTTP = &newHTTP{}
	}
	return s.HTTP
}

func oauthOf(s *newServer) *newOAuth {
	if s.OAuth == nil {
		s.OAuth = &newOAuth{}
	}
	return s.OAuth
}

func otherTransport(kind string) string {
	switch strings.ToLower(kind) {
	case "stdio", "local", "http", "remote", "streamable-http", "streamablehttp", "streamable_http":
		return ""
	case "sse":
		return "the deprecated HTTP+SSE transport is not supported"
	}
	return "a transport that is not known here"
}

func texts(array []byte) (all []string, ok bool) {
	if strictjson.Kind(array) != '[' {
		return nil, false
	}
	for _, value := range strictjson.Elements(array) {
		s, ok := strictjson.Text(value)
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}

// env keeps the names. The values stay behind, be they secret or not: the child gets what mcpc's environment has. Where
// the value is the variable of that very name, nothing is lost.
func (im *importer) env(object []byte, at string, s *newServer) {
	if strictjson.Kind(object) != '{' {
		im.drop(at, "not an object of variables")
	}
	for name, value := range strictjson.Members(object) {
		pointer := at + strictjson.Pointer(name)
		if !envName.MatchString(name) {
			im.drop(pointer, "not the name of an environment variable")
			continue
		}
		stdioOf(s).Env = append(stdioOf(s).Env, name)
		text, _ := strictjson.Text(value)
		switch from := variableOf(text); from {
		case name:
		case "":
			im.drop(pointer, "the value; the name is kept, and "+name+" must be set where mcpc runs")
		default:
			im.drop(pointer, fmt.Sprintf(
				"the value, which is that of %s; the name is kept, and %s must be set where mcpc runs", from, name))
		}
	}
}

func (im *importer) envNames(array []byte, at string, s *newServer) {
	if strictjson.Kind(array) != '[' {
		im.drop(at, "not an array of names")
	}
	for i, value := range strictjson.Elements(array) {
		name, _ := strictjson.Text(value)
		if !envName.MatchString(name) {
			im.drop(at+"/"+strconv.Itoa(i), "not the name of an environment variable")
			continue
		}
		stdioOf(s).Env = append(stdioOf(s).Env, name)
	}
}

// variable is a value that is one variable and nothing else, in the spellings of these programs.
var variable = lazy(`^\$(?:\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))$`)

// variableOf returns the name of the variable that a value is, or "".
func variableOf(text string) string {
	match := variable.FindStringSubmatch(text)
	if match == nil {
		return ""
	}
	return cmp.Or(match[1], match[2])
}

func (im *importer) headers(object []byte, at string, s *newServer) {
	if strictjson.Kind(object) != '{' {
		im.drop(at, "not an object of headers")
	}
	for name, value := range strictjson.Members(object) {
		text, _ := strictjson.Text(value)
		im.header(at+strictjson.Pointer(name), s, name, variableOf(text),
			"the value is not one variable; name a source that gives the whole of it")
	}
}

func (im *importer) headerNames(object []byte, at string, s *newServer) {
	for name, value := range strictjson.Members(object) {
		from, _ := strictjson.Text(value)
		if !envName.MatchString(from) {
			from = ""
		}
		im.header(at+strictjson.Pointer(name), s, name, from, "not the name of an environment variable")
	}
}

// header keeps a header whose whole value is one variable.
func (im *importer) header(pointer string, s *newServer, name, from, otherwise string) {
	switch reason := badHeader(name); {
	case reason != "":
		im.drop(pointer, reason)
	case from == "":
		im.drop(pointer, otherwise)
	default:
		if httpOf(s).Headers == nil {
			s.HTTP.Headers = map[string]map[string]string{}
		}
		s.HTTP.Headers[name] = map[string]string{"env": from}
	}
}

func (im *importer) oauth(object []byte, at string, s *newServer) {
	for name, value := range strictjson.Members(object) {
		scopes, isList := texts(value)
		port, err := strconv.ParseUint(string(value), 10, 16)
		switch {
		case name == "scopes" && isList:
			oauthOf(s).Scopes = scopes
		case name == "callbackPort" && err == nil:
			oauthOf(s).Callback = "127.0.0.1:" + strconv.FormatUint(port, 10)
		case name == "clientId":
			im.drop(at+"/clientId", "a client is configured with its issuer, which the file does not say")
		default:
			im.drop(at+strictjson.Pointer(name), noCounterpart)
		}
	}
}
