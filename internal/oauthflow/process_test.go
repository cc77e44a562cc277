package oauthflow_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/oauthflow"
	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/transport"
)

// The test binary stands in for other programs: for a browser, which writes its last argument to a file, and for mcpc
// in a process of its own, which makes one request to the endpoint and says how it ended.
func TestMain(m *testing.M) {
	if out := os.Getenv("OAUTHFLOW_TEST_BROWSER"); out != "" {
		if err := os.WriteFile(out, []byte(os.Args[len(os.Args)-1]), 0o600); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv("OAUTHFLOW_TEST_STORE"); dir != "" {
		fmt.Println(callAlone(dir, os.Getenv("OAUTHFLOW_TEST_ENDPOINT")))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func callAlone(dir, endpoint string) string {
	limits := config.DefaultLimits()
	clients, err := oauthflow.Clients(&config.Server{HTTP: &config.HTTP{URL: endpoint}, Limits: limits}, nil)
	if err != nil {
		return err.Error()
	}
	f := &oauthflow.Flow{Endpoint: endpoint, Limits: limits, Store: sealedIn(dir), Clients: clients, Now: time.Now, Rand: rand.Reader}
	a := f.Authorizer()
	ctx := context.Background()
	for range 2 {
		token, err := a.Token(ctx)
		if err != nil {
			return err.Error()
		}
		req, _ := http.NewRequest(http.MethodPost, endpoint, strings.NewReader("{}"))
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
		client, err := clients(transport.ForMCP)
		if err != nil {
			return err.Error()
		}
		resp, err := client.Do(req)
		if err != nil {
			return "unreachable"
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return "ok"
		}
		if _, err := a.Challenged(ctx, token, transport.Challenge{Status: resp.StatusCode}); err != nil {
			return err.Error()
		}
	}
	return "refused twice"
}

// A rotating refresh token is spent once however many processes need it at the same time.
func TestProcessesSpendOneRefreshToken(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t, "/mcp")
	f, _ := newFlow(t, w)
	f.Now = time.Now
	dir := t.TempDir()
	f.Store = sealedIn(dir)
	mustLogin(t, f)
	w.ResetLog()
	const processes, expiries = 6, 3
	for range expiries {
		w.Expire()
		var wg sync.WaitGroup
		for range processes {
			wg.Go(func() {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "OAUTHFLOW_TEST_STORE="+dir, "OAUTHFLOW_TEST_ENDPOINT="+w.Endpoint())
				out, err := cmd.Output()
				if got := string(bytes.TrimSpace(out)); err != nil || got != "ok" {
					t.Errorf("%s %v", got, err)
				}
			})
		}
		wg.Wait()
	}
	if n := len(w.Requests(tokenLine)); n != expiries {
		t.Errorf("%d token requests, want %d", n, expiries)
	}
}
