package config

import (
	"bytes"
	"cmp"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// Programs whose configuration is told apart from ours by its shape.
const (
	kindClaude   = "Claude Desktop, Claude Code or Cursor"
	kindGemini   = "Gemini CLI"
	kindVSCode   = "VS Code"
	kindZed      = "Zed"
	kindOpenCode = "opencode"
	kindCodex    = "Codex"
	kindTOML     = "TOML"
	kindGoose    = "Goose"
	kindYAML     = "YAML"
)

// foreign refuses a configuration of another program by the name of that program. It is asked before strictness is, as
// such files often hold comments, and the useful answer is whose they are.
func foreign(data []byte, path string) *refusal.Refusal {
	text := utf8Text(data)
	kind, pointer := foreignText(text), ""
	if plain, _ := relax(text); kind == "" && strictjson.ValidateObject(plain, strictjson.MaxDepth) == nil {
		kind, pointer = foreignObject(plain)
	}
	if kind == "" {
		return nil
	}
	r := refusal.New(refusal.ConfigForeign, refusal.Own("path", path), refusal.Own("kind", kind))
	if pointer != "" {
		r = r.With(refusal.Own("pointer", pointer))
	}
	switch kind {
	case kindClaude, kindGemini, kindVSCode, kindCodex:
		return r.Hint("mcpc config import " + refusal.Word(cmp.Or(path, "FILE")))
	}
	return r.Hint("this kind cannot be imported; write its servers into the configuration by hand")
}

var (
	tomlLine = lazy(`^(\[\[?[A-Za-z0-9_."' -]+\]\]?|[A-Za-z0-9_."-]+\s*=\s*\S.*)\s*(#.*)?$`)
	yamlLine = lazy(`^(---.*|["']?[A-Za-z_][A-Za-z0-9_.-]*["']?:(\s.*)?)$`)
)

// foreignText judges the first line that is neither blank nor a comment of TOML or YAML.
func foreignText(data []byte) string {
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n\t ")
		switch {
		case len(line) == 0 || line[0] == '#':
			continue
		case line[0] == '{':
			return "" // neither pattern fits, and compiling them takes longer than reading our own file
		case tomlLine.Match(line):
			return either(bytes.Contains(data, []byte("mcp_servers")), kindCodex, kindTOML)
		case yamlLine.Match(line):
			return either(bytes.HasPrefix(line, []byte("extensions:")), kindGoose, kindYAML)
		}
		return ""
	}
	return ""
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// foreignMembers are members at the top of other programs' files, which ours never has.
var foreignMembers = map[string]string{
	"mcpServers": kindClaude, codexServers: kindCodex, "inputs": kindVSCode, "mcp": kindOpenCode, "context_servers": kindZed,
}

func foreignObject(object []byte) (kind, pointer string) {
	for name, value := range strictjson.Members(object) {
		if kind, ok := foreignMembers[name]; ok {
			if name == "mcpServers" && anyEntry(value, "httpUrl", "trust", "includeTools") != "" {
				kind = kindGemini
			}
			return kind, strictjson.Pointer(name)
		}
	}
	servers, _ := strictjson.Member(object, "servers")
	if at := anyEntry(servers, "type", "command", "url", "args"); at != "" {
		return kindVSCode, "/servers" + at
	}
	return "", ""
}

// anyEntry returns the pointer of the first entry's member that has one of the names.
func anyEntry(entries []byte, names ...string) string {
	for entry, value := range strictjson.Members(entries) {
		for _, name := range names {
			if _, ok := strictjson.Member(value, name); ok {
				return strictjson.Pointer(entry, name)
			}
		}
	}
	return ""
}
