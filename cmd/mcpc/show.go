package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/spelling"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

func (a *app) showSnapshot(s *snapshot.Snapshot) error {
	if a.json {
		return a.printJSON(s.Encode())
	}
	p := a.page()
	p.header("snapshot", string(s.ID))
	p.header("server", serverText(s.Server))
	p.header("protocol", s.Protocol)
	p.header("taken", s.Recorded.At.Local().Format("2006-01-02 15:04")+" by "+s.Recorded.By)
	if s.Recorded.Executable != "" {
		p.header("ran", s.Recorded.Executable+" "+s.Recorded.ExecutableDigest.Short())
		p.header("env", strings.Join(s.Recorded.Env, " "))
	}
	if s.Auth != nil {
		p.header("signed in", s.Auth.Issuer+" ("+strings.Join(s.Auth.Scopes, " ")+")")
	}
	p.header("surface", counts(s))
	p.line("")
	p.tools(s.Tools)
	p.rejected(s.Rejected)
	for _, n := range s.Notes() {
		a.note("note: %s", terminal.Escape(n))
	}
	return p.flush()
}

func (a *app) showTool(s *snapshot.Snapshot, from, name string) error {
	t, ok := s.Tool(name)
	if !ok {
		return noTool(s, name)
	}
	if a.json {
		return a.printJSON(toolDocument(t))
	}
	p := a.page()
	p.tool(t)
	if !a.isServer(from) {
		return p.flush()
	}
	p.line("")
	p.linef("try   mcpc call %s", strings.Join(append([]string{quoteWord(from), p.safe(quoteWord(name))}, example(t, p)...), " "))
	return p.flush()
}

// isServer reports whether a word that named a snapshot is a server too, and not a file or an id.
func (a *app) isServer(word string) bool {
	return strings.Contains(word, "://") || slices.Contains(a.serverNames(), word)
}

// noTool says why a snapshot has no such tool.
func noTool(s *snapshot.Snapshot, name string) error {
	if reason, ok := s.RejectedAs(name); ok {
		return refusal.New(refusal.AuthorityToolRejected, refusal.Own("tool", name), refusal.Own("reason", reason))
	}
	r := refusal.New(refusal.SnapshotNoTool, refusal.Own("tool", name), refusal.Hash("snapshot", s.ID))
	if near := spelling.Nearest(name, toolNames(s)); near != "" {
		return r.With(refusal.Own("near", near))
	}
	return r
}

// tool prints a descriptor to be read. The layout keeps server text apart from ours: it is indented or in quotes.
func (p *page) tool(t *snapshot.Tool) {
	d := t.Describe()
	head := []string{p.safe(t.Name), p.safe(d.Title), "digest " + t.Digest.Short()}
	p.line(strings.Join(slices.DeleteFunc(head, func(s string) bool { return s == "" }), "   "))
	if d.Description != "" {
		p.quote(p.lines(d.Description))
	}
	if len(d.Arguments) > 0 {
		p.line("")
		rows := make([][]string, len(d.Arguments))
		for i, arg := range d.Arguments {
			rows[i] = []string{"  " + p.safe(arg.Name), p.safe(kind(arg)), need(arg), p.safe(arg.Description)}
		}
		p.rows(rows)
	}
	p.line("")
	if d.Annotations == nil {
		p.line("annotations   none")
	} else {
		p.hang("annotations (kept, not interpreted)   ", p.safe(string(d.Annotations)))
	}
}

// quote prints text of a server between quotation marks.
func (p *page) quote(text string) {
	text = `"` + text + `"`
	for line := range strings.SplitSeq(text, "\n") {
		p.hang("", line)
	}
}

func kind(arg snapshot.Argument) string {
	if len(arg.Types) == 0 {
		return "any"
	}
	return strings.Join(arg.Types, "|")
}

func need(arg snapshot.Argument) string {
	if arg.Required {
		return "required"
	}
	return "optional"
}

// example is the arguments of a command line to copy: the required ones, with a value of their type.
func example(t *snapshot.Tool, p *page) []string {
	var words []string
	for i, arg := range t.Describe().Arguments {
		if !arg.Required {
			continue
		}
		name := p.safe(arg.Name)
		switch kind(arg) {
		case "string":
			words = append(words, quoteWord(name+"=TEXT"))
		case "number", "integer":
			words = append(words, quoteWord(fmt.Sprintf("%s=%d", name, i+1)))
		case "boolean":
			words = append(words, quoteWord(name+"=true"))
		case "array":
			words = append(words, quoteWord(name+":=[]"))
		default:
			words = append(words, quoteWord(name+":={}"))
		}
	}
	return words
}

// toolDocument is one tool's entry as the snapshot holds it.
func toolDocument(t *snapshot.Tool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"name":%s,"raw":%q,"digest":%q,"bytes":%d,"descriptor":`, strictjson.Quote(t.Name), t.Raw, t.Digest, len(t.Descriptor))
	b.Write(t.Descriptor)
	b.WriteByte('}')
	return b.Bytes()
}

// quoteWord quotes a word for a POSIX shell when it needs that.
func quoteWord(s string) string { return refusal.Word(s) }
