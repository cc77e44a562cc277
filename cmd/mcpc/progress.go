package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mcpc/internal/negotiate"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

// progressBar shows the progress that a server reports for the call, on a terminal's stderr only.
type progressBar struct {
	app   *app
	last  time.Time
	shown bool
}

func (a *app) progressBar() *progressBar { return &progressBar{app: a} }

// update returns what to call for each report, or nil where nobody would see it: then none is asked for.
func (b *progressBar) update() func(negotiate.Progress) {
	if !b.app.errTTY || b.app.json {
		return nil
	}
	return func(p negotiate.Progress) {
		if now := b.app.now(); now.Sub(b.last) >= 100*time.Millisecond {
			b.last = now
			b.draw(p)
		}
	}
}

// listing counts the pages and tools of a list that takes its time, on a terminal's stderr only.
type listing struct {
	snapshot.Lister
	bar          *progressBar
	pages, tools int
}

func (a *app) listing(l snapshot.Lister) *listing {
	return &listing{Lister: l, bar: &progressBar{app: a, last: a.now()}}
}

// ListPage implements snapshot.Lister. A list that is read in a moment shows nothing.
func (l *listing) ListPage(ctx context.Context, cursor *string) ([]byte, error) {
	if cursor == nil {
		l.pages, l.tools = 0, 0
	}
	result, err := l.Lister.ListPage(ctx, cursor)
	if err != nil || !l.bar.app.errTTY || l.bar.app.json {
		return result, err
	}
	l.pages++
	tools, _ := strictjson.Member(result, "tools")
	for range strictjson.Elements(tools) {
		l.tools++
	}
	if now := l.bar.app.now(); now.Sub(l.bar.last) >= 100*time.Millisecond {
		l.bar.last = now
		l.bar.show(fmt.Sprintf("listing: %s on %s", plural(l.tools, "tool"), plural(l.pages, "page")))
	}
	return result, err
}

func (b *progressBar) draw(p negotiate.Progress) {
	text := fmt.Sprintf("%g", p.Value)
	if p.Total > 0 {
		const width = 24
		done := min(max(int(p.Value/p.Total*width), 0), width)
		text = fmt.Sprintf("[%s%s] %g of %g", strings.Repeat("#", done), strings.Repeat(".", width-done), p.Value, p.Total)
	}
	if p.Message != "" {
		text += "  " + terminal.Escape(p.Message)
	}
	b.show(text)
}

// show replaces what stands there.
func (b *progressBar) show(text string) {
	if runes, width := []rune(text), terminal.Width(b.app.stderr)-1; len(runes) > width {
		text = string(runes[:width-1]) + "…"
	}
	fmt.Fprintf(b.app.stderr, "\r%s\x1b[K", text)
	b.shown = true
}

func (b *progressBar) clear() {
	if b.shown {
		fmt.Fprint(b.app.stderr, "\r\x1b[K")
		b.shown = false
	}
}
