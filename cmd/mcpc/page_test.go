package main

import (
	"bytes"
	"strings"
	"testing"

	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

// onPage prints on a page of a terminal of that width; 0 stands for a pipe.
func onPage(width int, write func(*page)) string {
	var b bytes.Buffer
	a := &app{stdout: &b, outTTY: width > 0}
	p := a.page()
	p.width = width
	write(p)
	_ = p.flush()
	return b.String()
}

func TestPageKeepsToTheWidth(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("some words of a server ", 12)
	rows := [][]string{{"SNAPSHOT", "SERVER"}, {"3f9c2e0a51d7", "node " + long}, {"3f9c2e0a51d7", "short"}}
	for _, width := range []int{40, 60, 80, 132} {
		got := onPage(width, func(p *page) {
			p.rows(rows)
			p.header("server", long)
			p.quote(long + "\n" + long)
			p.rows([][]string{{strings.Repeat("wide ", 3), strings.Repeat("wider", 3), long}})
		})
		for line := range strings.Lines(got) {
			if n := columns(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns where %d are: %q", n, width, line)
			}
		}
		if words := strings.Fields(got); strings.Count(strings.Join(words, " "), "some words of a server") != 12*5 {
			t.Errorf("%d columns: words are missing in\n%s", width, got)
		}
	}
	if got := onPage(0, func(p *page) { p.rows(rows) }); strings.Count(got, "\n") != 3 {
		t.Errorf("a line is broken on a pipe:\n%s", got)
	}
}

func TestPaint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tty     bool
		environ []string
		want    bool
	}{
		"a terminal":      {true, []string{"TERM=xterm"}, true},
		"a pipe":          {false, []string{"TERM=xterm"}, false},
		"NO_COLOR":        {true, []string{"NO_COLOR=1"}, false},
		"an empty one":    {true, []string{"NO_COLOR="}, true},
		"a dumb terminal": {true, []string{"TERM=dumb"}, false},
	} {
		a := &app{outTTY: c.tty, environ: c.environ}
		if got := a.paint().red("x") == "\x1b[31mx\x1b[0m"; got != c.want {
			t.Errorf("%s: painted %t", name, got)
		}
	}
}

// Whatever a server puts into a name or a text, a page of differences holds it visibly and in its place: no code point
// that does not show, no line that begins like one of ours.
func TestDiffPageShowsWhatIsHidden(t *testing.T) {
	t.Parallel()
	const evil = "x\u202e\u200b\U000e0041\u001b[2J\u0085\nadded    get-env\r\n+++ live"
	tool := func(name, description string) snapshot.Tool {
		text := quotedText(description)
		return snapshot.Tool{Name: name, Descriptor: []byte(`{"name":` + quotedText(name) + `,"description":` + text +
			`,"inputSchema":{"type":"object","properties":{` + text + `:{"title":` + text + `}}},` +
			text + `:1,"annotations":{"title":` + text + `}}`)}
	}
	server := snapshot.Identity{HTTP: "https://a.example/"}
	old := &snapshot.Snapshot{ID: "sha256:aa", Server: server, Handshake: []byte(`{}`)}
	old.Tools = []snapshot.Tool{tool("same", "plain"), tool(evil, "plain")}
	now := &snapshot.Snapshot{ID: "sha256:bb", Server: server}
	now.Handshake = []byte(`{"instructions":` + quotedText(evil) + `}`)
	now.Tools = []snapshot.Tool{tool("same", evil), tool(evil+"2", evil)}
	old.Tools[0].Digest, now.Tools[0].Digest = "sha256:1", "sha256:2"
	now.Rejected = []snapshot.Rejected{
		{Name: evil, Reason: "tool-name-duplicate", Raw: "sha256:3", Descriptor: []byte(quotedText(evil))},
	}
	for _, width := range []int{0, 80} {
		got := onPage(width, func(p *page) {
			d := &diffPage{page: p, paint: paint{width > 0}, grants: []string{"same", evil}}
			report := snapshot.Diff(old, now)
			d.sides(side{old, false}, side{now, true})
			d.report(&report)
		})
		for _, code := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"} {
			got = strings.ReplaceAll(got, code, "")
		}
		for line := range strings.Lines(got) {
			for _, r := range strings.TrimSuffix(line, "\n") {
				if terminal.Hidden(r) {
					t.Errorf("U+%04X in %q", r, line)
				}
			}
		}
		for _, forged := range []string{"\nadded    get-env", "\n+++ live"} {
			if strings.Contains(got, forged) {
				t.Errorf("a line of the server's stands like one of ours:\n%s", got)
			}
		}
		for _, want := range []string{
			"GRANTED", "hidden: U+000D ×1 U+001B ×1", "hidden in the name: U+000D", "U+E0041 ×", `added    "x\u{202e}`,
			"(not interpreted)", "1 changed, 1 added, 1 removed, 1 rejected; the server's instructions",
			"; 2 granted tools changed",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
	}
}

func quotedText(s string) string { return string(strictjson.Quote(s)) }
