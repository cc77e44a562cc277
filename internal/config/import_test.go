package config

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/refusal"
)

func TestImport(t *testing.T) {
	t.Parallel()
	const nothing = "has no counterpart"
	const whole = "the value is not one variable; name a source that gives the whole of it"
	const argument = "the argument; it looks like a secret, or is the flag of one"
	for _, tt := range []struct {
		file, kind string
		servers    map[string]string // name to argv or URL
		dropped    []Dropped
	}{
		{"claude-desktop.json", kindClaude, map[string]string{
			"files":  "npx -y @example/server-files /srv/data",
			"remote": "npx -y mcp-remote@latest https://mcp.example.com/mcp",
		}, []Dropped{
			{
				"/mcpServers/files/env/API_KEY",
				"the value, which is that of EXAMPLE_API_KEY; the name is kept, and API_KEY must be set where mcpc runs",
			},
			{"/mcpServers/remote/env/AUTH_HEADER", "the value; the name is kept, and AUTH_HEADER must be set where mcpc runs"},
			{"/mcpServers/remote/args/3", argument},
			{"/mcpServers/remote/args/4", argument},
		}},
		{"claude-code-mcp.json", kindClaude, map[string]string{}, []Dropped{
			{"/mcpServers/api/headers/Authorization", whole},
			{"/mcpServers/api/oauth/clientId", "a client is configured with its issuer, which the file does not say"},
			{"/mcpServers/api", "the whole server: a variable in /url, where none is expanded"},
		}},
		{"cursor-mcp.json", kindClaude, map[string]string{
			"a": "https://mcp.example.com/mcp", "b": "uvx example-mcp",
		}, []Dropped{
			{"/mcpServers/a/headers/Authorization", whole},
			{"/mcpServers/b/env/TOKEN", "the value; the name is kept, and TOKEN must be set where mcpc runs"},
		}},
		{"vscode-mcp.jsonc", kindVSCode, map[string]string{"example": "https://mcp.example.com/mcp/"}, []Dropped{
			{"", "comments"},
			{"/inputs", nothing},
			{"/servers/example/headers/Authorization", whole},
			{"/servers/local/envFile", nothing},
			{"/servers/local", "the whole server: a variable in /command, where none is expanded"},
		}},
		{"gemini-settings.json", kindGemini, map[string]string{"r": "https://mcp.example.com/mcp"}, []Dropped{
			{"/mcpServers/r/timeout", nothing},
			{"/mcpServers/r/trust", nothing},
			{"/mcpServers/r/includeTools", nothing},
			{"/mcpServers/r/oauth/enabled", nothing},
		}},
		{"windows-npx.json", kindClaude, map[string]string{
			"w": "cmd /c npx -y @example/server --query a & b %USERPROFILE%",
		}, []Dropped{
			{"/mcpServers/w/env/Path", "the value; the name is kept, and Path must be set where mcpc runs"},
		}},
		{"codex-config.toml", kindCodex, map[string]string{
			"docs": "npx -y @example/docs-mcp", "remote": "https://mcp.example.com/mcp",
		}, []Dropped{
			{"/mcp_servers/docs/startup_timeout_sec", nothing},
			{
				"/mcp_servers/remote/bearer_token_env_var",
				"the variable holds a token without the word Bearer before it; name a source that gives the whole header",
			},
		}},
		{"broken-bom-dup-trailing.json", kindVSCode, map[string]string{"a": "https://evil.example/mcp"}, []Dropped{
			{"/servers/a", "stands there more than once; the last one counts"},
		}},
		{"broken-args-string.json", kindVSCode, map[string]string{}, []Dropped{
			{"/servers/a", "the whole server: args is not an array of strings"},
			{"/servers/b", "the whole server: args is not an array of strings"},
		}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/foreign/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			im, err := Import(data, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Parse(im.Config, "config.json")
			if err != nil {
				t.Fatalf("%v\n%s", err, im.Config)
			}
			got := map[string]string{}
			for name, s := range c.Servers {
				if got[name] = ""; s.HTTP != nil {
					got[name] = s.HTTP.URL
				} else {
					got[name] = strings.Join(s.Stdio.Command, " ")
				}
			}
			if diff := cmp.Diff(tt.servers, got); diff != "" || im.Kind != tt.kind {
				t.Error(im.Kind, diff)
			}
			if diff := cmp.Diff(tt.dropped, im.Dropped); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestImportKeepsNamesAndNoValues(t *testing.T) {
	t.Parallel()
	im, err := Import([]byte(`{"mcpServers":{
	  "h":{"type":"http","url":"https://h.example/mcp","headers":{"X-A":"${A_KEY}","X-B":"${env:B_KEY}","X-C":"$C_KEY",
	       "X-D":"canary","X-E":"Bearer ${E_KEY}","X-F":"${input:f}","X-G":"${G:-canary}"},
	       "oauth":{"scopes":["read"],"callbackPort":3118}},
	  "s":{"command":"x","env":{"LOG":"canary","PATH":"/canary"}},
	  "k":{"command":"x","args":["--token","canary"]},
	  "e":{"type":"sse","url":"https://h.example/sse"}}}`), "f.json")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "servers": {
    "h": {
      "http": {
        "url": "https://h.example/mcp",
        "headers": {
          "X-A": {
            "env": "A_KEY"
          },
          "X-B": {
            "env": "B_KEY"
          },
          "X-C": {
            "env": "C_KEY"
          }
        }
      },
      "oauth": {
        "scopes": [
          "read"
        ],
        "callback": "127.0.0.1:3118"
      }
    },
    "k": {
      "stdio": {
        "command": [
          "x"
        ],
        "env": [
          "HOME",
          "PATH"
        ]
      }
    },
    "s": {
      "stdio": {
        "command": [
          "x"
        ],
        "env": [
          "HOME",
          "LOG",
          "PATH"
        ]
      }
    }
  }
}
`
	if diff := cmp.Diff(want, string(im.Config)); diff != "" {
		t.Fatal(diff)
	}
	for _, d := range im.Dropped {
		if strings.Contains(d.Pointer+d.Reason, "canary") {
			t.Errorf("a value is in %+v", d)
		}
	}
	if len(im.Dropped) != 9 {
		t.Errorf("dropped: %+v", im.Dropped)
	}
}

func TestImportKeepsTheFirstOfAName(t *testing.T) {
	t.Parallel()
	im, err := Import([]byte(`{"mcpServers":{"a":{"command":"x"}},"servers":{"a":{"command":"y"}}}`), "f.json")
	if err != nil || strings.Contains(string(im.Config), `"y"`) {
		t.Fatal(im, err)
	}
	want := []Dropped{{"/servers/a", "the whole server: another of that name came before"}}
	if diff := cmp.Diff(want, im.Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestImportRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*refusal.Entry{
		`{}`:                                  refusal.ConfigImport,
		`{"servers":{}}`:                      refusal.ConfigImport,
		`{"mcpServers":[]}`:                   refusal.ConfigImport,
		`[]`:                                  refusal.ConfigSyntax,
		`{"mcpServers":{},"mcpServers"`:       refusal.ConfigSyntax,
		"[mcp_servers.a\n":                    refusal.ConfigSyntax,
		"[mcp_servers.a]\nx = \"":             refusal.ConfigSyntax,
		`{"mcpServers":{},"mcpServers":{}} x`: refusal.ConfigSyntax,
		strings.Repeat(" ", MaxBytes+1):       refusal.LimitConfig,
	} {
		if im, err := Import([]byte(text), "f"); im != nil || !refusal.Is(err, want) {
			t.Errorf("%.40q: %+v, %v", text, im, err)
		}
	}
}

// The file as editors and shells on Windows leave it, and as people write it.
func TestImportIsTolerant(t *testing.T) {
	t.Parallel()
	const text = `{"mcpServers":{"ä😀":{"command":"x","args":["1"],"args":["2"]}}}`
	units := utf16.Encode([]rune(text))
	little, big := []byte{}, []byte{}
	for _, u := range units {
		little, big = append(little, byte(u), byte(u>>8)), append(big, byte(u>>8), byte(u))
	}
	plain, err := Import([]byte(text), "f")
	if err != nil || !strings.Contains(string(plain.Config), `"2"`) || strings.Contains(string(plain.Config), `"1"`) {
		t.Fatalf("%+v, %v", plain, err)
	}
	want := []Dropped{{"/mcpServers/ä😀/args", "stands there more than once; the last one counts"}}
	if !cmp.Equal(plain.Dropped, want) {
		t.Error(plain.Dropped)
	}
	for name, data := range map[string][]byte{
		"UTF-8 with a mark":     append([]byte("\xEF\xBB\xBF"), text...),
		"UTF-16LE with a mark":  append([]byte("\xFF\xFE"), little...),
		"UTF-16BE with a mark":  append([]byte("\xFE\xFF"), big...),
		"UTF-16LE without mark": little,
		"UTF-16BE without mark": big,
		"trailing commas":       []byte(strings.ReplaceAll(text, "}}}", "},},}")),
		"CRLF":                  []byte(strings.ReplaceAll(text, ":", ":\r\n")),
	} {
		im, err := Import(data, "f")
		if err != nil || !bytes.Equal(im.Config, plain.Config) {
			t.Errorf("%s: %+v, %v", name, im, err)
		}
	}
}

// Wherever a secret stands, it stays behind, and its place is said.
func TestImportLeavesSecretsBehind(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`"--token","canary","--quiet"`:                "x --quiet | 0 1",
		`"--api-key=canary","go"`:                     "x go | 0",
		`"--header","X-Thing: canary"`:                "x | 0 1",
		`"-H","Authorization: Bearer canary"`:         "x | 0 1",
		`"--header=X-Thing: canary","b"`:              "x b | 0",
		`"-H","localhost:8080"`:                       "x -H localhost:8080 |",
		`"run","-i","-e","API_TOKEN=canary","img"`:    "x run -i img | 2 3",
		`"run","-e","LOG=debug","img"`:                "x run -e LOG=debug img |",
		`"ghp_canary0123456789"`:                      "x | 0",
		`"postgres://u:canary@h/db"`:                  "x | 0",
		`"--token","--quiet"`:                         "x --token --quiet |",
		`"--token-file","canary-path"`:                "x --token-file canary-path |",
		`"--bypass","5"`:                              "x --bypass 5 |",
		`"-c","serve --token canary"`:                 "whole: a secret in /args/1",
		`"a","-c","export API_KEY=canary; serve"`:     "whole: a secret in /args/2",
		`"--password","canary","${HOME}/x"`:           "whole: a variable in /args/2, where none is expanded",
		`"--authorization","Bearer canary0123456789"`: "x | 0 1",
	} {
		im, err := Import([]byte(`{"mcpServers":{"k":{"command":"x","args":[`+args+`]}}}`), "f")
		if err != nil {
			t.Fatal(args, err)
		}
		if got := outcome(t, im); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
		if strings.Contains(strings.ReplaceAll(string(im.Config), "canary-path", ""), "canary") {
			t.Errorf("%s: the secret is in %s", args, im.Config)
		}
	}
}

func outcome(t *testing.T, im *Imported) string {
	t.Helper()
	c, err := Parse(im.Config, "")
	if err != nil {
		t.Fatal(err)
	}
	last := Dropped{}
	indexes := ""
	for _, d := range im.Dropped {
		last = d
		if i, ok := strings.CutPrefix(d.Pointer, "/mcpServers/k/args/"); ok {
			indexes += " " + i
		}
		if strings.Contains(d.Pointer+d.Reason, "canary") {
			t.Errorf("the secret is in %+v", d)
		}
	}
	if s := c.Servers["k"]; s != nil {
		return strings.Join(s.Stdio.Command, " ") + " |" + indexes
	}
	return "whole: " + strings.TrimPrefix(last.Reason, "the whole server: ")
}

func TestImportCodex(t *testing.T) {
	t.Parallel()
	im, err := Import([]byte(`# mine
model = "x"
[mcp_servers.b]
url = "https://b.example/mcp"
http_headers = { "X-Literal" = "canary" }
env_http_headers = { "X-Named" = "B_KEY" }
enabled_tools = ["one"]
[mcp_servers.a]
command = "run"
args = ["--token", "canary", "go"]
env = { A = "canary" }
env_vars = ["B", "C"]
`), "config.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(im.Config, "")
	if err != nil {
		t.Fatal(err)
	}
	a := c.Servers["a"].Stdio
	if !cmp.Equal(a.Command, []string{"run", "go"}) || !cmp.Equal(a.Env, []string{"A", "B", "C", "HOME", "PATH"}) {
		t.Errorf("%+v", a)
	}
	if b := c.Servers["b"].HTTP; len(b.Headers) != 1 || b.Headers[0].Source.Env != "B_KEY" {
		t.Errorf("%+v", b)
	}
	var places []string
	for _, d := range im.Dropped {
		places = append(places, d.Pointer)
	}
	want := []string{
		"/model", "/mcp_servers/b/http_headers/X-Literal", "/mcp_servers/b/enabled_tools", "/mcp_servers/a/env/A",
		"/mcp_servers/a/args/0", "/mcp_servers/a/args/1",
	}
	if diff := cmp.Diff(want, places); diff != "" || strings.Contains(string(im.Config), "canary") {
		t.Error(diff)
	}
}

// Nesting that a reader would follow down the stack is refused, and quickly.
func TestImportBoundsNesting(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"mcpServers":` + strings.Repeat("[", 500_000),
		`{"a":1,"a":` + strings.Repeat("[", 500_000),
		"[mcp_servers.a]\nx = " + strings.Repeat("[", 500_000),
		"[mcp_servers.a]\n" + strings.Repeat("a.", 300_000) + "b = 1",
	} {
		if im, err := Import([]byte(text), "f"); im != nil || !refusal.Is(err, refusal.LimitDepth) {
			t.Errorf("%.30q: %+v, %v", text, im, err)
		}
	}
}

func TestImportReadsTheServersOfProjects(t *testing.T) {
	t.Parallel()
	im, err := Import([]byte(`{"numStartups":3,"mcpServers":{"a":{"command":"x"}},
	  "projects":{"/home/me/p":{"mcpServers":{"b":{"command":"y"}},"history":["canary"]}}}`), "f")
	if err != nil || im.Servers != 2 {
		t.Fatalf("%+v, %v", im, err)
	}
	want := []Dropped{{"/numStartups", "has no counterpart"}, {"/projects/~1home~1me~1p/history", "has no counterpart"}}
	if diff := cmp.Diff(want, im.Dropped); diff != "" {
		t.Error(diff)
	}
}

// A member of the wrong type ends its server and leaves the others, whatever the member.
func TestImportDropsServersOfTheWrongType(t *testing.T) {
	t.Parallel()
	for _, member := range []string{`"command": 5`, `"command": null`, `"url": []`, `"httpUrl": {}`, `"command": "a", "cwd": 1`} {
		text := `{"mcpServers": {"bad": {` + member + `}, "good": {"command": "node"}}}`
		im, err := Import([]byte(text), "")
		if err != nil {
			t.Errorf("%s: %v", member, err)
			continue
		}
		if im.Servers != 1 || len(im.Dropped) != 1 || !strings.HasSuffix(im.Dropped[0].Reason, "is not a string") {
			t.Errorf("%s: %d servers, dropped %v", member, im.Servers, im.Dropped)
		}
	}
}
