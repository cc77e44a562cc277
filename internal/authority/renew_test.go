package authority

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

const oldDocument = `{ "mcpc": "authority/1",
  "note": "kept", "server": {"http":"https://mcp.example.com/mcp"},
  "snapshot": "PIN",
  "review": {"by": "ana@example.com", "at": "2026-12-01T12:00:00Z", "note": "OPS-311"},
  "notAfter": "2026-12-31T00:00:00Z",
  "tools": {
    "same": {"allow": ["invoke"], "arguments": {"type":"object",
        "additionalProperties":   false, "properties": {"n": {"maximum": 1.50e2}}}},
    "changed": {"allow":[ "publish" ],"arguments":true},
    "gone": {"allow":["invoke"],"arguments":true}
  }
}`

func renewal() (old []byte, from, to *snapshot.Snapshot) {
	old = []byte(strings.Replace(oldDocument, "PIN", string(pin), 1))
	from = taken(descriptor("same", `{}`), descriptor("changed", `{}`), descriptor("gone", `{}`))
	to = taken(descriptor("new", `{}`), descriptor("changed", `{"title":"x"}`), descriptor("same", `{}`))
	to.ID = strictjson.Sum([]byte("the next snapshot"))
	return old, from, to
}

func TestRenewCarriesGrantsByteForByte(t *testing.T) {
	t.Parallel()
	old, from, to := renewal()
	text, changes, err := Renew(old, from, to, RenewOptions{
		Accept: []string{"changed", "gone"}, By: "bo", Now: noon.Add(time.Hour),
		NotAfter: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "mcpc": "authority/1",
  "note": "kept",
  "server": {"http":"https://mcp.example.com/mcp"},
  "snapshot": "` + string(to.ID) + `",
  "review": {"by": "bo", "at": "2026-12-01T13:00:00Z"},
  "notAfter": "2027-03-01T00:00:00Z",
  "tools": {
    "same": {"allow": ["invoke"], "arguments": {"type":"object",
        "additionalProperties":   false, "properties": {"n": {"maximum": 1.50e2}}}},
    "changed": {"allow":[ "publish" ],"arguments":true}
  }
}
`
	if string(text) != want {
		t.Errorf("got\n%s", text)
	}
	got := []string{}
	for _, c := range changes {
		got = append(got, c.Tool+" "+c.Change)
	}
	if strings.Join(got, ", ") != "same unchanged, changed changed, gone removed" {
		t.Errorf("got %q", got)
	}
	doc, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if r := Decide(doc, to, invoke("same", `{"n":151}`), noon, nil); name(r) != "authority.arguments" {
		t.Errorf("the argument schema was not carried over: %v", r)
	}
}

func TestRenewRefuses(t *testing.T) {
	t.Parallel()
	all := []string{"changed", "gone"}
	tests := []struct {
		name   string
		accept []string
		wrong  func(old *[]byte, from, to *snapshot.Snapshot)
		want   string
	}{
		{"changed and not named", []string{"gone"}, nil, "authority.changed_grant"},
		{"gone and not named", []string{"changed"}, nil, "authority.changed_grant"},
		{"rejected and not named", all, func(_ *[]byte, _, to *snapshot.Snapshot) {
			to.Rejected = []snapshot.Rejected{{Name: "same", Reason: snapshot.ReasonDuplicate}}
		}, "authority.changed_grant"},
		{"was rejected before", all, func(_ *[]byte, from, _ *snapshot.Snapshot) {
			from.Rejected = []snapshot.Rejected{{Name: "same", Reason: snapshot.ReasonDuplicate}}
		}, "authority.changed_grant"},
		{"was not there before", all, func(_ *[]byte, from, _ *snapshot.Snapshot) {
			from.Tools = from.Tools[1:]
		}, "authority.changed_grant"},
		{"named and not granted", append(all, "new"), nil, "authority.tool_not_granted"},
		{"of another snapshot", all, func(_ *[]byte, from, to *snapshot.Snapshot) {
			from.ID = to.ID
		}, "authority.snapshot_mismatch"},
		{"to another server", all, func(_ *[]byte, _, to *snapshot.Snapshot) {
			to.Server = snapshot.Identity{HTTP: "https://other.example/"}
		}, "snapshot.other_server"},
		{"a draft", all, func(old *[]byte, _, _ *snapshot.Snapshot) {
			*old = bytes.Replace(*old, []byte(`"ana@example.com"`), []byte("null"), 1)
		}, "authority.unreviewed"},
		{"not a document", all, func(old *[]byte, _, _ *snapshot.Snapshot) { *old = nil }, "authority.syntax"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old, from, to := renewal()
			if tt.wrong != nil {
				tt.wrong(&old, from, to)
			}
			text, changes, err := Renew(old, from, to, RenewOptions{Accept: tt.accept, By: "bo", Now: noon})
			if text != nil || changes != nil || refusal.From(err).Name() != tt.want {
				t.Errorf("got %s, %v, %v", text, changes, err)
			}
		})
	}
}

func TestRenewWithoutReviewerIsADraft(t *testing.T) {
	t.Parallel()
	old, from, to := renewal()
	text, _, err := Renew(old, from, to, RenewOptions{Accept: []string{"changed", "gone"}, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Parse(text)
	if err != nil || doc.Reviewer != "" || doc.NotAfter.IsZero() {
		t.Errorf("got %+v, %v", doc, err)
	}
}

func TestSurface(t *testing.T) {
	t.Parallel()
	doc := document(t, `"z":{"allow":["publish"],"arguments":true},"a":{"allow":["publish","invoke"],"arguments":true},
		"only":{"allow":["invoke"],"arguments":true},"gone":{"allow":["invoke"],"arguments":true}`)
	a, z := descriptor("a", `{ "n":1.0 }`), descriptor("z", `{}`)
	snap := taken(z, descriptor("only", `{}`), descriptor("other", `{}`), a)
	got, err := Surface(doc, snap, noon, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"mcpc":"published/1",
"snapshot":"` + string(pin) + `",
"authority":"` + string(doc.Digest) + `",
"server":{"http":"https://mcp.example.com/mcp"},
"tools":[
{"name":"a","digest":"` + string(a.Digest) + `","descriptor":{"name":"a","inputSchema":{ "n":1.0 }}},
{"name":"z","digest":"` + string(z.Digest) + `","descriptor":{"name":"z","inputSchema":{}}}]}
`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
	if err := strictjson.Validate(got, strictjson.MaxDepth); err != nil {
		t.Error(err)
	}
}

func TestSurfaceRefusesAsAWhole(t *testing.T) {
	t.Parallel()
	doc := document(t, `"a":{"allow":["publish"],"arguments":true},"gone":{"allow":["publish"],"arguments":true}`)
	snap := taken(descriptor("a", `{}`))
	if b, err := Surface(doc, snap, noon, nil); b != nil || !refusal.Is(err, refusal.AuthorityToolMissing) {
		t.Errorf("got %s, %v", b, err)
	}
	snap.ID = strictjson.Sum(nil)
	if b, err := Surface(doc, snap, noon, nil); b != nil || !refusal.Is(err, refusal.AuthoritySnapshot) {
		t.Errorf("got %s, %v", b, err)
	}
	if b, err := Surface(nil, snap, noon, nil); b != nil || !refusal.Is(err, refusal.AuthorityMissing) {
		t.Errorf("got %s, %v", b, err)
	}
}
