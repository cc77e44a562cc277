package config

import (
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
	Servers int       // how many it holds
	Dropped []Dropped // what it does not carry over, in the order of the file
}

// Dropped is one part of the other file that is not in the new one.
type Dropped struct {
	Pointer string // JSON pointer into the other file; TOML tables count as objects
	Reason  string // in words of ours, never with the value
}

// Import reads the configurations of Claude Desktop, Claude Code, Cursor, VS Code, the Gemini CLI and Codex. It is the
// one lenient reader: comments, trailing commas, a byte order mark, UTF-16 and members that stand there twice are taken
// as those programs take them. What it returns is strict.
//
// It keeps commands, URLs and the names of variables, and never a value that could be a secret. An argument that holds
// one is left out, and its flag with it. A server that would be another one without a part that cannot be kept is
// dropped whole. Errors are config.not_importable, limit.config, limit.depth and config.syntax.
func Import(data []byte, path string) (*Imported, error) {
	if len(data) > MaxBytes {
		return nil, refusal.New(refusal.LimitConfig, refusal.Num("limit", int64(MaxBytes)))
	}
	im := &importer{result: &Imported{}, servers: map[string]*newServer{}}
	plain, err := im.read(data, path)
	if err != nil {
		return nil, err
	}
	im.top(plain)
	if im.result.Kind == "" || !im.any {
		return nil, refusal.New(refusal.ConfigImport, refusal.Own("path", path))
	}
	im.result.Servers = len(im.servers)
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

// noCounterpart is the reason for a member that says something which our configuration cannot say.
const noCounterpart = "has no counterpart"

// top reads the members of the file itself.
func (im *importer) top(object []byte) {
	im.result.Kind, _ = foreignObject(object)
	for name, value := range strictjson.Members(object) {
		pointer := strictjson.Pointer(name)
		switch {
		case im.result.Kind == "":
		case name == "mcpServers" || name == "servers" || name == codexServers:
			im.entries(value, pointer)
		case name == "projects": // of Claude Code: servers of one folder each
			im.projects(value, pointer)
		default:
			im.drop(pointer, noCounterpart)
		}
	}
}

func (im *importer) projects(object []byte, at string) {
	for folder, project := range strictjson.Members(object) {
		for name, value := range strictjson.Members(project) {
			pointer := at + strictjson.Pointer(folder, name)
			if name == "mcpServers" {
				im.entries(value, pointer)
			} else {
				im.drop(pointer, noCounterpart)
			}
		}
	}
}

// entries takes over each server that our own strict reader accepts.
func (im *importer) entries(servers []byte, at string) {
	im.any = im.any || strictjson.Kind(servers) == '{'
	for name, value := range strictjson.Members(servers) {
		pointer := at + strictjson.Pointer(name)
		e, reason := im.server(value, pointer)
		if reason == "" {
			reason = e.acceptable(name)
		}
		if im.servers[name] != nil {
			reason = "another of that name came before"
		}
		if reason != "" {
			im.drop(pointer, "the whole server: "+reason)
			continue
		}
		im.servers[name] = e.newServer
	}
}

// acceptable says why our own reader would refuse the server, in words where the reason is a usual one.
func (e *entry) acceptable(name string) string {
	text, err := json.Marshal(map[string]any{"servers": map[string]*newServer{name: e.newServer}})
	if err != nil {
		return "not text"
	}
	if _, err = Parse(text, ""); err == nil {
		return ""
	}
	r := refusal.From(err)
	pointer, _ := r.Detail("pointer").(string)
	at := e.original(strings.TrimPrefix(pointer, "/servers"+strictjson.Pointer(name)))
	switch {
	case at == "":
		return "its name; " + r.Name()
	case r.Entry() == refusal.ConfigTemplate:
		return "a variable in " + at + ", where none is expanded"
	case r.Entry() == refusal.ConfigSecret:
		return "a secret in " + at
	}
	return r.Name() + " at " + at
}
