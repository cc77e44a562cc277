package authority

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// The attack cases of the design that a decision answers, by their numbers.

func TestAttack04NumberOneOver(t *testing.T) {
	t.Parallel()
	doc, snap := document(t, closedToA), taken(descriptor("t", `{}`))
	for args, want := range map[string]string{
		`{"a":9007199254740992}`:     "",
		`{"a":9007199254740992.0}`:   "",
		`{"a":9007199254740993}`:     "authority.arguments",
		`{"a":9007199254740992.001}`: "authority.arguments",
		`{"a":9.007199254740993e15}`: "authority.arguments",
		`{"a":"9007199254740993"}`:   "authority.arguments",
	} {
		if r := Decide(doc, snap, invoke("t", args), noon, nil); name(r) != want {
			t.Errorf("%s: %v", args, r)
		}
	}
}

func TestAttack05AnnotationsDoNotGrant(t *testing.T) {
	t.Parallel()
	doc := document(t, anyArguments)
	for _, flag := range []string{"true", "false"} {
		text := []byte(`{"name":"u","annotations":{"readOnlyHint":` + flag + `},"inputSchema":{}}`)
		snap := taken(descriptor("t", `{}`), snapshot.Tool{Name: "u", Descriptor: text})
		if r := Decide(doc, snap, invoke("u", `{}`), noon, nil); name(r) != "authority.tool_not_granted" {
			t.Errorf("readOnlyHint %s: %v", flag, r)
		}
	}
}

func TestAttack08NamesThatLookAlike(t *testing.T) {
	t.Parallel()
	doc := document(t, `"send_email":{"allow":["invoke"],"arguments":true}`)
	for _, other := range []string{
		"send_em\u0430il", "Send_Email", "send-email", "send_email ", "send_email\u200b", "sénd_email",
	} {
		snap := taken(descriptor("send_email", `{}`), descriptor(other, `{}`))
		if r := Decide(doc, snap, invoke(other, `{}`), noon, nil); name(r) != "authority.tool_not_granted" {
			t.Errorf("%q: %v", other, r)
		}
	}
}

func TestAttack09AliasPointsElsewhere(t *testing.T) {
	t.Parallel()
	doc, snap := document(t, anyArguments), taken(descriptor("t", `{}`))
	for _, server := range []snapshot.Identity{
		{HTTP: "https://mcp.example.com/other"},
		{HTTP: "https://mcp.example.com/mcp?x=1"},
		{HTTP: "http://mcp.example.com/mcp"},
		{Stdio: []string{"server"}},
		{},
	} {
		req := invoke("t", `{}`)
		req.Server = server
		if r := Decide(doc, snap, req, noon, nil); name(r) != "authority.server_mismatch" {
			t.Errorf("%v: %v", server, r)
		}
	}
}

func TestAttack10OlderSnapshotAndLateClock(t *testing.T) {
	t.Parallel()
	doc := document(t, anyArguments, `"notAfter":"2027-03-01T00:00:00+01:00"`)
	older := taken(descriptor("t", `{}`))
	older.ID = strictjson.Sum([]byte("older"))
	if r := Decide(doc, older, invoke("t", `{}`), noon, nil); name(r) != "authority.snapshot_mismatch" {
		t.Errorf("older: %v", r)
	}
	end := time.Date(2027, 2, 28, 23, 0, 0, 0, time.UTC)
	r := Decide(doc, taken(descriptor("t", `{}`)), invoke("t", `{}`), end.Add(time.Second), nil)
	if name(r) != "authority.expired" || r.Detail("at") != "2027-02-28T23:00:00Z" {
		t.Errorf("late: %v", r)
	}
}

func TestAttack14OtherSignIn(t *testing.T) {
	t.Parallel()
	doc, snap := document(t, anyArguments, asAuth), taken(descriptor("t", `{}`))
	for what, auth := range map[string]*AuthContext{
		"no sign-in is in use": nil,
		"another issuer":       {Issuer: "https://as.example.com/", Scopes: []string{"read"}},
		"wider scopes":         {Issuer: "https://as.example.com", Scopes: []string{"read", "admin"}},
	} {
		r := Decide(doc, snap, invoke("t", `{}`), noon, auth)
		if name(r) != "authority.auth_mismatch" || r.Detail("what") != what {
			t.Errorf("%s: %v", what, r)
		}
	}
	none := document(t, anyArguments, `"auth":{"issuer":"https://as.example.com","scopesWithin":[]}`)
	auth := &AuthContext{Issuer: "https://as.example.com", Scopes: []string{"read"}}
	if r := Decide(none, snap, invoke("t", `{}`), noon, auth); name(r) != "authority.auth_mismatch" {
		t.Errorf("no scope is allowed: %v", r)
	}
}

// The files of case 15 are vectors; this holds that each of them is refused and never decides.
func TestAttack15DamagedFiles(t *testing.T) {
	t.Parallel()
	refused := map[string]string{}
	for _, v := range readVectors(t) {
		if v.Header["expect"] == "refuse" {
			refused[v.Name] = v.Header["refusal"]
		}
	}
	for file, want := range map[string]string{
		"empty": "authority.syntax", "version-missing": "authority.version", "trailing-comma": "authority.syntax",
		"byte-order-mark": "authority.syntax", "misspelled-tools": "authority.invalid",
		"snapshot-63-digits": "authority.invalid", "tool-without-arguments": "authority.invalid",
		"keyword-format-nested": "authority.invalid", "arguments-open": "authority.invalid",
	} {
		if refused[file] != want {
			t.Errorf("%s: %q", file, refused[file])
		}
	}
	text := strings.Replace(string(documentText(anyArguments)), `"ana@example.com"`, `null`, 1)
	doc, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if r := Decide(doc, taken(descriptor("t", `{}`)), invoke("t", `{}`), noon, nil); name(r) != "authority.unreviewed" {
		t.Errorf("by null: %v", r)
	}
}

func TestAttackDoublingSchemaInTheDocument(t *testing.T) {
	t.Parallel()
	defs := `"a40":true`
	for i := range 40 {
		defs += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i+1, i+1)
	}
	doc := document(t, `"t":{"allow":["invoke"],"arguments":{"type":"object","additionalProperties":false,`+
		`"allOf":[{"$ref":"#/$defs/a0"}],"$defs":{`+defs+`}}}`)
	begin := time.Now()
	r := Decide(doc, taken(descriptor("t", `{}`)), invoke("t", `{}`), noon, nil)
	if name(r) != "authority.not_evaluated" {
		t.Errorf("got %v", r)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
