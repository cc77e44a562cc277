package main

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/terminal"
)

// page is text for people on stdout. What comes from a server is escaped here when stdout is a terminal, and goes out
// as received otherwise.
type page struct {
	w     *bufio.Writer
	safe  func(string) string // for one line
	lines func(string) string // for text of several lines
}

func (a *app) page() *page {
	p := &page{w: bufio.NewWriterSize(a.stdout, 64<<10), safe: oneLine, lines: asIs}
	if a.outTTY {
		p.safe, p.lines = terminal.Escape, terminal.EscapeLines
	}
	return p
}

func asIs(s string) string { return s }

// oneLine keeps a table a table when it is piped: line breaks would make two rows of one.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\r\n") {
		return terminal.Escape(s)
	}
	return s
}

// line prints one line; text from a server must have come through safe.
func (p *page) line(s string) {
	_, _ = p.w.WriteString(strings.TrimRight(s, " "))
	_ = p.w.WriteByte('\n')
}

func (p *page) linef(format string, args ...any) { p.line(fmt.Sprintf(format, args...)) }

// header prints a name in the first column and a value in the second.
func (p *page) header(name, value string) {
	p.line(pad(p.safe(name), 12) + " " + p.safe(value))
}

func (p *page) tools(tools []snapshot.Tool) {
	width := 0
	for i := range tools {
		width = max(width, columns(p.safe(tools[i].Name)))
	}
	width = min(width, 32)
	for i := range tools {
		p.linef("  %s  %s", pad(p.safe(tools[i].Name), width), p.safe(tools[i].Describe().Title))
	}
}

func (p *page) rejected(rejected []snapshot.Rejected) {
	if len(rejected) == 0 {
		return
	}
	p.line("rejected")
	for _, r := range rejected {
		name := r.Name
		if name == "" {
			name = fmt.Sprintf("(page %d, index %d)", r.Page, r.Index)
		}
		p.linef("  %s  %s", pad(p.safe(name), 32), r.Reason)
	}
}

// rows prints a table; cells must be safe already. The last column is not padded.
func (p *page) rows(rows [][]string) {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(c))
		}
	}
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = pad(c, widths[i])
		}
		p.line(strings.Join(cells, "   "))
	}
}

func (p *page) flush() error {
	if p.w.Flush() != nil {
		return refusal.New(refusal.OutputWrite)
	}
	return nil
}

func columns(s string) int { return utf8.RuneCountInString(s) }

func pad(s string, width int) string {
	if n := width - columns(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// printJSON prints one JSON document: its bytes as they are to a pipe, with visible escapes to a terminal.
func (a *app) printJSON(doc []byte) error {
	if a.outTTY {
		doc = terminal.EscapeJSON(doc)
	}
	if len(doc) == 0 || doc[len(doc)-1] != '\n' {
		doc = append(doc, '\n')
	}
	return a.write(doc)
}

func (a *app) write(b []byte) error {
	if _, err := a.stdout.Write(b); err != nil {
		return refusal.New(refusal.OutputWrite)
	}
	return nil
}

func (a *app) showServerStderr(kept []byte) {
	if len(kept) == 0 {
		return
	}
	fmt.Fprintln(a.stderr, "mcpc: the server wrote to stderr:")
	for line := range strings.Lines(string(kept)) {
		fmt.Fprintf(a.stderr, "  | %s\n", terminal.Escape(strings.TrimRight(line, "\r\n")))
	}
}
