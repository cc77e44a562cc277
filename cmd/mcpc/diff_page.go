package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

// diffPage prints a comparison for a person who has to decide. All text of a server is escaped here, whatever stdout
// is: a review that is mailed or pasted must show what a review on the terminal shows.
type diffPage struct {
	*page
	paint  paint
	grants []string
}

func (p *diffPage) sides(old, now side) {
	p.line(p.paint.red("---") + " " + sideText(old))
	p.line(p.paint.green("+++") + " " + sideText(now))
}

func sideText(s side) string {
	id := s.snap.ID.Short()
	if s.live {
		id += " (live)"
	}
	at := s.snap.Recorded.At.Local().Format("2006-01-02 15:04")
	return pad(id, 21) + at + "  " + terminal.Escape(serverText(s.snap.Server))
}

func (p *diffPage) report(r *snapshot.Report) {
	groups := grouped(r.Changes)
	width := 0
	for _, g := range groups {
		width = max(width, min(columns(g.name), 32))
	}
	for _, g := range groups {
		p.group(g, width)
	}
	if len(r.Informational) > 0 {
		p.line("in no digest")
		for i := range r.Informational {
			p.place(&r.Informational[i], string(r.Informational[i].Class)+"  ")
		}
	}
	p.line(summary(r, p.grants))
}

// subject is what differs in one tool, or in what belongs to no tool.
type subject struct {
	verb, tool, name string
	records          []*snapshot.Record
}

// grouped gathers records under one heading each. A tool is told from the server by brackets that no heading of a tool
// has.
func grouped(records []snapshot.Record) (groups []*subject) {
	for i := range records {
		r := &records[i]
		g := &subject{verb: verb(r), tool: r.Tool, name: toolHeading(r.Tool)}
		if r.Tool == "" {
			g.name = "(server)"
		}
		if r.Class == snapshot.ClassRejected && r.Tool == "" {
			g.name = "(no name)"
		}
		if n := len(groups); n > 0 && groups[n-1].verb == g.verb && groups[n-1].name == g.name && g.verb == "changed" {
			g = groups[n-1]
		} else {
			groups = append(groups, g)
		}
		g.records = append(g.records, r)
	}
	return groups
}

// toolHeading is a tool's name in a heading, where it must not pass for more than a name.
func toolHeading(tool string) string {
	name := terminal.Escape(tool)
	if strings.ContainsAny(name, ` "(`) {
		return `"` + name + `"`
	}
	return name
}

func verb(r *snapshot.Record) string {
	switch {
	case r.Class == snapshot.ClassToolAdded:
		return "added"
	case r.Class == snapshot.ClassToolRemoved:
		return "removed"
	case r.Class == snapshot.ClassRejected:
		return "rejected"
	}
	return "changed"
}

func (p *diffPage) group(g *subject, width int) {
	heading := pad(g.verb, 8) + " " + p.paint.bold(pad(g.name, width))
	seen := columns(pad(g.verb, 8)) + 1 + columns(pad(g.name, width))
	if about := about(g); about != "" {
		heading += "   " + about
		seen += 3 + columns(about)
	}
	if g.tool != "" && slices.Contains(p.grants, g.tool) {
		heading += strings.Repeat(" ", max(3, 73-seen)) + p.paint.yellow("GRANTED")
	}
	p.line(heading)
	p.hidden("hidden in the name", snapshot.HiddenRunes(strictjson.Quote(g.tool)))
	for _, r := range g.records {
		switch r.Class {
		case snapshot.ClassToolAdded, snapshot.ClassToolRemoved:
			p.members(r)
		default:
			p.place(r, "")
		}
	}
}

// about is the second half of a heading: the classes of what differs, or why, or the tool that this one looks like.
func about(g *subject) string {
	if len(g.records[0].SameBody) > 0 {
		names := make([]string, len(g.records[0].SameBody))
		for i, name := range g.records[0].SameBody {
			names[i] = toolHeading(name)
		}
		return "same body as " + strings.Join(names, ", ")
	}
	if g.verb == "rejected" {
		return g.records[0].Reason
	}
	if g.verb != "changed" {
		return ""
	}
	var classes []string
	for _, r := range g.records {
		if !slices.Contains(classes, string(r.Class)) {
			classes = append(classes, string(r.Class))
		}
	}
	return strings.Join(classes, ", ")
}

// members shows a descriptor that is on one side only, member by member.
func (p *diffPage) members(r *snapshot.Record) {
	for name, value := range strictjson.Members(r.Old) {
		p.member(r, name, value, nil)
	}
	for name, value := range strictjson.Members(r.New) {
		p.member(r, name, nil, value)
	}
}

func (p *diffPage) member(r *snapshot.Record, name string, old, now []byte) {
	if name == "name" {
		return
	}
	one := snapshot.Record{Pointer: strictjson.Pointer(name), Old: old, New: now}
	one.OldHidden, one.NewHidden = hiddenOf(name, old), hiddenOf(name, now)
	switch name {
	case "title", "description":
		one.Class = snapshot.ClassText
	case "annotations":
		one.Class = snapshot.ClassAnnotations
	}
	p.place(&one, "")
}

// hiddenOf counts in a member's name and value.
func hiddenOf(name string, value []byte) []snapshot.HiddenRune {
	if value == nil {
		return nil
	}
	member := append(append(append([]byte("{"), strictjson.Quote(name)...), ':'), value...)
	return snapshot.HiddenRunes(append(member, '}'))
}

// place shows one record: where, what was there, what is there now, and the code points in it that do not show.
func (p *diffPage) place(r *snapshot.Record, lead string) {
	where := "  " + lead + terminal.Escape(r.Pointer)
	if r.Class == snapshot.ClassAnnotations {
		where += "   (not interpreted)"
	}
	p.line(where)
	p.value("- ", p.paint.red, r.Class, r.Old)
	p.hidden("hidden before", r.OldHidden)
	p.value("+ ", p.paint.green, r.Class, r.New)
	p.hidden("hidden", r.NewHidden)
}

func (p *diffPage) value(sign string, colour func(string) string, class snapshot.Class, value []byte) {
	if value == nil {
		return
	}
	for _, line := range valueLines(class, value) {
		p.line("    " + colour(sign+line))
	}
}

func (p *diffPage) hidden(what string, points []snapshot.HiddenRune) {
	if len(points) == 0 {
		return
	}
	words := make([]string, len(points))
	for i, h := range points {
		words[i] = fmt.Sprintf("%s ×%d", h, h.Count)
	}
	p.line("      " + p.paint.yellow(what+": "+strings.Join(words, " ")))
}

// widest is how long a JSON value may be before it is laid out over several lines.
const widest = 72

// valueLines is a value whole: prose as prose, and anything else as JSON. Each line gets its sign from the caller, so
// that no text can pass for a line of ours.
func valueLines(class snapshot.Class, value []byte) []string {
	if text, ok := strictjson.Text(value); ok && (class == snapshot.ClassText || class == snapshot.ClassInstructions) {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = terminal.Escape(lines[i])
		}
		return lines
	}
	v := jsontext.Value(bytes.Clone(value))
	if v.Compact(jsontext.PreserveRawStrings(true)) == nil && len(v) > widest {
		_ = v.Indent(jsontext.PreserveRawStrings(true), jsontext.WithIndent("  "))
	}
	return strings.Split(string(terminal.EscapeJSON(v)), "\n")
}

// summary is a report in one line.
func summary(r *snapshot.Report, grants []string) string {
	if r.Same() {
		return "same surface " + r.New.Short()
	}
	changed, added, removed, rejected, server := tally(r)
	text := fmt.Sprintf("%d changed, %d added, %d removed", changed, added, removed)
	if rejected > 0 {
		text += fmt.Sprintf(", %d rejected", rejected)
	}
	if server != "" {
		text += "; the server's " + server
	}
	if n := len(affected(r, grants)); n > 0 {
		text += "; " + plural(n, "granted tool") + " changed"
	}
	return text
}

// tally counts tools, and names the classes of what belongs to none.
func tally(r *snapshot.Report) (changed, added, removed, rejected int, server string) {
	var classes []string
	for _, g := range grouped(r.Changes) {
		switch {
		case g.verb == "added":
			added++
		case g.verb == "removed":
			removed++
		case g.verb == "rejected":
			rejected++
		case g.tool == "":
			classes = append(classes, about(g))
		default:
			changed++
		}
	}
	return changed, added, removed, rejected, strings.Join(classes, ", ")
}
