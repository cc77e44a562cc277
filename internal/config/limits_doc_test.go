package config

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "write the documents that are compared")

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestLimitsDocument(t *testing.T) {
	t.Parallel()
	const path = "../../docs/limits.md"
	if *update {
		if err := os.WriteFile(path, []byte(LimitsMarkdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != LimitsMarkdown() {
		t.Fatalf("%s is not in step with the table (%v); go test ./internal/config -update", path, err)
	}
}
