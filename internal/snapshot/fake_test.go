package snapshot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// fakeList is a server's tool list: page i is answered to the cursor "i", page 0 to none, unless next says otherwise.
type fakeList struct {
	pages   []string // results
	next    func(cursor *string) (string, error)
	legacy  bool
	changes []int // changes[i] notifications come with request i
	asked   []string
	seen    int
}

func (f *fakeList) ListPage(_ context.Context, cursor *string) ([]byte, error) {
	if len(f.asked) < len(f.changes) {
		f.seen += f.changes[len(f.asked)]
	}
	page, label := 0, "none"
	if cursor != nil {
		label = *cursor
		_, _ = fmt.Sscan(*cursor, &page)
	}
	f.asked = append(f.asked, label)
	if f.next != nil {
		result, err := f.next(cursor)
		return []byte(result), err
	}
	return []byte(f.pages[page]), nil
}

func (f *fakeList) Changes() int { return f.seen }
func (f *fakeList) Modern() bool { return !f.legacy }

const object = `{"type":"object"}`

func tool(name string) string { return `{"name":"` + name + `","inputSchema":` + object + `}` }

func page(tools ...string) string { return `{"tools":[` + strings.Join(tools, ",") + `]}` }

func pageThen(cursor string, tools ...string) string {
	return `{"tools":[` + strings.Join(tools, ",") + `],"nextCursor":` + cursor + `}`
}

var (
	overHTTP  = Identity{HTTP: "https://mcp.example.com/mcp"}
	overStdio = Identity{Stdio: []string{"npx", "-y", "server"}}
)

func contextOf(server Identity) Context {
	return Context{
		Server:    server,
		Protocol:  "2026-07-28",
		Recorded:  Recorded{At: time.Date(2026, 12, 1, 15, 4, 5, 7, time.UTC), By: "mcpc 0.1.0"},
		Handshake: []byte(`{"capabilities":{"tools":{}},"instructions":"Be kind."}`),
		Limits:    config.DefaultLimits(),
	}
}

func take(t testing.TB, server Identity, pages ...string) *Snapshot {
	t.Helper()
	s, err := Take(t.Context(), &fakeList{pages: pages}, contextOf(server))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantRefusal(t testing.TB, err error, want *refusal.Entry) *refusal.Refusal {
	t.Helper()
	if !refusal.Is(err, want) {
		t.Fatalf("got %v, want %s", err, want.Name)
	}
	r, _ := refusal.As(err)
	return r
}

// verdicts returns name=reason for every element, the tools first.
func verdicts(s *Snapshot) []string {
	var list []string
	for _, tool := range s.Tools {
		list = append(list, tool.Name+"=")
	}
	for _, r := range s.Rejected {
		list = append(list, r.Name+"="+r.Reason)
	}
	return list
}
