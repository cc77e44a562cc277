package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"mcpc/internal/oauthflow/oauthtest"
)

// An operator who has yet to register a client learns the issuer from --explain, and a script that the plan cannot be
// carried out: the plan is on stdout, the refusal on stderr and in the exit code.
func TestExplainWithoutClient(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	w.Server("registration_endpoint", nil)
	home := t.TempDir()
	environ := []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_STATE_HOME=" + home,
		"BROWSER=false",
	}
	if err := os.Mkdir(filepath.Join(home, "mcpc"), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{
		"servers": map[string]any{"docs": map[string]any{"http": map[string]any{"url": w.Endpoint()}}},
		"custody": map[string]any{"key": map[string]any{"file": filepath.Join(home, "key")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "mcpc", "config.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	exit := run(t.Context(), []string{"login", "docs", "--explain", "--json"}, environ, nil, &stdout, &stderr)
	var plan struct{ Issuer, Registration string }
	if err := json.Unmarshal(stdout.Bytes(), &plan); err != nil || plan.Issuer != w.AS.URL || plan.Registration != "none" {
		t.Errorf("stdout %s: %v", stdout.Bytes(), err)
	}
	var no struct{ Refusal string }
	if err := json.Unmarshal(stderr.Bytes(), &no); err != nil || no.Refusal != "oauth.no_registration" || exit != 4 {
		t.Errorf("exit %d, stderr %s: %v", exit, stderr.Bytes(), err)
	}
}
