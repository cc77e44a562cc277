//go:build unix

package transport

import (
	"os"
	"path/filepath"
	"testing"

	"mcpc/internal/refusal"
)

func TestStdioSignal(t *testing.T) {
	t.Parallel()
	_, err := dialFake(t, fakeOptions(t, "read", "kill-self")).Exchange(t.Context(), echo, nil)
	f := failureOf(t, err, refusal.TransportExited)
	if f.Refusal.Detail("signal") != "SIGKILL" || f.Refusal.Detail("exit") != nil {
		t.Errorf("%v", f.Refusal)
	}
}

// A file that may not be executed is no program.
func TestSearchMode(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	writePrograms(t, 0o644, filepath.Join(first, "tool"))
	writePrograms(t, 0o755, filepath.Join(second, "tool"))
	s := search{path: first + string(os.PathListSeparator) + second}
	if got, no := s.find("tool"); no != nil || got != filepath.Join(second, "tool") {
		t.Errorf("%s %v", got, no)
	}
	// Scripts of Windows are nothing special elsewhere.
	writePrograms(t, 0o755, filepath.Join(second, "tool.cmd"))
	if _, no := s.find("tool.cmd"); no != nil {
		t.Error(no)
	}
}
