package refusal

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the document that is compared")

func TestRefusalsDocument(t *testing.T) {
	t.Parallel()
	const path = "../../docs/refusals.md"
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != Markdown() {
		t.Fatalf("%s is not in step with the catalogue (%v); go test ./internal/refusal -update", path, err)
	}
}
