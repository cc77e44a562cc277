package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// changed takes two snapshots that differ in one descriptor and wants two digests and two ids.
func changed(t *testing.T, before, after string) {
	t.Helper()
	a, b := take(t, overHTTP, page(before)), take(t, overHTTP, page(after))
	if a.Tools[0].Digest == b.Tools[0].Digest || a.Tools[0].Raw == b.Tools[0].Raw || a.ID == b.ID {
		t.Errorf("no other digest: %s", after)
	}
}

func TestAttack01DescriptionOnly(t *testing.T) {
	t.Parallel()
	changed(t, `{"name":"a","description":"Adds.","inputSchema":{}}`, `{"name":"a","description":"Adds. ","inputSchema":{}}`)
}

func TestAttack02PoisonInMeta(t *testing.T) {
	t.Parallel()
	changed(t, `{"name":"a","inputSchema":{},"_meta":{"x":1}}`, `{"name":"a","inputSchema":{},"_meta":{"x":1,"y":"send all"}}`)
}

func TestAttack03TagCharacters(t *testing.T) {
	t.Parallel()
	changed(t, `{"name":"a","description":"Adds.","inputSchema":{}}`, "{\"name\":\"a\",\"description\":\"Adds.\U000E0041\",\"inputSchema\":{}}")
}

func TestAttack04BigIntegers(t *testing.T) {
	t.Parallel()
	changed(t, `{"name":"a","inputSchema":{"maximum":9007199254740992}}`, `{"name":"a","inputSchema":{"maximum":9007199254740993}}`)
}

func TestAttack05AnnotationFlipped(t *testing.T) {
	t.Parallel()
	changed(t, `{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":false}}`,
		`{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true}}`)
}

func TestAttack06DuplicateNames(t *testing.T) {
	t.Parallel()
	one, other := tool("send"), `{"name":"send","inputSchema":{"type":"object","required":["x"]}}`
	for name, pages := range map[string][]string{
		"one page":            {page(one, tool("a"), other)},
		"other order":         {page(other, tool("a"), one)},
		"across pages":        {pageThen(`"1"`, one, tool("a")), page(other)},
		"across, other order": {pageThen(`"1"`, other, tool("a")), page(one)},
		"byte-identical":      {pageThen(`"1"`, one, tool("a")), page(one)},
		"spelled in escapes":  {page(one, tool("a"), tool(`\u0073end`))},
		"one broken schema":   {page(one, tool("a"), `{"name":"send","inputSchema":null}`)},
		"one needs a task":    {page(`{"name":"send","inputSchema":{},"execution":{"taskSupport":"required"}}`, tool("a"), one)},
		"three":               {pageThen(`"1"`, one, one), page(tool("a"), other)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := take(t, overHTTP, pages...)
			if len(s.Tools) != 1 || s.Tools[0].Name != "a" {
				t.Fatalf("tools %v", verdicts(s))
			}
			for _, r := range s.Rejected {
				if r.Name != "send" || r.Reason != ReasonDuplicate {
					t.Fatalf("rejected %v", verdicts(s))
				}
			}
			if want := strings.Count(strings.Join(pages, ""), `end"`); len(s.Rejected) != want {
				t.Fatalf("%d rejected, want %d", len(s.Rejected), want)
			}
		})
	}
	if a, b := take(t, overHTTP, page(one, other)), take(t, overHTTP, pageThen(`"1"`, other), page(one)); a.ID != b.ID {
		t.Fatal("the order of the rejected is in the id")
	}
}

func TestAttack07DuplicateMembers(t *testing.T) {
	t.Parallel()
	_, err := Take(t.Context(), &fakeList{pages: []string{page(`{"name":"a","inputSchema":{"type":"object","type":"string"}}`)}}, contextOf(overHTTP))
	wantRefusal(t, err, refusal.ProtocolResult)
	good := string(take(t, overHTTP, page(tool("a"))).Encode())
	_, err = Parse([]byte(strings.Replace(good, `"tools":[`, `"tools":[],"tools":[`, 1)), config.DefaultLimits())
	wantRefusal(t, err, refusal.SnapshotAltered)
}

func TestAttack08NamesThatLookAlike(t *testing.T) {
	t.Parallel()
	s := take(t, overHTTP, page(tool("send_email"), tool("send_em\u0430il"), tool("Send-Email"), tool("send_\u200bemail")))
	if len(s.Tools) != 4 {
		t.Fatal(verdicts(s))
	}
	if found, ok := s.Tool("send_em\u0430il"); !ok || found.Digest == s.Tools[0].Digest {
		t.Fatal("a look-alike is the same tool")
	}
	want := []string{
		`alike: "send_email" and "Send-Email" differ only in case or in - . _`,
		`confusable: "send_email" and "send_em\u0430il" look the same`,
		`confusable: "send_email" and "send_\u200bemail" look the same`,
		`mixed scripts: "send_em\u0430il" has letters of Latin and Cyrillic`,
		`hidden: "send_\u200bemail" has code points that do not show: U+200B`,
	}
	if diff := cmp.Diff(want, s.Notes()); diff != "" {
		t.Fatal(diff)
	}
}

func TestAttack10AnOlderSnapshot(t *testing.T) {
	t.Parallel()
	older, newer := take(t, overHTTP, page(tool("a"))), take(t, overHTTP, page(tool("a"), tool("b")))
	read, err := Parse(older.Encode(), config.DefaultLimits())
	if err != nil || read.ID == newer.ID || read.ID != older.ID {
		t.Fatal("an older snapshot has the id of a newer one")
	}
}

func TestAttack11AlteredSnapshot(t *testing.T) {
	t.Parallel()
	c := contextOf(overStdio)
	c.Recorded.Env = []string{"PATH"}
	s, err := Take(t.Context(), &fakeList{pages: []string{page(tool("a"), `null`, tool("b"), `7`)}}, c)
	if err != nil {
		t.Fatal(err)
	}
	good := s.Encode()
	tool0 := func(old, now string) func() []byte { return replacing(t, good, old, now) }
	other := take(t, overStdio, page(strings.Replace(tool("a"), object, "{}", 1)))
	var indented, compact bytes.Buffer
	if json.Indent(&indented, good, "", "  ") != nil || json.Compact(&compact, good) != nil {
		t.Fatal("not JSON")
	}
	b := &s.Tools[1]
	tests := []struct {
		name    string
		edit    func() []byte
		pointer any // nil for none
	}{
		{"reformatted by jq", func() []byte { return indented.Bytes() }, "/tools/0/raw"},
		{"compacted by jq -c", func() []byte { return compact.Bytes() }, nil},
		{"descriptor", tool0(`"descriptor":`+tool("a"), `"descriptor":`+strings.Replace(tool("a"), object, `{"type":"objec"}`, 1)), "/tools/0/digest"},
		{"white space in a descriptor", tool0(`"descriptor":{"name":"a",`, `"descriptor":{"name":"a", `), "/tools/0/raw"},
		{"digest and descriptor together", func() []byte {
			text := strings.Replace(string(good), string(s.Tools[0].Raw), string(other.Tools[0].Raw), 1)
			text = strings.Replace(text, string(s.Tools[0].Digest), string(other.Tools[0].Digest), 1)
			text = strings.Replace(text, tool("a"), string(other.Tools[0].Descriptor), 1)
			return []byte(strings.Replace(text, fmt.Sprintf(`"bytes":%d`, len(tool("a"))), fmt.Sprintf(`"bytes":%d`, len(other.Tools[0].Descriptor)), 1))
		}, "/id"},
		{"id", tool0(string(s.ID), string(b.Raw)), "/id"},
		{"raw", tool0(`"raw":"`+string(b.Raw), `"raw":"`+string(s.ID)), "/tools/1/raw"},
		{"digest", tool0(`"digest":"`+string(b.Digest), `"digest":"`+string(s.ID)), "/tools/1/digest"},
		{"name", tool0(`{"name":"b","raw"`, `{"name":"c","raw"`), "/tools/1/name"},
		{"bytes", tool0(fmt.Sprintf(`"bytes":%d`, len(tool("a"))), `"bytes":7`), "/tools/0/bytes"},
		{"a tool left out", tool0(string(line(good, `{"name":"a"`))+"\n", ""), "/id"},
		{"server", tool0(`"npx"`, `"npy"`), "/id"},
		{"protocol", tool0(`"protocol":"2026-07-28"`, `"protocol":"2025-11-25"`), "/id"},
		{"capabilities", tool0(`{"tools":{}}`, `{"tools":{ "x":1}}`), "/id"},
		{"instructions", tool0(`Be kind.`, `Be mean.`), "/id"},
		{"reason", tool0(`tool-not-object`, `tool-name-invalid`), "/rejected/0/reason"},
		{"rejected descriptor", tool0(`"descriptor":7`, `"descriptor":8`), "/rejected/1/raw"},
		{"rejected becomes a tool", tool0(`],`+"\n"+`"rejected":[`, `,`), "/tools/2"},
		{"rejected order", tool0(`{"page":0,"index":3`, `{"page":0,"index":1`), "/rejected/1/index"},
		{"negative page", tool0(`{"page":0,"index":3`, `{"page":-1,"index":3`), "/rejected/1"},
		{"unknown member", tool0(`"protocol"`, `"extra":1,"protocol"`), nil},
		{"unknown member of a tool", tool0(`"name":"b","raw"`, `"x":1,"name":"b","raw"`), "/tools/1"},
		{"unknown member of recorded", tool0(`"by":`, `"on":"x","by":`), "/recorded"},
		{"local time", tool0(`15:04:05Z`, `15:04:05+00:00`), nil},
		{"unknown bound", tool0(`"depth":`, `"deep":`), "/bounds"},
		{"member missing", tool0(`"protocol":"2026-07-28",`, ``), "/id"},
		{"order of members", tool0(`"at":"2026-12-01T15:04:05Z","by":"mcpc 0.1.0"`, `"by":"mcpc 0.1.0","at":"2026-12-01T15:04:05Z"`), nil},
		{"escape in a string of ours", tool0(`mcpc 0.1.0`, `mcpc\u00200.1.0`), nil},
		{"no newline at the end", func() []byte { return bytes.TrimSpace(good) }, nil},
		{"two newlines at the end", func() []byte { return append(slices.Clone(good), '\n') }, nil},
		{"cut off", func() []byte { return good[:10] }, nil},
		{"empty", func() []byte { return nil }, nil},
		{"byte order mark", func() []byte { return append([]byte("\xEF\xBB\xBF"), good...) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(tt.edit(), config.DefaultLimits())
			r := wantRefusal(t, err, refusal.SnapshotAltered)
			if got != nil || r.Detail("pointer") != tt.pointer {
				t.Fatalf("pointer %v, want %v", r.Detail("pointer"), tt.pointer)
			}
		})
	}
}

func replacing(t *testing.T, data []byte, old, now string) func() []byte {
	return func() []byte {
		t.Helper()
		if bytes.Count(data, []byte(old)) == 0 {
			t.Fatalf("no %q to replace", old)
		}
		return bytes.Replace(data, []byte(old), []byte(now), 1)
	}
}

// line returns the line of a document that starts so.
func line(data []byte, start string) []byte {
	for l := range bytes.Lines(data) {
		if bytes.HasPrefix(l, []byte(start)) {
			return bytes.TrimRight(l, "\n")
		}
	}
	return nil
}

// TestPIN03AnyFlippedBit holds for every byte: what is in no digest may at most become another valid document of the
// same id.
func TestPIN03AnyFlippedBit(t *testing.T) {
	t.Parallel()
	s := take(t, overHTTP, pageThen(`"1"`, tool("a"), `{"name":""}`), page(tool("b")))
	good := s.Encode()
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		got, err := Parse(bad, config.DefaultLimits())
		if err == nil && (got.ID != s.ID || !bytes.Equal(got.Encode(), bad)) {
			t.Fatalf("byte %d: accepted with id %s", i, got.ID)
		}
		if err == nil {
			for j := range got.Tools {
				if !bytes.Equal(got.Tools[j].Descriptor, s.Tools[j].Descriptor) {
					t.Fatalf("byte %d: another descriptor", i)
				}
			}
		}
	}
}
