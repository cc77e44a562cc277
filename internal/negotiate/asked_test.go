package negotiate

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// RES-10: a result that a tool gave without the input that it asked for is kept, and is not the answer.
func TestResultWithoutTheInputAskedFor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		asks []string
		raw  string
		want *refusal.Entry
	}{
		{"nothing", nil, `{"content":[]}`, nil},
		{"elicitation", []string{"elicitation/create"}, `{"content":[]}`, refusal.FeatureElicitation},
		{"sampling", []string{"sampling/createMessage"}, `{"content":[]}`, refusal.FeatureSampling},
		{"an error", []string{"elicitation/create"}, `{"isError":true}`, refusal.FeatureElicitation},
		{"roots", []string{"roots/list"}, `{"content":[]}`, nil},
		{"something else", []string{""}, `{"isError":true}`, nil},
		{"roots first", []string{"roots/list", "", "sampling/createMessage"}, `{}`, refusal.FeatureSampling},
		{"both", []string{"sampling/createMessage", "elicitation/create"}, `{}`, refusal.FeatureSampling},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, _ := resume(t, httpServer(), transport.Legacy, asking(called(test.raw), test.asks...))
			got, err := s.Call(t.Context(), Call{Tool: "weather"})
			if err != nil || string(got.Raw) != test.raw || len(got.Asked) != len(test.asks) {
				t.Fatalf("%+v %v", got, err)
			}
			if test.want == nil {
				if got.Refused != nil {
					t.Error(got.Refused)
				}
				return
			}
			if !refusal.Is(got.Refused, test.want) || got.Refused.Detail("tool") != "weather" ||
				got.Refused.ExitCode() != refusal.ExitRefused || !strings.Contains(got.Refused.HintText(), "may have acted") {
				t.Errorf("%v", got.Refused)
			}
		})
	}
}

// What a server asked for before the call says nothing about it.
func TestAskedBeforeTheCall(t *testing.T) {
	t.Parallel()
	early := []string{"roots/list", "elicitation/create"}
	both(t, func(t *testing.T, server *config.Server, protocol string) {
		s, _ := resume(t, server, protocol,
			asking(result("tools/list", `{"tools":[]}`), early...), called(`{}`),
			asking(result("tools/list", `{"tools":[]}`), early...), rpcError("tools/call", 0, -32603, ""))
		for _, want := range []*refusal.Entry{nil, refusal.ProtocolError} {
			if _, err := s.ListPage(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			got, err := s.Call(t.Context(), Call{Tool: "weather"})
			if want == nil && (err != nil || got.Asked != nil || got.Refused != nil) || want != nil && !refusal.Is(err, want) {
				t.Errorf("%+v %v", got, err)
			}
		}
	})
}

// A legacy tool that asks on the server's own stream is told there, and its call ends by the name of what it wanted.
func TestElicitationBesideTheCall(t *testing.T) {
	t.Parallel()
	answered := make(chan string, 1)
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch method := strictjson.MemberText(body, "method"); {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{}}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case method == "initialize":
			w.Header().Set("Mcp-Session-Id", "abc")
			_, _ = io.WriteString(w, fillID(line(`"result":`+initLegacy), body))
		case method == "tools/call":
			answer := <-answered // for which a tool waits
			_, _ = io.WriteString(w, fillID(line(`"result":{"content":[],"answer":`+answer+`}`), body))
		case method == "" && r.Method == http.MethodPost:
			answered <- string(body)
		}
	}))
	t.Cleanup(listener.Close)
	server := &config.Server{HTTP: &config.HTTP{URL: listener.URL}, Limits: config.DefaultLimits()}
	server.Protocol = transport.Legacy
	s := open(t, &peer{server: server, dial: func(context.Context) (transport.Carrier, error) {
		return transport.DialHTTP(transport.HTTPOptions{Server: server, LookupEnv: noEnvironment})
	}})
	got, err := s.Call(t.Context(), Call{Tool: "t"})
	if err != nil || !refusal.Is(got.Refused, refusal.FeatureElicitation) || !strings.Contains(string(got.Raw), "-32601") {
		t.Errorf("%+v %v", got, err)
	}
}
