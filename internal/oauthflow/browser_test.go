package oauthflow

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mcpc/internal/refusal"
)

func TestBrowserCommands(t *testing.T) {
	t.Parallel()
	const u = "https://as.example.com/a?x=$(id)&y=%s"
	for choice, want := range map[string][][]string{
		"firefox":                      {{"firefox", u}},
		"firefox --new-window":         {{"firefox", "--new-window", u}},
		"w3m %s -T text/html":          {{"w3m", u, "-T", "text/html"}},
		"open --url=%s":                {{"open", "--url=" + u}},
		"a:b c::":                      {{"a", u}, {"b", "c", u}},
		`C:\ff\firefox.exe -url`:       {{`C:\ff\firefox.exe`, "-url", u}},
		"":                             {},
		" : ":                          {},
		"sh -c $(touch${IFS}x);reboot": {{"sh", "-c", "$(touch${IFS}x);reboot", u}},
	} {
		var got [][]string
		for _, c := range browserCommands(choice) {
			got = append(got, browserArgv(c, u))
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q: %q", choice, got)
		}
	}
}

func TestOpenableURLs(t *testing.T) {
	t.Parallel()
	for u, want := range map[string]bool{
		"https://as.example.com/a?b=c%20d": true, "http://127.0.0.1:8080/a": true, "http://localhost/a": true, "http://[::1]:1/": true,
		"http://as.example.com/": false, "file:///etc/passwd": false, "javascript:alert(1)": false, "-version": false, "": false,
		"https://a b/": false, "https://a/\n": false, "https://a/\x1b[0m": false, "https://u:p@a/": false, "HTTPS://a/": false,
		"https:a": false, "https://": false, " https://a/": false,
	} {
		if got := openable(u); got != want {
			t.Errorf("%q: %t", u, got)
		}
		if err := OpenBrowser(u, "/nonexistent/browser", nil); want != refusal.Is(err, refusal.OAuthBrowser) || !want && !refusal.Is(err, refusal.OAuthEndpointScheme) {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestBrowserGetsOneArgument(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "argument")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const u = "https://as.example.com/a?x=$(id)&calc=`id`;%PATH%&y='z'"
	if err := OpenBrowser(u, "/nonexistent/browser:"+self+" -flag", []string{"OAUTHFLOW_TEST_BROWSER=" + out}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil || string(got) != u {
		t.Errorf("%q %v", got, err)
	}
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"docs": "docs", "https://a.example/mcp": "https://a.example/mcp", "user:email": "user:email", "": "''",
		"a b": "'a b'", "$(id)": "'$(id)'", "it's": `'it'\''s'`, "`x`": "'`x`'", "~": "'~'", "*": "'*'", "a;b": "'a;b'", "#x": "'#x'", "!": "'!'", "a=b": "'a=b'",
	} {
		if got := shellWord(s); got != want {
			t.Errorf("%q: %s", s, got)
		}
	}
}
