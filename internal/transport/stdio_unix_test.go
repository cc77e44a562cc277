//go:build unix

package transport

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcpc/internal/refusal"
)

func TestStdioSignal(t *testing.T) {
	t.Parallel()
	_, err := dialFake(t, fakeOptions(t, "read", "kill-self")).Exchange(soon(t), echo, nil)
	f := failureOf(t, err, refusal.TransportExited)
	if f.Refusal.Detail("signal") != "SIGKILL" || f.Refusal.Detail("exit") != nil {
		t.Errorf("%v", f.Refusal)
	}
}

// A server that goes on after the end of its input is asked by SIGTERM before it is killed.
func TestStdioTerminates(t *testing.T) {
	t.Parallel()
	for signal, steps := range map[string][]string{
		"SIGTERM": {"read", answer, "hang"},
		"SIGKILL": {"ignore-term", "read", answer, "hang"},
	} {
		o := fakeOptions(t, steps...)
		o.Server.Limits.Shutdown = 500 * time.Millisecond
		s := dialFake(t, o)
		if _, err := s.Exchange(soon(t), echo, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if got := signalName(s.current().cmd.ProcessState); got != signal {
			t.Errorf("ended by %s, want %s", got, signal)
		}
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
