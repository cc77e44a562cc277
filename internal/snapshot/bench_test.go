package snapshot

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"mcpc/internal/config"
)

// largeList has n descriptors of 0.7 kB on pages of 1000.
func largeList(n int) *fakeList {
	text := strings.Repeat("Says at the usual length what it does. ", 8)
	f := &fakeList{}
	for start := 0; start < n; start += 1000 {
		var tools []string
		for i := start; i < min(start+1000, n); i++ {
			tools = append(tools, fmt.Sprintf(`{"name":"tool_%05d","title":"Tool %d","description":"%s\n","inputSchema":`+
				`{"type":"object","properties":{"path":{"type":"string","description":"where"},"limit":{"type":"integer",`+
				`"minimum":1,"maximum":9007199254740993}},"required":["path"],"additionalProperties":false},`+
				`"annotations":{"readOnlyHint":true},"_meta":{"x":%d}}`, i, i, text, i))
		}
		if start+1000 < n {
			f.pages = append(f.pages, pageThen(fmt.Sprintf("%q", fmt.Sprint(len(f.pages)+1)), tools...))
		} else {
			f.pages = append(f.pages, page(tools...))
		}
	}
	return f
}

func large() Context {
	c := contextOf(overHTTP)
	c.Limits.Tools = 10000
	return c
}

func BenchmarkTake10000(b *testing.B) {
	f, c := largeList(10000), large()
	b.ReportAllocs()
	for b.Loop() {
		if s, err := Take(b.Context(), f, c); err != nil || len(s.Tools) != 10000 {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	s, err := Take(b.Context(), largeList(10000), large())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(s.size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	s, err := Take(b.Context(), largeList(10000), large())
	if err != nil {
		b.Fatal(err)
	}
	data, limits := s.Encode(), config.DefaultLimits()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data, limits); err != nil {
			b.Fatal(err)
		}
	}
}
