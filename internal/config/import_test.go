package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/refusal"
)

func TestImport(t *testing.T) {
	t.Parallel()
	const nothing, whole = "has no counterpart", "the value is not one variable; name a source that gives the whole of it"
	for _, tt := range []struct {
		file, kind string
		servers    map[string]string // name to argv or URL
		dropped    []Dropped
	}{
		{"claude-desktop.json", kindClaude, map[string]string{"files": "npx -y @example/server-files /srv/data"}, []Dropped{
			{"/mcpServers/files/env/API_KEY", "the value; the name is kept, and API_KEY must be set where mcpc runs"},
			{"/mcpServers/remote/env/AUTH_HEADER", "the value; the name is kept, and AUTH_HEADER must be set where mcpc runs"},
			{"/mcpServers/remote", "the whole server: config.template at /stdio/command/5"},
		}},
		{"claude-code-mcp.json", kindClaude, map[string]string{}, []Dropped{
			{"/mcpServers/api/headers/Authorization", whole},
			{"/mcpServers/api/oauth/clientId", "a client is configured with its issuer, which the file does not say"},
			{"/mcpServers/api", "the whole server: config.template at /http/url"},
		}},
		{"cursor-mcp.json", kindClaude, map[string]string{
			"a": "https://mcp.example.com/mcp", "b": "uvx example-mcp",
		}, []Dropped{
			{"/mcpServers/a/headers/Authorization", whole},
			{"/mcpServers/b/env/TOKEN", "the value; the name is kept, and TOKEN must be set where mcpc runs"},
		}},
		{"vscode-mcp.jsonc", kindVSCode, map[string]string{"example": "https://mcp.example.com/mcp/"}, []Dropped{
			{"/inputs", nothing},
			{"/servers/example/headers/Authorization", whole},
			{"/servers/local/envFile", nothing},
			{"/servers/local", "the whole server: config.template at /stdio/command/0"},
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
	if len(im.Dropped) != 8 {
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
		`{}`:                            refusal.ConfigImport,
		`{"servers":{}}`:                refusal.ConfigImport,
		`{"mcpServers":[]}`:             refusal.ConfigImport,
		`[]`:                            refusal.ConfigSyntax,
		`{"mcpServers":{},"mcpServers"`: refusal.ConfigDuplicate,
		"[mcp_servers.a]\n":             refusal.ConfigSyntax,
		strings.Repeat(" ", MaxBytes+1): refusal.LimitConfig,
	} {
		if im, err := Import([]byte(text), "f"); im != nil || !refusal.Is(err, want) {
			t.Errorf("%.40q: %+v, %v", text, im, err)
		}
	}
}
