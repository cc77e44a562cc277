package main

import (
	"strings"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
)

// helpTool shows the tool of a call in place of calling it: as the authority document pins it, or where none is found
// as it was kept last. Nothing is sent.
func (a *app) helpTool(s *config.Server, o callOptions) error {
	snap, err := a.toRead(s, o)
	if err != nil {
		return err
	}
	t, ok := snap.Tool(o.tool)
	if !ok {
		return noTool(snap, o.tool)
	}
	if a.json {
		return a.printJSON(toolDocument(t))
	}
	p := a.page()
	p.tool(t)
	p.line("")
	p.hang("try   ", p.tryCall(s, t, o))
	return p.flush()
}

func (a *app) toRead(s *config.Server, o callOptions) (*snapshot.Snapshot, error) {
	if o.snapshot != "" {
		return a.snapshotFile(o.snapshot)
	}
	path, err := a.findAuthority(o.authority, s, o.tool)
	if refusal.Is(err, refusal.AuthorityMissing) {
		return a.newestSnapshot(s)
	}
	if err != nil {
		return nil, err
	}
	doc, err := loadAuthority(path)
	if err != nil {
		return nil, err
	}
	return a.pinned(doc, "")
}

// tryCall is the command line to copy.
func (p *page) tryCall(s *config.Server, t *snapshot.Tool, o callOptions) string {
	words := []string{"mcpc call"}
	if s.Name != "" || s.HTTP != nil {
		words = append(words, word(s))
	}
	if strings.HasPrefix(t.Name, "-") {
		words = append(words, "--tool="+p.safe(quoteWord(t.Name)))
	} else {
		words = append(words, p.safe(quoteWord(t.Name)))
	}
	words = append(words, example(t, p)...)
	if o.authority != "" {
		words = append(words, "--authority "+quoteWord(o.authority))
	}
	if s.Name == "" && s.HTTP == nil {
		for _, name := range s.Stdio.Env {
			words = append(words, "--env "+quoteWord(name))
		}
		words = append(words, "-- "+quoteWords(s.Stdio.Command))
	}
	return strings.Join(words, " ")
}
