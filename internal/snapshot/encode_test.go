package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Fatal(diff)
	}
}

// fullHTTP and fullStdio have every member of the format.
func fullHTTP(t testing.TB) *Snapshot {
	c := contextOf(overHTTP)
	c.Auth = &Auth{
		Kind: "oauth", Issuer: "https://as.example.com", Resource: "https://mcp.example.com/mcp",
		Client: "abc", Handle: "q7m2k9", Scopes: []string{"read", "mail.send"},
	}
	return takeWith(t, c, pageThen(`"1"`, tool("get_weather"), `null`, tool("dup")), page(` {"name" : "数据库","inputSchema":{}}`, tool("dup"), `{"name":"é\/","inputSchema":{}}`))
}

func fullStdio(t testing.TB) *Snapshot {
	c := contextOf(Identity{Stdio: []string{"npx", "-y", "server"}, Cwd: "/srv"})
	c.Handshake = []byte("{\"protocolVersion\":\"2025-11-25\",\n \"serverInfo\":{\"name\":\"x\"}}\n")
	c.Protocol = "2025-11-25"
	c.Recorded.Executable, c.Recorded.ExecutableDigest = "/usr/bin/npx", strictjson.Sum([]byte("npx"))
	c.Recorded.Env = []string{"PATH", "HOME"}
	return takeWith(t, c, page(tool("a")))
}

func takeWith(t testing.TB, c Context, pages ...string) *Snapshot {
	t.Helper()
	s, err := Take(t.Context(), &fakeList{pages: pages}, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEncodeGolden(t *testing.T) {
	t.Parallel()
	none := contextOf(overHTTP)
	none.Handshake = nil
	for name, s := range map[string]*Snapshot{
		"http": fullHTTP(t), "stdio": fullStdio(t), "empty": takeWith(t, none, page()),
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "testdata/golden/"+name+".json", s.Encode())
		})
	}
}

func TestEncodeParse(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*Snapshot{"http": fullHTTP(t), "stdio": fullStdio(t), "plain": take(t, overHTTP, page(tool("a")))} {
		data := s.Encode()
		got, err := Parse(data, config.DefaultLimits())
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(name, diff)
		}
		if !bytes.Equal(got.Encode(), data) || int64(len(data)) != s.size() {
			t.Error(name, "other bytes")
		}
	}
}

func TestEncodeOneToolALine(t *testing.T) {
	t.Parallel()
	lines := strings.Split(string(take(t, overHTTP, page(tool("a"), tool("b"))).Encode()), "\n")
	if len(lines) != 12 || !strings.HasPrefix(lines[9], `{"name":"b",`) || lines[11] != "" {
		t.Fatalf("%q", lines)
	}
}

func TestWriteToStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	n, err := fullHTTP(t).WriteTo(failing{full})
	if !errors.Is(err, full) || n != 3 {
		t.Fatal(n, err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 3, f.err }

func TestParseAtTheLimits(t *testing.T) {
	t.Parallel()
	data := take(t, overHTTP, page(`{"name":"a","inputSchema":{"x":[[]]}}`)).Encode()
	size, depth := int64(len(data)), int64(7) // document, tools, entry, descriptor, schema, and two arrays
	for _, over := range []int64{1, 0, -1} {
		for _, set := range []struct {
			apply func(*config.Limits)
			limit int64
			want  *refusal.Entry
		}{
			{func(l *config.Limits) { l.SnapshotBytes = size + over }, size + over, refusal.LimitSnapshot},
			{func(l *config.Limits) { l.Depth = depth + over }, depth + over, refusal.LimitDepth},
		} {
			l := config.DefaultLimits()
			set.apply(&l)
			s, err := Parse(data, l)
			if over >= 0 {
				if err != nil {
					t.Errorf("%d: %v", over, err)
				}
				continue
			}
			if r := wantRefusal(t, err, set.want); r.Detail("limit") != set.limit || s != nil {
				t.Error(r.Detail("limit"))
			}
		}
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	good := string(take(t, overHTTP, page(tool("a"))).Encode())
	for _, text := range []string{
		`{}`, `{"mcpc":"authority/1"}`, `{"mcpc":null}`, `{"mcpc":1}`, strings.Replace(good, "snapshot/1", "snapshot/2", 1),
		strings.Replace(good, "snapshot/1", "Snapshot/1", 1),
	} {
		_, err := Parse([]byte(text), config.DefaultLimits())
		wantRefusal(t, err, refusal.SnapshotVersion)
	}
}

func TestParseRefusalHoldsNoTextOfTheDocument(t *testing.T) {
	t.Parallel()
	good := string(take(t, overHTTP, page(tool("a"))).Encode())
	for _, canary := range []string{
		strings.Replace(good, `"protocol"`, `"canary":1,"protocol"`, 1),
		strings.Replace(good, `"by"`, `"canary":1,"by"`, 1),
		strings.Replace(good, `{"name":"a","raw"`, `{"canary":1,"name":"a","raw"`, 1),
		strings.Replace(good, `"depth"`, `"canary"`, 1),
		strings.Replace(good, `"protocol"`, `"canary":1,"canary":1,"protocol"`, 1),
		strings.Replace(good, `{"name":"a","raw"`, `{"name":"canary","raw"`, 1),
	} {
		_, err := Parse([]byte(canary), config.DefaultLimits())
		text, _ := json.Marshal(wantRefusal(t, err, refusal.SnapshotAltered))
		if bytes.Contains(text, []byte("canary")) {
			t.Errorf("%s", text)
		}
	}
}

func TestIDIsTheDigestOfTheCanonicalForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.String().Filter(func(s string) bool { return validName(s) }), rapid.ID[string]).Draw(t, "names")
		s := &Snapshot{Server: Identity{Stdio: []string{rapid.String().Draw(t, "arg")}, Cwd: "/"}, Protocol: "2025-11-25"}
		s.Handshake = []byte(rapid.SampledFrom([]string{"", `{}`, `{"capabilities":null}`, `{"capabilities":{"a":1},"instructions":"x"}`, `{"instructions":null}`}).Draw(t, "handshake"))
		tools, rejected := map[string]any{}, []string{}
		for i, name := range names {
			if i%3 == 2 {
				s.Rejected = append(s.Rejected, Rejected{Raw: strictjson.Sum([]byte(name))})
				continue
			}
			s.Tools = append(s.Tools, Tool{Name: name, Digest: strictjson.Sum([]byte(name))})
			tools[name] = strictjson.Sum([]byte(name))
		}
		rejected = append(rejected, s.rejectedRaws()...)
		capabilities, instructions, err := s.handshakeDigests()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := json.Marshal(map[string]any{
			"mcpc": "surface/1", "protocol": "2025-11-25", "server": map[string]any{"stdio": s.Server.Stdio, "cwd": "/"},
			"capabilities": capabilities, "instructions": json.RawMessage(instructions), "tools": tools, "rejected": rejected,
		})
		if err != nil {
			t.Fatal(err)
		}
		want, err := strictjson.CanonicalDigest(doc)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.computeID(); err != nil || got != want {
			t.Fatalf("%s, want %s (%v)", got, want, err)
		}
	})
}

func TestCompareUTF16(t *testing.T) {
	t.Parallel()
	sorted := []string{"", "a", "a\u007f", "é", "\uD7FF", "\U00010000", "\U0010FFFF", "\uE000", "\uFB33", "\uFFFF"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := compareUTF16(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%+q and %+q: %d", a, b, got)
			}
		}
	}
}

func TestPIN01EveryPartIsInTheID(t *testing.T) {
	t.Parallel()
	base := func() (Context, string) { return contextOf(overHTTP), tool("a") }
	c, descriptor := base()
	id := takeWith(t, c, page(descriptor)).ID
	add := func(member string) func(*Context, *string) {
		return func(_ *Context, d *string) { *d = (*d)[:len(*d)-1] + "," + member + "}" }
	}
	for name, edit := range map[string]func(*Context, *string){
		"description":    add(`"description":"x"`),
		"annotations":    add(`"annotations":{"readOnlyHint":true}`),
		"_meta":          add(`"_meta":{"x":1}`),
		"outputSchema":   add(`"outputSchema":{}`),
		"title":          add(`"title":"x"`),
		"icons":          add(`"icons":[]`),
		"execution":      add(`"execution":{}`),
		"unknown member": add(`"x":null`),
		"server":         func(c *Context, _ *string) { c.Server.HTTP += "/" },
		"protocol":       func(c *Context, _ *string) { c.Protocol = "2025-11-25" },
		"capabilities":   func(c *Context, _ *string) { c.Handshake = []byte(`{"capabilities":{},"instructions":"Be kind."}`) },
		"instructions":   func(c *Context, _ *string) { c.Handshake = []byte(`{"capabilities":{"tools":{}}}`) },
		"number":         func(_ *Context, d *string) { *d = strings.Replace(*d, object, `{"type":"object","n":1.0}`, 1) },
	} {
		c, descriptor := base()
		edit(&c, &descriptor)
		if takeWith(t, c, page(descriptor)).ID == id {
			t.Errorf("%s is not in the id", name)
		}
	}
}

func TestPIN04WhatIsInNoDigest(t *testing.T) {
	t.Parallel()
	a := takeWith(t, contextOf(overHTTP), page(tool("a"), `{"name":"é","inputSchema":{},"title":"/"}`, `null`, `1`))
	c := contextOf(overHTTP)
	c.Handshake = []byte(`{"serverInfo":{"name":"x"},"ttlMs":5,"cacheScope":"public", "instructions":"B\u0065 kind.","capabilities": {"tools":{}}}`)
	c.Recorded = Recorded{By: "mcpc 9"}
	c.Auth = &Auth{Kind: "oauth", Scopes: []string{"read"}}
	c.Limits.Pages = 3
	b := takeWith(t, c, pageThen(`"1"`, `1`), pageThen(`"2"`, `{"inputSchema" : { },"title":"\/", "name":"\u00e9"}`, `null`), page(tool("a")))
	if a.ID != b.ID {
		t.Fatal("the same surface has two ids")
	}
	if a.Tools[1].Digest != b.Tools[0].Digest || a.Tools[1].Raw == b.Tools[0].Raw {
		t.Fatal("spelling is not in raw alone")
	}
}
