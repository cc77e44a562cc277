package main

import (
	"bufio"
	"bytes"
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
	width int                 // of the terminal; 0 for a pipe or a file, where no line is broken
}

func (a *app) page() *page {
	p := &page{w: bufio.NewWriterSize(a.stdout, 64<<10), safe: oneLine, lines: asIs}
	if a.outTTY {
		p.safe, p.lines, p.width = terminal.Escape, terminal.EscapeLines, max(terminal.Width(a.stdout), 40)
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
	p.hang(pad(p.safe(name), 12)+" ", p.safe(value))
}

func (p *page) tools(tools []snapshot.Tool) {
	width := 0
	for i := range tools {
		width = max(width, columns(p.safe(tools[i].Name)))
	}
	width = min(width, 32)
	for i := range tools {
		p.hang("  "+pad(p.safe(tools[i].Name), width)+"  ", p.safe(tools[i].Describe().Title))
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
		last := len(r) - 1
		head := ""
		for i, c := range r[:last] {
			head += pad(c, widths[i]) + "   "
		}
		p.hang(head, r[last])
	}
}

// hang prints a line whose end is text that may be long: on a terminal it goes on below itself, or below the whole line
// where there is little room beside it.
func (p *page) hang(head, text string) {
	const room, indent = 30, 4
	left := p.width - columns(head)
	switch {
	case p.width == 0 || columns(text) <= left:
		p.line(head + text)
		return
	case left < room:
		p.line(head)
		head, left = strings.Repeat(" ", indent), p.width-indent
	}
	for _, line := range wrapped(text, left) {
		p.line(head + line)
		head = strings.Repeat(" ", columns(head))
	}
}

// wrapped breaks a line at spaces, so that each part has at most width columns; a longer word stays whole.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.SplitAfter(text, " ") {
		if line != "" && columns(line)+columns(strings.TrimRight(word, " ")) > width {
			lines, line = append(lines, line), ""
		}
		line += word
	}
	return append(lines, line)
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

// streamJSON prints a document that may be large as it is written. For a terminal it is collected first, since what is
// escaped depends on what stands before it.
func (a *app) streamJSON(document func(*bufio.Writer)) error {
	if a.outTTY {
		var whole bytes.Buffer
		w := bufio.NewWriter(&whole)
		document(w)
		_ = w.Flush() // into memory
		return a.printJSON(whole.Bytes())
	}
	w := bufio.NewWriterSize(a.stdout, 64<<10)
	document(w)
	_ = w.WriteByte('\n')
	if w.Flush() != nil { // a writer keeps its first error
		return refusal.New(refusal.OutputWrite)
	}
	return nil
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
