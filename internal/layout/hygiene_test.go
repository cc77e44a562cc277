package layout

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// No file tells on which machine it was made or from which registry its dependencies came: the clients' own
// configuration says that. The words are put together here so that this file does not hold them either.
func TestNoMachineInAnyFile(t *testing.T) {
	t.Parallel()
	forbidden := []string{
		"/wo" + "rk/", "/ro" + "ot/", "/tmp/bash" + "_jobs",
		"registry.npm" + "js.org", "proxy.go" + "lang.org", "sum.go" + "lang.org", "deb." + "debian.org", "py" + "pi.org",
	}
	for _, name := range files(t) {
		data := read(t, name)
		for _, word := range forbidden {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("%s mentions %s", name, word)
			}
		}
	}
}

// A lock without hosts installs from whichever registry the client is set up for.
func TestLocksNameNoHost(t *testing.T) {
	t.Parallel()
	locks := 0
	for _, name := range files(t) {
		if path.Base(name) != "package-lock.json" {
			continue
		}
		locks++
		if bytes.Contains(read(t, name), []byte(`"resolved":`)) {
			t.Errorf("%s says where packages were fetched from", name)
		}
	}
	if locks == 0 {
		t.Error("no package-lock.json found")
	}
}

var forbiddenName = regexp.MustCompile(`(^|/)(util|utils|common|helper|helpers|manager|misc)(/|\.go$|_test\.go$)`)

// A name that says nothing is where things are put that belong elsewhere.
func TestNoFileIsCalledUtil(t *testing.T) {
	t.Parallel()
	for _, name := range files(t) {
		if strings.HasSuffix(name, ".go") && forbiddenName.MatchString(name) {
			t.Errorf("%s has a name that says nothing", name)
		}
	}
}

// Every link of our documents to a file of ours leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	for _, name := range files(t) {
		if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "testdata/") {
			continue
		}
		for _, m := range link.FindAllSubmatch(read(t, name), -1) {
			target := path.Join(path.Dir(name), string(m[1]))
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		if os.IsNotExist(err) {
			return nil // gone between listing and looking
		}
		t.Fatal(err)
	}
	return data
}
