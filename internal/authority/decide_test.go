package authority

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

const serverURL = "https://mcp.example.com/mcp"

var (
	pin  = strictjson.Sum([]byte("the snapshot"))
	noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
)

// descriptor makes a tool with an input schema.
func descriptor(name, inputSchema string) snapshot.Tool {
	text := []byte(fmt.Sprintf(`{"name":%s,"inputSchema":%s}`, strictjson.Quote(name), inputSchema))
	digest, _ := strictjson.CanonicalDigest(text)
	return snapshot.Tool{Name: name, Raw: strictjson.Sum(text), Digest: digest, Descriptor: text}
}

func taken(tools ...snapshot.Tool) *snapshot.Snapshot {
	return &snapshot.Snapshot{ID: pin, Server: snapshot.Identity{HTTP: serverURL}, Tools: tools}
}

// documentText is a reviewed document for the pinned snapshot, with the members of its tools object and any others.
func documentText(tools string, members ...string) []byte {
	more := ""
	for _, m := range members {
		more += m + ","
	}
	return []byte(fmt.Sprintf(`{"mcpc":"authority/1","server":{"http":%q},"snapshot":%q,`+
		`"review":{"by":"ana@example.com"},%s"tools":{%s}}`, serverURL, pin, more, tools))
}

func document(t testing.TB, tools string, members ...string) *Document {
	t.Helper()
	doc, err := Parse(documentText(tools, members...))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func invoke(tool, args string) Request {
	return Request{Server: snapshot.Identity{HTTP: serverURL}, Tool: tool, Action: Invoke, Arguments: []byte(args)}
}

func name(r *refusal.Refusal) string {
	if r == nil {
		return ""
	}
	return r.Name()
}

const (
	anyArguments = `"t":{"allow":["publish","invoke"],"arguments":true}`
	closedToA    = `"t":{"allow":["invoke"],"arguments":{"type":"object","additionalProperties":false,` +
		`"properties":{"a":{"type":"integer","maximum":9007199254740992}}}}`
	asAuth = `"auth":{"issuer":"https://as.example.com","scopesWithin":["read","mail.send"]}`
)

func TestDecide(t *testing.T) {
	t.Parallel()
	tool := descriptor("t", `{"type":"object"}`)
	withRejected := taken(descriptor("other", `{"type":"object"}`))
	withRejected.Rejected = []snapshot.Rejected{{Name: "t", Reason: snapshot.ReasonDuplicate}}
	another := taken(tool)
	another.ID = strictjson.Sum([]byte("another"))
	elsewhere := taken(tool)
	elsewhere.Server = snapshot.Identity{HTTP: "https://other.example/mcp"}
	publish := invoke("t", "")
	publish.Action = Publish
	deleting := publish
	deleting.Action = "delete"
	as := func(issuer string, scopes ...string) *AuthContext { return &AuthContext{issuer, scopes} }
	granted, closed := document(t, anyArguments), document(t, closedToA)
	ending := document(t, anyArguments, `"notAfter":"2026-12-01T12:00:00Z"`)
	signedIn := document(t, anyArguments, asAuth)
	seven, six := document(t, anyArguments, `"maxArgumentBytes":7`), document(t, anyArguments, `"maxArgumentBytes":6`)
	snap, call := taken(tool), invoke("t", `{}`)
	const issuer = "https://as.example.com"

	tests := []struct {
		name string
		doc  *Document
		snap *snapshot.Snapshot
		req  Request
		now  time.Time
		auth *AuthContext
		want string
	}{
		{"granted", granted, snap, call, noon, nil, ""},
		{"granted to publish", granted, snap, publish, noon, nil, ""},
		{"no document", nil, snap, call, noon, nil, "authority.missing"},
		{"before the end", ending, snap, call, noon, nil, ""},
		{"after the end", ending, snap, call, noon.Add(1), nil, "authority.expired"},
		{"any sign-in", granted, snap, call, noon, as("https://x.example", "all"), ""},
		{"the sign-in", signedIn, snap, call, noon, as(issuer, "read"), ""},
		{"no scopes", signedIn, snap, call, noon, as(issuer), ""},
		{"no sign-in", signedIn, snap, call, noon, nil, "authority.auth_mismatch"},
		{"no snapshot", granted, nil, call, noon, nil, "snapshot.missing"},
		{"another snapshot", granted, another, call, noon, nil, "authority.snapshot_mismatch"},
		{"a snapshot of another server", granted, elsewhere, call, noon, nil, "authority.server_mismatch"},
		{"not granted", granted, snap, invoke("u", `{}`), noon, nil, "authority.tool_not_granted"},
		{"nothing granted", document(t, ``), snap, call, noon, nil, "authority.tool_not_granted"},
		{"not to publish", closed, snap, publish, noon, nil, "authority.action_not_allowed"},
		{"no such action", granted, snap, deleting, noon, nil, "authority.action_not_allowed"},
		{"not there", granted, taken(), call, noon, nil, "authority.tool_not_in_snapshot"},
		{"rejected", granted, withRejected, call, noon, nil, "authority.tool_rejected"},
		{"arguments within", closed, snap, invoke("t", `{"a":9007199254740992}`), noon, nil, ""},
		{"another argument", closed, snap, invoke("t", `{"b":1}`), noon, nil, "authority.arguments"},
		{"arguments missing", granted, snap, invoke("t", ``), noon, nil, "arguments.json"},
		{"arguments no object", granted, snap, invoke("t", `[]`), noon, nil, "arguments.json"},
		{"arguments with a member twice", closed, snap, invoke("t", `{"a":1,"a":9}`), noon, nil, "arguments.json"},
		{"arguments of extreme size", closed, snap, invoke("t", `{"a":1e5000000}`), noon, nil, "authority.not_evaluated"},
		{"arguments at the bytes", seven, snap, invoke("t", `{"a":1}`), noon, nil, ""},
		{"arguments over the bytes", six, snap, invoke("t", `{"a":1}`), noon, nil, "authority.argument_bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 3 {
				if r := Decide(tt.doc, tt.snap, tt.req, tt.now, tt.auth); name(r) != tt.want {
					t.Fatalf("got %v, want %s", r, tt.want)
				}
			}
		})
	}
}

// Every request below is wrong in everything that is left to decide, so the answer shows what was looked at first.
func TestDecideOrder(t *testing.T) {
	t.Parallel()
	text := string(documentText(closedToA, `"notAfter":"2026-12-01T12:00:00Z"`, asAuth))
	draft, err := Parse([]byte(strings.Replace(text, `"by":"ana@example.com"`, `"by":null`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	late, wrong := noon.Add(time.Hour), invoke("u", `{"b":1}`)
	wrong.Server, wrong.Action = snapshot.Identity{HTTP: "https://other.example/"}, Publish
	var auth *AuthContext
	snap := taken()
	snap.ID = strictjson.Sum([]byte("another"))
	snap.Rejected = []snapshot.Rejected{{Name: "t", Reason: snapshot.ReasonName}}

	steps := []struct {
		want string
		mend func()
	}{
		{"authority.unreviewed", func() { draft = doc }},
		{"authority.expired", func() { late = noon }},
		{"authority.server_mismatch", func() { wrong.Server = doc.Server }},
		{"authority.auth_mismatch", func() { auth = &AuthContext{Issuer: "https://as.example.com"} }},
		{"authority.snapshot_mismatch", func() { snap.ID = pin }},
		{"authority.tool_not_granted", func() { wrong.Tool = "t" }},
		{"authority.action_not_allowed", func() { wrong.Action = Invoke }},
		{"authority.tool_rejected", func() { snap.Rejected = nil }},
		{"authority.tool_not_in_snapshot", func() { snap.Tools = []snapshot.Tool{descriptor("t", `{}`)} }},
		{"authority.arguments", func() { wrong.Arguments = []byte(`{"a":1}`) }},
		{"", func() {}},
	}
	for _, step := range steps {
		if r := Decide(draft, snap, wrong, late, auth); name(r) != step.want {
			t.Fatalf("got %v, want %s", r, step.want)
		}
		step.mend()
	}
}

func TestGrantedLeavesOutTheArguments(t *testing.T) {
	t.Parallel()
	doc, snap := document(t, closedToA), taken(descriptor("t", `{}`))
	if r := Granted(doc, snap, invoke("t", `{"b":1}`), noon, nil); r != nil {
		t.Errorf("got %v", r)
	}
	if r := Granted(doc, snap, invoke("u", ``), noon, nil); name(r) != "authority.tool_not_granted" {
		t.Errorf("got %v", r)
	}
}

func TestRefusalsHoldTheOperatorsNamesOnly(t *testing.T) {
	t.Parallel()
	doc := document(t, closedToA)
	peer := "PEER\u202e"
	snap := taken(descriptor("t", `{"description":"`+peer+`"}`), descriptor(peer, `{}`), descriptor("tt", `{}`))
	r := Decide(doc, snap, invoke("t1", `{}`), noon, nil)
	if r.Detail("near") != "t" && r.Detail("near") != nil {
		t.Errorf("near is %v, which is not of the document", r.Detail("near"))
	}
	r = Decide(doc, snap, invoke("t", `{"a":{"VALUE":1}}`), noon, nil)
	if r.Detail("pointer") != "/a" || r.Detail("keyword") != "type" || strings.Contains(r.Error(), "VALUE") {
		t.Errorf("got %v", r)
	}
	long := document(t, `"send_email":{"allow":["invoke"],"arguments":true}`)
	if r := Decide(long, snap, invoke("Send-Email", `{}`), noon, nil); r.Detail("near") != "send_email" {
		t.Errorf("got %v", r)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	doc := document(t, anyArguments+`,"none":{"allow":[],"arguments":true},"gone":{"allow":["invoke"],"arguments":true},
		"bad":{"allow":["publish"],"arguments":true}`)
	snap := taken(descriptor("t", `{}`), descriptor("none", `{}`))
	snap.Rejected = []snapshot.Rejected{{Name: "bad", Reason: snapshot.ReasonRequiresTask}}
	var got []string
	for _, v := range Check(doc, snap, noon, nil) {
		got = append(got, v.Grant.Tool+" "+name(v.Refusal))
	}
	want := "t |none authority.action_not_allowed|gone authority.tool_not_in_snapshot|bad authority.tool_rejected"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
	for _, v := range Check(doc, nil, noon, nil) {
		if name(v.Refusal) != "snapshot.missing" {
			t.Errorf("without a snapshot: %v", v.Refusal)
		}
	}
}
