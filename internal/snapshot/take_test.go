package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

func TestTakeKeepsReceivedBytes(t *testing.T) {
	t.Parallel()
	raw := `{ "name" : "a" ,"inputSchema":{"type":"object","x":1.0},"n":9007199254740993,"t":"\u00e9\/", "_meta":{}}`
	s := take(t, overHTTP, `{"tools":[ `+raw+" ,\n"+tool("b")+`],"_meta":{"x":1}}`)
	if got := string(s.Tools[0].Descriptor); got != raw {
		t.Fatalf("kept %s", got)
	}
	if s.Tools[0].Raw != strictjson.Sum([]byte(raw)) || s.Tools[0].Raw == s.Tools[0].Digest {
		t.Fatal("raw is not over the received bytes")
	}
	if s.Tools[1].Raw != s.Tools[1].Digest && tool("b") == `{"inputSchema":`+object+`,"name":"b"}` {
		t.Fatal("canonical bytes have one digest")
	}
}

func TestTakeHoldsOnToNoPage(t *testing.T) {
	t.Parallel()
	result := []byte(page(tool("a"), tool("b")))
	f := &fakeList{next: func(*string) (string, error) { return "", nil }}
	s, err := Take(t.Context(), reusing{f, result}, contextOf(overHTTP))
	if err != nil {
		t.Fatal(err)
	}
	clear(result)
	if string(s.Tools[1].Descriptor) != tool("b") {
		t.Fatal("a descriptor is a slice of the page")
	}
}

type reusing struct {
	*fakeList
	result []byte
}

func (r reusing) ListPage(context.Context, *string) ([]byte, error) { return r.result, nil }

func TestTakePaging(t *testing.T) {
	t.Parallel()
	counting := func(from int) func(*string) (string, error) {
		n := from
		return func(*string) (string, error) {
			n++
			return pageThen(fmt.Sprintf(`"c%d"`, n), tool(fmt.Sprintf("t%d", n))), nil
		}
	}
	tests := []struct {
		name    string
		list    fakeList
		want    *refusal.Entry
		page    any // detail of the refusal
		tools   int
		cursors string // asked for
	}{
		{name: "one page", list: fakeList{pages: []string{page(tool("a"))}}, tools: 1, cursors: "none"},
		{name: "no tools", list: fakeList{pages: []string{page()}}, cursors: "none"},
		{name: "null ends", list: fakeList{pages: []string{pageThen("null", tool("a"))}}, tools: 1, cursors: "none"},
		{
			name:  "three pages",
			list:  fakeList{pages: []string{pageThen(`"1"`, tool("a")), pageThen(`"2"`), page(tool("b"))}},
			tools: 2, cursors: "none 1 2",
		},
		{
			name: "PAG-01 an empty cursor is sent in the modern era, and repeated",
			list: fakeList{pages: []string{pageThen(`""`, tool("a"))}},
			want: refusal.ProtocolCursorRepeated, page: int64(1), cursors: "none ",
		},
		{
			name: "PAG-01 an empty cursor ends the list in the legacy era",
			list: fakeList{legacy: true, pages: []string{pageThen(`""`, tool("a"))}}, tools: 1, cursors: "none",
		},
		{
			name: "PAG-03 the only page names itself",
			list: fakeList{next: func(*string) (string, error) { return pageThen(`"8"`, tool("a")), nil }},
			want: refusal.ProtocolCursorRepeated, page: int64(1), cursors: "none 8",
		},
		{
			name: "PAG-03 a loop of two",
			list: fakeList{pages: []string{pageThen(`"1"`, tool("a")), pageThen(`"2"`, tool("b")), pageThen(`"\u0031"`)}},
			want: refusal.ProtocolCursorRepeated, page: int64(2), cursors: "none 1 2",
		},
		{name: "PAG-04 fresh cursors for ever", list: fakeList{next: counting(0)}, want: refusal.LimitPages},
		{name: "a number for a cursor", list: fakeList{pages: []string{pageThen("1")}}, want: refusal.ProtocolResult, cursors: "none"},
		{name: "an array for a cursor", list: fakeList{pages: []string{pageThen("[]")}}, want: refusal.ProtocolResult, cursors: "none"},
		{name: "no tools member", list: fakeList{pages: []string{`{}`}}, want: refusal.ProtocolResult, cursors: "none"},
		{name: "tools is null", list: fakeList{pages: []string{`{"tools":null}`}}, want: refusal.ProtocolResult, cursors: "none"},
		{name: "tools is an object", list: fakeList{pages: []string{`{"tools":{}}`}}, want: refusal.ProtocolResult, cursors: "none"},
		{name: "the result is an array", list: fakeList{pages: []string{`[]`}}, want: refusal.ProtocolResult, cursors: "none"},
		{name: "the result is nothing", list: fakeList{pages: []string{``}}, want: refusal.ProtocolResult, cursors: "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Take(t.Context(), &tt.list, contextOf(overHTTP))
			asked := strings.Join(tt.list.asked, " ")
			if tt.want == refusal.LimitPages {
				if len(tt.list.asked) != 256 {
					t.Fatalf("asked %d times", len(tt.list.asked))
				}
			} else if asked != tt.cursors {
				t.Fatalf("asked for %q, want %q", asked, tt.cursors)
			}
			if tt.want == nil {
				if err != nil || len(s.Tools) != tt.tools {
					t.Fatalf("%v, %v", s, err)
				}
				return
			}
			r := wantRefusal(t, err, tt.want)
			if s != nil || (tt.page != nil && r.Detail("page") != tt.page) {
				t.Fatalf("snapshot %v, page %v", s, r.Detail("page"))
			}
		})
	}
}

func TestTakeJudgesTheCursorBeforeTheTools(t *testing.T) {
	t.Parallel()
	c := contextOf(overHTTP)
	c.Limits.Tools = 1
	f := &fakeList{next: func(*string) (string, error) { return pageThen(`"x"`, tool("a")), nil }}
	_, err := Take(t.Context(), f, c)
	wantRefusal(t, err, refusal.ProtocolCursorRepeated)
}

func TestTakeAtTheLimits(t *testing.T) {
	t.Parallel()
	three := func(l *config.Limits) fakeList {
		return fakeList{pages: []string{pageThen(`"1"`, tool("a")), pageThen(`"2"`, `null`), page(tool("c"))}}
	}
	small := contextOf(overHTTP)
	small.Limits.SnapshotBytes = 999 // three digits, as the bound that is written into the document below
	two, err := Take(t.Context(), &fakeList{pages: []string{page(tool("a"), tool("b"))}}, small)
	if err != nil {
		t.Fatal(err)
	}
	size := two.size()
	limits := []struct {
		name string
		set  func(*config.Limits, int64)
		max  int64 // what the list needs
		list func(*config.Limits) fakeList
		want *refusal.Entry
	}{
		{"pages", func(l *config.Limits, n int64) { l.Pages = n }, 3, three, refusal.LimitPages},
		{"tools, the rejected included", func(l *config.Limits, n int64) { l.Tools = n }, 3, three, refusal.LimitTools},
		{"cursor", func(l *config.Limits, n int64) { l.CursorBytes = n }, 6, func(*config.Limits) fakeList {
			list := fakeList{next: func(c *string) (string, error) {
				if c == nil {
					return pageThen(`"\u00e9\u00e9\u00e9"`), nil // six bytes of UTF-8
				}
				return page(), nil
			}}
			return list
		}, refusal.LimitCursor},
		{"descriptor", func(l *config.Limits, n int64) { l.DescriptorBytes = n }, int64(len(tool("abc"))), func(*config.Limits) fakeList {
			return fakeList{pages: []string{page(tool("a"), " "+tool("abc")+" ")}}
		}, refusal.LimitDescriptor},
		{"snapshot", func(l *config.Limits, n int64) { l.SnapshotBytes = n }, size, func(*config.Limits) fakeList {
			return fakeList{pages: []string{page(tool("a"), tool("b"))}}
		}, refusal.LimitSnapshot},
	}
	for _, tt := range limits {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, over := range []int64{1, 0, -1} { // limit = need+1, need, need-1
				c := contextOf(overHTTP)
				tt.set(&c.Limits, tt.max+over)
				list := tt.list(&c.Limits)
				s, err := Take(t.Context(), &list, c)
				if over >= 0 {
					if err != nil {
						t.Fatalf("limit %d refuses what needs %d: %v", tt.max+over, tt.max, err)
					}
					continue
				}
				r := wantRefusal(t, err, tt.want)
				if s != nil || r.Detail("limit") != tt.max+over {
					t.Fatalf("snapshot %v, limit %v", s, r.Detail("limit"))
				}
				if tt.want == refusal.LimitDescriptor && (r.Detail("index") != int64(1) || r.Detail("page") != int64(0)) {
					t.Fatalf("page %v index %v", r.Detail("page"), r.Detail("index"))
				}
			}
		})
	}
}

func TestLIM03EndlessListsEndByName(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 200<<10)
	n := 0
	f := &fakeList{next: func(*string) (string, error) {
		n++
		return pageThen(fmt.Sprintf(`"c%d"`, n), `{"name":"t`+fmt.Sprint(n)+`","description":"`+big+`","inputSchema":{}}`), nil
	}}
	c := contextOf(overHTTP)
	c.Limits.SnapshotBytes = 4 << 20
	_, err := Take(t.Context(), f, c)
	wantRefusal(t, err, refusal.LimitSnapshot)
	if len(f.asked) > 21 {
		t.Fatalf("asked for %d pages of 200 KiB under a bound of 4 MiB", len(f.asked))
	}
	many := make([]string, 50)
	for i := range many {
		many[i] = tool(fmt.Sprint("t", i))
	}
	s := take(t, overHTTP, page(many...))
	if len(s.Tools) != 50 {
		t.Fatal(len(s.Tools))
	}
}

func TestTakeRestartsWhenTheListChanged(t *testing.T) {
	t.Parallel()
	pages := []string{pageThen(`"1"`, tool("a")), page(tool("b"))}
	for _, tt := range []struct {
		name    string
		changes []int
		asked   string
		stable  bool
	}{
		{"never", nil, "none 1", true},
		{"with the first page", []int{1}, "none none 1", true},
		{"with the last page", []int{0, 500}, "none 1 none 1", true},
		{"twice", []int{0, 1, 1}, "none 1 none none 1", true},
		{"three times", []int{0, 1, 1, 0, 1}, "none 1 none none 1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fakeList{pages: pages, changes: tt.changes}
			s, err := Take(t.Context(), f, contextOf(overHTTP))
			if got := strings.Join(f.asked, " "); got != tt.asked {
				t.Fatalf("asked %q", got)
			}
			if !tt.stable {
				if r := wantRefusal(t, err, refusal.ProtocolUnstable); r.Detail("tries") != int64(3) || s != nil {
					t.Fatal(r, s)
				}
				return
			}
			if err != nil || len(s.Tools) != 2 {
				t.Fatal(s, err)
			}
		})
	}
}

func TestTakeEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		f := &fakeList{next: func(*string) (string, error) {
			n++
			time.Sleep(59 * time.Second) // within the deadline of one request
			return pageThen(fmt.Sprintf(`"c%d"`, n)), nil
		}}
		_, err := Take(t.Context(), f, contextOf(overHTTP))
		if r := wantRefusal(t, err, refusal.DeadlineDiscovery); r.Detail("limit") != int64(600_000) {
			t.Fatal(r)
		}
	})
}

func TestTakeInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f := &fakeList{next: func(*string) (string, error) { cancel(); return pageThen(`"x"`), nil }}
	_, err := Take(ctx, f, contextOf(overHTTP))
	wantRefusal(t, err, refusal.Interrupted)
}

func TestTakePassesTheSessionsErrorOn(t *testing.T) {
	t.Parallel()
	own := errors.New("from the session")
	f := &fakeList{next: func(*string) (string, error) { return "", own }}
	if s, err := Take(t.Context(), f, contextOf(overHTTP)); !errors.Is(err, own) || s != nil {
		t.Fatal(s, err)
	}
}

func TestTakeRefusesWhatIsNotStrict(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]string{
		"duplicate member": page(`{"name":"a","name":"b","inputSchema":{}}`),
		"invalid UTF-8":    page("{\"name\":\"a\xff\",\"inputSchema\":{}}"),
		"lone surrogate":   page(`{"name":"\ud800","inputSchema":{}}`),
	} {
		s, err := Take(t.Context(), &fakeList{pages: []string{result}}, contextOf(overHTTP))
		if wantRefusal(t, err, refusal.ProtocolResult); s != nil {
			t.Fatal(name)
		}
	}
	c := contextOf(overHTTP)
	c.Handshake = []byte(`{"capabilities":{},"capabilities":{}}`)
	_, err := Take(t.Context(), &fakeList{pages: []string{page()}}, c)
	wantRefusal(t, err, refusal.ProtocolResult)
}

func TestTakeRecords(t *testing.T) {
	t.Parallel()
	c := contextOf(overStdio)
	c.Recorded.At = time.Date(2026, 12, 1, 16, 4, 5, 9, time.FixedZone("CET", 3600))
	c.Recorded.Executable, c.Recorded.Env = "/opt/\xffnode", []string{"PATH", "HOME"}
	c.Auth = &Auth{Kind: "oauth", Scopes: []string{"read"}}
	s, err := Take(t.Context(), &fakeList{pages: []string{page()}}, c)
	if err != nil {
		t.Fatal(err)
	}
	want := Recorded{At: time.Date(2026, 12, 1, 15, 4, 5, 0, time.UTC), By: "mcpc 0.1.0", Executable: "/opt/\uFFFDnode", Env: []string{"PATH", "HOME"}}
	if diff := cmp.Diff(want, s.Recorded); diff != "" {
		t.Fatal(diff)
	}
	if s.Auth == c.Auth || s.Auth.Kind != "oauth" {
		t.Fatal("the auth context is not the snapshot's own")
	}
	if len(s.Bounds) != len(relevant) || s.Bounds[3] != (Bound{"tools", 5000}) {
		t.Fatal(s.Bounds)
	}
}

func TestLookups(t *testing.T) {
	t.Parallel()
	s := take(t, overHTTP, page(tool("a"), tool("b"), tool("b"), `{"name":"c"}`, `{}`))
	if found, ok := s.Tool("a"); !ok || !bytes.Equal(found.Descriptor, []byte(tool("a"))) {
		t.Fatal("a")
	}
	for _, name := range []string{"b", "A", "", "c"} {
		if _, ok := s.Tool(name); ok {
			t.Errorf("%q is no tool", name)
		}
	}
	for name, want := range map[string]string{"b": ReasonDuplicate, "c": ReasonInputSchema, "a": "", "": ""} {
		if got, ok := s.RejectedAs(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q", name, got)
		}
	}
}
