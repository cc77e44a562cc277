package custody

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpc/internal/oauthflow/oauthtest"
)

// A sealed file that was altered, or is not the one of its place, does not open, and no command but a sign-in writes to
// it, which keeps it under another name. That holds at every byte and for every pair in the tests of internal/store;
// here the commands are at it.
func TestAlteredFilesStayShut(t *testing.T) {
	t.Parallel()
	p, docsWorld := signedIn(t)
	docsFile := soleCredential(t, p)
	notes := newWorld(t)
	p.configure(object{
		"docs":  object{"http": object{"url": docsWorld.Endpoint()}},
		"notes": object{"http": object{"url": notes.Endpoint()}},
	}, p.keyFile())
	p.must(0, "", "login", "notes")
	var notesFile string
	for path, data := range credentials(p) {
		if bytes.Contains(data, []byte(notes.Endpoint())) {
			notesFile = path
		}
	}
	whole, other := read(t, docsFile), read(t, notesFile)

	for i := 0; i < len(whole); i += 1 + len(whole)/24 {
		data := bytes.Clone(whole)
		data[i] ^= 1
		staysShut(t, p, docsWorld, docsFile, data)
	}
	staysShut(t, p, docsWorld, docsFile, other) // of another resource and issuer
	staysShut(t, p, docsWorld, docsFile, bytes.Replace(whole, []byte(docsWorld.AS.URL), []byte(notes.AS.URL), 1))
	staysShut(t, p, docsWorld, docsFile, whole[:len(whole)-1])

	// Exchanged for each other, neither opens, and each opens again in its own place.
	p.write(docsFile, string(other))
	p.write(notesFile, string(whole))
	p.must(3, "custody.altered", "discover", "docs")
	p.must(3, "custody.altered", "discover", "notes")
	p.write(docsFile, string(whole))
	p.write(notesFile, string(other))
	p.must(0, "", "discover", "docs")
	p.must(0, "", "discover", "notes")

	p.write(docsFile, string(other))
	p.must(0, "", "login", "docs")
	if !bytes.Equal(read(t, docsFile+".unopened-1"), other) {
		t.Error("the file that did not open was not kept")
	}
	p.must(0, "", "discover", "docs")
}

// staysShut puts data in the place of a credential. Commands refuse it by name; none sends anything with it, and none
// changes it, also where the token has expired.
func staysShut(t *testing.T, p *person, w *oauthtest.World, path string, data []byte) {
	t.Helper()
	p.write(path, string(data))
	before := p.sealed()
	w.ResetLog()
	p.must(3, "custody.altered", "discover", "docs")
	w.Expire()
	p.must(3, "custody.altered", "discover", "docs", "--json")
	if sent := w.Requests(tokenLine); len(sent) != 0 {
		t.Errorf("%d token requests", len(sent))
	}
	if !maps.EqualFunc(before, p.sealed(), bytes.Equal) {
		t.Error("a refusal changed a file")
	}
}

// credentials returns the sealed files that hold a credential.
func credentials(p *person) map[string][]byte {
	all := p.sealed()
	maps.DeleteFunc(all, func(_ string, data []byte) bool {
		line, _, _ := strings.Cut(string(data), "\n")
		return !strings.Contains(line, `"credential/1"`)
	})
	return all
}

func soleCredential(t *testing.T, p *person) string {
	t.Helper()
	paths := slices.Collect(maps.Keys(credentials(p)))
	if len(paths) != 1 {
		t.Fatal(paths)
	}
	return filepath.Clean(paths[0])
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
