package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mcpc/internal/config"
	"mcpc/internal/strictjson"
)

const capturedLists = 13

// captured returns the results of the tool lists of real servers, by name.
func captured(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../../testdata/captured/*.raw.jsonl")
	if err != nil || len(files) != capturedLists {
		t.Fatalf("%d lists, %v", len(files), err)
	}
	results := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		frame := bytes.TrimSpace(data)
		if err := strictjson.ValidateObject(frame, strictjson.MaxDepth); err != nil {
			t.Fatal(file, err)
		}
		result, ok := strictjson.Member(frame, "result")
		if !ok {
			t.Fatal(file, "no result")
		}
		results[strings.TrimSuffix(filepath.Base(file), ".raw.jsonl")] = result
	}
	return results
}

func TestCapturedLists(t *testing.T) {
	t.Parallel()
	var report strings.Builder
	results := captured(t)
	names := make([]string, 0, len(results))
	for name := range results {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s := take(t, overHTTP, string(results[name]))
		fmt.Fprintf(&report, "%s %s %d tools\n", name, s.ID, len(s.Tools))
		for _, r := range s.Rejected {
			fmt.Fprintf(&report, "  rejected %q %s\n", r.Name, r.Reason)
		}
		for _, note := range s.Notes() {
			fmt.Fprintf(&report, "  %s\n", note)
		}
		checkRoundTrip(t, name, s)
		checkShuffled(t, name, results[name], s)
	}
	golden(t, "testdata/golden/captured.txt", []byte(report.String()))
}

func checkRoundTrip(t *testing.T, name string, s *Snapshot) {
	t.Helper()
	got, err := Parse(s.Encode(), config.DefaultLimits())
	if err != nil {
		t.Fatal(name, err)
	}
	if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatal(name, diff)
	}
}

// checkShuffled lists the same descriptors backwards, one a page.
func checkShuffled(t *testing.T, name string, result []byte, s *Snapshot) {
	t.Helper()
	tools, _ := strictjson.Member(result, "tools")
	var pages []string
	for _, descriptor := range strictjson.Elements(tools) {
		if !bytes.Contains(result, descriptor) {
			t.Fatal(name, "not the received bytes")
		}
		pages = append(pages, string(descriptor))
	}
	slices.Reverse(pages)
	for i := range pages {
		if i+1 < len(pages) {
			pages[i] = pageThen(fmt.Sprintf(`"%d"`, i+1), pages[i])
		} else {
			pages[i] = page(pages[i])
		}
	}
	if other := take(t, overHTTP, pages...); other.ID != s.ID {
		t.Fatal(name, "list order is in the id")
	}
}
