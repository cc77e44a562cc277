package negotiate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpc/internal/refusal"
)

// vectorCount is pinned, so that a vector that is not found is a failure.
const vectorCount = 53

// vector is an answer to server/discover, raw: NAME.http as it comes from a socket, NAME.line as it comes from a pipe.
type vector struct {
	name   string
	header map[string]string
	data   string
}

func vectors(t *testing.T) []vector {
	t.Helper()
	paths, err := filepath.Glob("testdata/vectors/discover/*")
	if err != nil || len(paths) != vectorCount {
		t.Fatalf("%d vectors, want %d (%v)", len(paths), vectorCount, err)
	}
	all := make([]vector, 0, len(paths))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, data, ok := bytes.Cut(raw, []byte("\n\n"))
		if !ok {
			t.Fatalf("%s has no header", path)
		}
		v := vector{filepath.Base(path), map[string]string{}, string(data)}
		for line := range strings.Lines(string(head)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "expect", "refusal", "methods", "comment", "source":
				v.header[key] = value
			default:
				t.Fatalf("%s: unknown header %q", path, key)
			}
		}
		all = append(all, v)
	}
	return all
}

// peer answers server/discover by the vector and initialize as a legacy server does.
func (v vector) peer(t *testing.T) *peer {
	if strings.HasSuffix(v.name, ".http") {
		return httpPeer(t, script{
			"server/discover":           {v.data},
			"initialize":                {httpAnswer("200 OK", line(`"result":`+initLegacy))},
			"notifications/initialized": {"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n"},
		})
	}
	answer := v.data
	if answer == "" {
		answer = "exit"
	}
	return stdioPeer(t, script{"server/discover": {answer}, "initialize": {line(`"result":` + initLegacy)}})
}

func TestDiscoverVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			p := v.peer(t)
			s, err := Open(t.Context(), p.dial, p.server, me)
			got := "refuse"
			if err == nil {
				got = s.Handshake().Protocol
				if err := s.Close(); err != nil { // also waits for what the child still reads
					t.Error(err)
				}
			}
			if got != v.header["expect"] {
				t.Fatalf("%s (%v), want %s", got, err, v.header["expect"])
			}
			if no, ok := refusal.As(err); ok && (no.Name() != v.header["refusal"] || strings.Contains(no.Error(), "prose")) {
				t.Fatalf("%v, want %s", no, v.header["refusal"])
			}
			if methods := p.methods(); methods != v.header["methods"] {
				t.Errorf("%s, want %s", methods, v.header["methods"])
			}
		})
	}
}
