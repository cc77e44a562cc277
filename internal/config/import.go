package config

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// Imported is what Import makes of the configuration of another program.
type Imported struct {
	Kind    string    // whose it is
	Config  []byte    // a servers file that Parse accepts
	Dropped []Dropped // what it does not carry over, in the order of the file
}

// Dropped is one part of the other file that is not in the new one.
type Dropped struct {
	Pointer string // JSON pointer into the other file
	Reason  string // in words of ours, never with the value
}

// Import reads the JSON configurations of Claude Desktop, Claude Code, Cursor, VS Code and the Gemini CLI, comments and
// trailing commas included. It keeps commands, URLs and the names of variables, and never a value that could be a
// secret. A server that would be another one without a part that cannot be kept is dropped whole. Errors are
// config.not_importable, limit.config and what Parse says of the text.
func Import(data []byte, path string) (*Imported, error) {
	if len(data) > MaxBytes {
		return nil, refusal.New(refusal.LimitConfig, refusal.Num("limit", int64(MaxBytes)))
	}
	plain, _, _ := relax(data)
	if err := strictjson.ValidateObject(plain, strictjson.MaxDepth); err != nil {
		return nil, syntax(data, path, err)
	}
	kind, _ := foreignObject(plain)
	im := &importer{result: &Imported{Kind: kind}, servers: map[string]*newServer{}}
	for name, value := range strictjson.Members(plain) {
		switch {
		case kind != "" && (name == "mcpServers" || name == "servers"):
			im.entries(value, strictjson.Pointer(name))
		default:
			im.drop(strictjson.Pointer(name), "has no counterpart")
		}
	}
	if kind == "" || !im.any {
		return nil, refusal.New(refusal.ConfigImport, refusal.Own("path", path))
	}
	text, err := json.Marshal(map[string]any{"servers": im.servers}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	im.result.Config = append(text, '\n')
	return im.result, nil
}

type importer struct {
	result  *Imported
	servers map[string]*newServer
	any     bool // there was a list of servers, be it empty
}

// newServer is a server in our own form.
type newServer struct {
	Stdio *newStdio `json:"stdio,omitempty"`
	HTTP  *newHTTP  `json:"http,omitempty"`
	OAuth *newOAuth `json:"oauth,omitempty"`
}

type newStdio struct {
	Command []string `json:"command"`
	Env     []string `json:"env,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
}

type newHTTP struct {
	URL     string                       `json:"url"`
	Headers map[string]map[string]string `json:"headers,omitempty"`
}

type newOAuth struct {
	Scopes   []string `json:"scopes,omitempty"`
	Callback string   `json:"callback,omitempty"`
}

func (im *importer) drop(pointer, reason string) {
	im.result.Dropped = append(im.result.Dropped, Dropped{pointer, reason})
}

// entries takes over each server that our own strict reader accepts.
func (im *importer) entries(servers []byte, at string) {
	im.any = im.any || strictjson.Kind(servers) == '{'
	for name, value := range strictjson.Members(servers) {
		pointer := at + strictjson.Pointer(name)
		s, reason := im.server(value, pointer)
		if s != nil {
			reason = acceptable(name, s)
		}
		if im.servers[name] != nil {
			reason = "another of that name came before"
		}
		if reason != "" {
			im.drop(pointer, "the whole server: "+reason)
			continue
		}
		im.servers[name] = s
	}
}

// acceptable says why our own reader would refuse the server, by the name of that refusal.
func acceptable(name string, s *newServer) string {
	text, err := json.Marshal(map[string]any{"servers": map[string]*newServer{name: s}})
	if err != nil {
		return "not text"
	}
	if _, err = Parse(text, ""); err == nil {
		return ""
	}
	r := refusal.From(err)
	pointer, _ := r.Detail("pointer").(string)
	return r.Name() + " at " + cmp.Or(strings.TrimPrefix(pointer, "/servers"+strictjson.Pointer(name)), "the name")
}

// server reads one entry. Where it returns no server the reason says why.
func (im *importer) server(entry []byte, at string) (s *newServer, reason string) {
	s = &newServer{}
	var command, args []string
	url := ""
	for name, value := range strictjson.Members(entry) {
		pointer := at + strictjson.Pointer(name)
		text, _ := strictjson.Text(value)
		switch name {
		case "type", "transport":
			if reason := otherTransport(text); reason != "" {
				return nil, reason
			}
		case "command":
			command = []string{text}
		case "args":
			var ok bool
			if args, ok = texts(value); !ok {
				return nil, "args is not an array of strings"
			}
		case "url", "httpUrl", "serverUrl":
			url = text
		case "env":
			im.env(value, pointer, s)
		case "cwd":
			stdioOf(s).Cwd = text
		case "headers":
			im.headers(value, pointer, s)
		case "oauth":
			im.oauth(value, pointer, s)
		default:
			im.drop(pointer, "has no counterpart")
		}
	}
	switch {
	case command != nil && url == "":
		stdioOf(s).Command = append(command, args...)
		// Other programs hand on their whole environment; without these two hardly any server starts.
		s.Stdio.Env = slices.Compact(slices.Sorted(slices.Values(append(s.Stdio.Env, "PATH", "HOME"))))
	case command == nil && url != "":
		httpOf(s).URL = url
	default:
		return nil, "neither a command nor a URL, or both"
	}
	return s, ""
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

func otherTransport(kind string) string {
	switch strings.ToLower(kind) {
	case "stdio", "http", "streamable-http", "streamablehttp", "streamable_http":
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

// env keeps the names. The values stay behind, be they secret or not: the child gets what mcpc's environment has.
func (im *importer) env(object []byte, at string, s *newServer) {
	for name := range strictjson.Members(object) {
		if !envName.MatchString(name) {
			im.drop(at+strictjson.Pointer(name), "not the name of an environment variable")
			continue
		}
		stdioOf(s).Env = append(stdioOf(s).Env, name)
		im.drop(at+strictjson.Pointer(name), "the value; the name is kept, and "+name+" must be set where mcpc runs")
	}
}

// variable is a value that is one variable and nothing else, in the spellings of these programs.
var variable = regexp.MustCompile(`^\$(?:\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))$`)

func (im *importer) headers(object []byte, at string, s *newServer) {
	for name, value := range strictjson.Members(object) {
		text, _ := strictjson.Text(value)
		match := variable.FindStringSubmatch(text)
		if match == nil {
			im.drop(at+strictjson.Pointer(name), "the value is not one variable; name a source that gives the whole of it")
			continue
		}
		if httpOf(s).Headers == nil {
			s.HTTP.Headers = map[string]map[string]string{}
		}
		s.HTTP.Headers[name] = map[string]string{"env": cmp.Or(match[1], match[2])}
	}
}

func (im *importer) oauth(object []byte, at string, s *newServer) {
	o := &newOAuth{}
	for name, value := range strictjson.Members(object) {
		scopes, isList := texts(value)
		port, err := strconv.ParseUint(string(value), 10, 16)
		switch {
		case name == "scopes" && isList:
			o.Scopes = scopes
		case name == "callbackPort" && err == nil:
			o.Callback = "127.0.0.1:" + strconv.FormatUint(port, 10)
		case name == "clientId":
			im.drop(at+"/clientId", "a client is configured with its issuer, which the file does not say")
		default:
			im.drop(at+strictjson.Pointer(name), "has no counterpart")
		}
	}
	if o.Scopes != nil || o.Callback != "" {
		s.OAuth = o
	}
}
