package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/refusal"
)

func TestParseReadsEveryMember(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "mcpc")
	c, err := Parse([]byte(`{
	  "servers": {
	    "s": {"stdio": {"command": ["x", "a b"], "env": ["PATH"], "cwd": "/srv", "stdout_noise": "skip"},
	          "protocol": "2025-11-25", "accept_protocols": ["2024-11-05"], "limits": {"call_ms": 7, "tools": 3}},
	    "h": {"http": {"url": "https://h.example/Mcp?q=1", 
	          "headers": {"X-A": {"env": "A"}, "X-B": {"file": "b"}}, "ca_file": "ca.pem"},
	          "oauth": {"issuer": "https://as.example", "client": {"id": "c", "issuer": "https://as.example",
	             "secret": {"keyring": {"service": "s", "account": "a"}}},
	             "client_metadata_url": "https://c.example/m.json", "scopes": ["r"], "callback": "127.0.0.1:4000"},
	          "authority": "h.authority.json"}},
	  "custody": {"key": {"command": ["pass", "mcpc"]}}}`), filepath.Join(folder, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	limits := DefaultLimits()
	limits.Call, limits.Tools = 7*time.Millisecond, 3
	want := &Config{
		Path: filepath.Join(folder, "config.json"),
		Servers: map[string]*Server{
			"s": {
				Name:     "s",
				Stdio:    &Stdio{Command: []string{"x", "a b"}, Env: []string{"PATH"}, Cwd: "/srv", SkipNoise: true},
				Protocol: "2025-11-25", AcceptProtocols: []string{"2024-11-05"}, Limits: limits,
			},
			"h": {
				Name: "h",
				HTTP: &HTTP{
					URL:     "https://h.example/Mcp?q=1",
					Headers: []Header{{"X-A", Source{Env: "A"}}, {"X-B", Source{File: filepath.Join(folder, "b")}}},
					CAFile:  filepath.Join(folder, "ca.pem"),
				},
				OAuth: &OAuth{
					Issuer: "https://as.example",
					Client: &Client{
						ID: "c", Issuer: "https://as.example",
						Secret: &Source{Keyring: &KeyringItem{Service: "s", Account: "a"}},
					},
					ClientMetadataURL: "https://c.example/m.json", Scopes: []string{"r"}, Callback: "127.0.0.1:4000",
				},
				Authority: filepath.Join(folder, "h.authority.json"), Limits: DefaultLimits(),
			},
		},
		Custody: Custody{Key: Source{Command: []string{"pass", "mcpc"}}},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Fatal(diff)
	}
}

func TestParsePlacesSyntax(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, fault string
		line, column      int64
	}{
		{"comment", "{\n  // c\n}", "comment", 2, 3},
		{"trailing comma", "{\n\"servers\": {},\n}", "trailing comma", 2, 14},
		{"comma in an array", `{"servers":{"a":{"stdio":{"command":["x",]}}}}`, "trailing comma", 1, 41},
		{"comment before an error", "/* c */ {'a'}", "comment", 1, 1},
		{"slashes in a string are none", `{"a//b": ,1}`, "syntax", 1, 10},
		{"byte order mark", "\xEF\xBB\xBF{}", "byte order mark", 1, 1},
		{"utf-16", "\xFF\xFE{\x00", "UTF-16 text", 1, 1},
		{"more", "{}\n{}", "more after the value", 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(tt.text), "c.json")
			r, ok := refusal.As(err)
			if !ok || r.Name() != "config.syntax" {
				t.Fatalf("got %v", err)
			}
			if r.Detail("fault") != tt.fault || r.Detail("line") != tt.line || r.Detail("column") != tt.column {
				t.Fatalf("got %v", r)
			}
		})
	}
}

// What other programs write is refused by its own name, never half applied.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"claude-desktop.json": kindClaude, "claude-code-mcp.json": kindClaude, "cursor-mcp.json": kindClaude,
		"windows-npx.json": kindClaude, "gemini-settings.json": kindGemini, "vscode-mcp.jsonc": kindVSCode,
		"broken-args-string.json": kindVSCode, "codex-config.toml": kindCodex, "goose-config.yaml": kindGoose,
		"broken-bom-dup-trailing.json": "", "broken-utf16le.json": "",
	}
	paths, err := filepath.Glob("testdata/foreign/*")
	if err != nil || len(paths) != len(want) {
		t.Fatalf("%d files, want %d (%v)", len(paths), len(want), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c, err := Load(path)
			r, ok := refusal.As(err)
			if !ok || c != nil {
				t.Fatalf("got %v, %v", c, err)
			}
			kind := want[filepath.Base(path)]
			switch {
			case kind == "" && r.Name() != "config.syntax":
				t.Fatalf("got %v, want config.syntax", r)
			case kind != "" && (r.Name() != "config.foreign_format" || r.Detail("kind") != kind):
				t.Fatalf("got %v, want %s", r, kind)
			case kind != "" && r.HintText() == "":
				t.Fatal("no hint")
			}
			importable := !strings.HasSuffix(path, ".yaml")
			if kind != "" && importable != (r.HintText() == "mcpc config import "+path) {
				t.Fatalf("hint %q", r.HintText())
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")

	c, err := Load(path)
	if !refusal.Is(err, refusal.ConfigMissing) {
		t.Fatalf("missing file: %+v, %v", c, err)
	}
	if c = Empty(path); c.Path != path || len(c.Servers) != 0 || c.Custody.Key.Keyring == nil {
		t.Fatalf("empty: %+v", c)
	}
	if err := os.WriteFile(path, []byte(`{"servers":{"a":{"stdio":{"command":["x"]}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = Load(path); err != nil || c.Servers["a"] == nil || c.Custody.Key.Keyring == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err = Load(dir); !refusal.Is(err, refusal.ConfigUnreadable) {
		t.Fatalf("a folder: %v", err)
	}
	if err := os.Truncate(path, MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(path); !refusal.Is(err, refusal.LimitConfig) {
		t.Fatalf("too large: %v", err)
	}
}

func TestLoadModesAndLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // no mode bits; the access list of the folder holds
	}
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "config.json")
	if err := errors.Join(os.WriteFile(file, []byte(`{}`), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]*refusal.Entry{0o600: nil, 0o644: nil, 0o664: nil, 0o602: refusal.ConfigMode} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Load(link)
		if want == nil && err != nil || want != nil && !refusal.Is(err, want) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

func TestEndpointURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://h.example", "https://H.EXAMPLE/a?b", "https://192.0.2.1:8443/", "http://localhost/", "http://LocalHost:1/",
		"http://127.9.9.9/", "http://[::1]/", "https://[2001:db8::1]:1/",
	} {
		if u, reason := EndpointURL(good); reason != "" || u == nil {
			t.Errorf("%s: %s", good, reason)
		}
	}
	for _, bad := range []string{
		"", "https:", "https:h", "//h.example", "https://h\\@evil.example/", "https://h .example", "https://h\u0430.example",
		"http://localhost.", "http://0.0.0.0/", "http://[::]/", "http://2130706433/", "http://0x7f.0.0.1/",
		"http://[::1%25a]/",
		"https://h/\n", "HTTP://h.example", "http://127.0.0.1.nip.example/", "https://:443/", "http://[fe80::1]/",
	} {
		if u, reason := EndpointURL(bad); reason == "" || u != nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestLimitsAtTheirBounds(t *testing.T) {
	t.Parallel()
	for _, limit := range Table {
		for n, ok := range map[int64]bool{0: false, 1: true, limit.Default: true, limit.Max: true, limit.Max + 1: false} {
			text := `{"servers":{"a":{"stdio":{"command":["x"]},"limits":{"` + limit.Member + `":` + itoa(n) + `}}}}`
			c, err := Parse([]byte(text), "")
			switch {
			case ok && (err != nil || limit.Get(&c.Servers["a"].Limits) != n):
				t.Errorf("%s %d: %v", limit.Member, n, err)
			case !ok && !refusal.Is(err, refusal.ConfigType):
				t.Errorf("%s %d: got %v", limit.Member, n, err)
			}
		}
	}
}
