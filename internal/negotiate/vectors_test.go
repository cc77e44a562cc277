package negotiate

import (
	"strings"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/vectors"
)

// vectorPeer answers server/discover by the vector and initialize as a legacy server does. A vector is a raw answer:
// NAME.http as it comes from a socket, NAME.line as it comes from a pipe.
func vectorPeer(t *testing.T, v vectors.Vector) *peer {
	if strings.HasSuffix(v.Name, ".http") {
		return httpPeer(t, script{
			"server/discover":           {string(v.Data)},
			"initialize":                {httpAnswer("200 OK", line(`"result":`+initLegacy))},
			"notifications/initialized": {"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n"},
		})
	}
	answer := string(v.Data)
	if answer == "" {
		answer = "exit"
	}
	return stdioPeer(t, script{"server/discover": {answer}, "initialize": {line(`"result":` + initLegacy)}})
}

func TestDiscoverVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors.Read(t, "discover", 53, "refusal", "methods", "source") {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p := vectorPeer(t, v)
			s, err := Open(t.Context(), p.dial, p.server, me)
			got := "refuse"
			if err == nil {
				got = s.Handshake().Protocol
				if err := s.Close(); err != nil { // also waits for what the child still reads
					t.Error(err)
				}
			}
			if got != v.Header["expect"] {
				t.Fatalf("%s (%v), want %s", got, err, v.Header["expect"])
			}
			if no, ok := refusal.As(err); ok && (no.Name() != v.Header["refusal"] || strings.Contains(no.Error(), "prose")) {
				t.Fatalf("%v, want %s", no, v.Header["refusal"])
			}
			if methods := p.methods(); methods != v.Header["methods"] {
				t.Errorf("%s, want %s", methods, v.Header["methods"])
			}
		})
	}
}
