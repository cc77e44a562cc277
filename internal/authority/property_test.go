package authority

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcpc/internal/snapshot"
)

// someNames are few, so that document, snapshot and request meet; the last is Cyrillic.
var someNames = []string{"a", "A", "b", "а"}

var someArguments = []string{
	`true`, `{"type":"object","additionalProperties":false}`,
	`{"type":"object","additionalProperties":false,"properties":{"x":{"type":"integer","maximum":2}}}`,
	`{"type":"object","additionalProperties":{"$ref":"#/$defs/s"},"$defs":{"s":{"type":"string"}}}`,
}

// world is a document by its entries, a snapshot and a request.
type world struct {
	entries []string // members of the tools object
	snap    *snapshot.Snapshot
	req     Request
}

func draw(t *rapid.T) world {
	var w world
	names := func(least, most int) *rapid.Generator[[]string] {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(someNames), least, most, rapid.ID[string])
	}
	for _, n := range names(1, 4).Draw(t, "granted") {
		allow := rapid.SampledFrom([]string{`[]`, `["invoke"]`, `["publish"]`, `["publish","invoke"]`}).Draw(t, "allow")
		args := rapid.SampledFrom(someArguments).Draw(t, "arguments")
		w.entries = append(w.entries, fmt.Sprintf(`%q:{"allow":%s,"arguments":%s}`, n, allow, args))
	}
	w.snap = taken()
	for _, n := range names(2, 4).Draw(t, "tools") {
		w.snap.Tools = append(w.snap.Tools, descriptor(n, `{}`))
	}
	for _, n := range names(0, 1).Draw(t, "rejected") {
		w.snap.Rejected = append(w.snap.Rejected, snapshot.Rejected{Name: n, Reason: snapshot.ReasonDuplicate})
	}
	w.req = invoke(rapid.SampledFrom(someNames).Draw(t, "tool"),
		rapid.SampledFrom([]string{`{}`, `{"x":1}`, `{"x":3}`, `{"y":"s"}`, `{"x":1,"x":1}`, ``}).Draw(t, "args"))
	w.req.Action = rapid.SampledFrom([]string{Publish, Invoke, "", "delete"}).Draw(t, "action")
	return w
}

func (w world) allowed(t *rapid.T, entries []string, snap *snapshot.Snapshot) bool {
	doc, err := Parse(documentText(strings.Join(entries, ",")))
	if err != nil {
		t.Fatal(err)
	}
	return Decide(doc, snap, w.req, noon, nil) == nil
}

func TestRemovingFromToolsNeverAddsAnAllow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		var fewer []string
		for _, e := range w.entries {
			switch rapid.IntRange(0, 3).Draw(t, "removal") {
			case 0: // the tool
			case 1: // what it allows
				before, after, _ := strings.Cut(e, `"allow":[`)
				_, after, _ = strings.Cut(after, `]`)
				fewer = append(fewer, before+`"allow":[]`+after)
			default:
				fewer = append(fewer, e)
			}
		}
		if w.allowed(t, fewer, w.snap) && !w.allowed(t, w.entries, w.snap) {
			t.Fatalf("%s allows what %s does not", fewer, w.entries)
		}
	})
}

func TestNoSnapshotAllowsANameThatIsNotGranted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		granted := false
		for _, e := range w.entries {
			granted = granted || strings.HasPrefix(e, fmt.Sprintf("%q:", w.req.Tool))
		}
		if w.allowed(t, w.entries, w.snap) && !granted {
			t.Fatalf("%q is allowed", w.req.Tool)
		}
	})
}

func TestOtherToolsOnlyRefuse(t *testing.T) {
	t.Parallel()
	allows := 0
	check := func(t *rapid.T) {
		w := draw(t)
		alone := taken()
		if tool, ok := w.snap.Tool(w.req.Tool); ok {
			alone.Tools = []snapshot.Tool{*tool}
		}
		if w.allowed(t, w.entries, w.snap) {
			allows++
			if !w.allowed(t, w.entries, alone) {
				t.Fatal("another tool of the snapshot made a yes of a no")
			}
		}
	}
	for range 10 { // few draws are allowed; a hundred may all be refused
		if rapid.Check(t, check); allows > 0 {
			break
		}
	}
	if allows == 0 {
		t.Error("no draw was allowed, so nothing was shown")
	}
}
