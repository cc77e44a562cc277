package negotiate

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mcpc/internal/config"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// TestMain makes the test binary a server too: with the argument "child" it answers on stdio by a script.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "child" {
		child(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

// script says how a peer answers: by method, raw bytes in which $ID stands for the id of the request. Of several
// answers for one method each is given once and the last for ever. A method without one is never answered.
type script map[string][]string

func (s script) answer(method string) (string, bool) {
	answers := s[method]
	if len(answers) == 0 {
		return "", false
	}
	if len(answers) > 1 {
		s[method] = answers[1:]
	}
	return answers[0], true
}

const separator = "\n====\n"

func (s script) file(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for method, answers := range s {
		for _, a := range answers {
			b.WriteString(method + "\n" + a + separator)
		}
	}
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// child is a server on stdio. An answer "exit" ends it.
func child(path, log string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		os.Exit(9)
	}
	s := script{}
	for entry := range strings.SplitSeq(string(raw), separator) {
		if method, answer, ok := strings.Cut(entry, "\n"); ok {
			s[method] = append(s[method], answer)
		}
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		out, _ := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		_, _ = out.Write(line)
		_ = out.Close()
		answer, _ := s.answer(strictjson.MemberText(line, "method"))
		if answer == "exit" {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(fillID(answer, line))
	}
}

func fillID(answer string, request []byte) string {
	id, _ := strictjson.Member(request, "id")
	return strings.ReplaceAll(answer, "$ID", string(id))
}

// peer is a running server and what it was asked.
type peer struct {
	server *config.Server
	dial   Dialer
	seen   func() []string // lines or bodies
}

func (p *peer) methods() string {
	var methods []string
	for _, line := range p.seen() {
		methods = append(methods, strictjson.MemberText([]byte(line), "method"))
	}
	return strings.Join(methods, " ")
}

func stdioPeer(t *testing.T, s script) *peer {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	command := []string{exe, "child", s.file(t), log}
	server := &config.Server{Stdio: &config.Stdio{Command: command}, Limits: config.DefaultLimits()}
	return &peer{
		server: server,
		dial: func(context.Context) (transport.Carrier, error) {
			return transport.DialStdio(transport.StdioOptions{Server: server, LookupEnv: noEnvironment})
		},
		seen: func() []string {
			raw, _ := os.ReadFile(log)
			return strings.Split(strings.TrimSpace(string(raw)), "\n")
		},
	}
}

func noEnvironment(string) (string, bool) { return "", false }

// httpPeer writes the scripted bytes, status line included, and closes the connection.
func httpPeer(t *testing.T, s script) *peer {
	t.Helper()
	var mu sync.Mutex
	var bodies []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		if r.Method == http.MethodPost {
			bodies = append(bodies, string(body))
		}
		answer, ok := s.answer(strictjson.MemberText(body, "method"))
		mu.Unlock()
		if !ok {
			<-r.Context().Done()
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = conn.Write([]byte(fillID(answer, body)))
			_ = conn.Close()
		}
	})
	listener := httptest.NewServer(h)
	t.Cleanup(listener.Close)
	server := &config.Server{HTTP: &config.HTTP{URL: listener.URL + "/mcp"}, Limits: config.DefaultLimits()}
	return &peer{
		server: server,
		dial: func(context.Context) (transport.Carrier, error) {
			return transport.DialHTTP(transport.HTTPOptions{Server: server, LookupEnv: noEnvironment})
		},
		seen: func() []string {
			mu.Lock()
			defer mu.Unlock()
			return bytesOf(bodies)
		},
	}
}

func bytesOf(bodies []string) []string { return append([]string{}, bodies...) }

// message is an answer as stdio has it, and raw HTTP around the same.
func line(member string) string { return `{"jsonrpc":"2.0","id":$ID,` + member + "}\n" }

func httpAnswer(status, body string, headers ...string) string {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nConnection: close\r\n")
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return b.String()
}
