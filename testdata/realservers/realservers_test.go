// Package realservers runs mcpc against servers that others wrote, as published. It guarantees nothing about them: it
// shows that the main job goes through, from discovery to one call, without any server being treated specially.
//
// It needs node and the packages of testdata/node, so it is no part of ./...; make real-servers runs it.
package realservers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

const modern, legacy = "2026-07-28", "2025-11-25"

// server is one row: how it is started, what is known of it, and one harmless call.
type server struct {
	name     string
	script   string   // below testdata/node/node_modules
	args     []string // FOLDER stands for an empty folder
	protocol string
	tools    int
	rejected int
	call     []string // tool and arguments
	exits    []int    // exit codes of that call; without its service a server may report an error (1) or answer one (5)
	http     bool     // started by the test, in place of mcpc
}

var servers = []server{
	{
		name: "everything", script: "@modelcontextprotocol/server-everything/dist/index.js", args: []string{"stdio"},
		protocol: legacy, tools: 12, rejected: 1, call: []string{"get-sum", "a=1", "b=2"}, exits: []int{0},
	},
	{
		name: "everything-http", script: "@modelcontextprotocol/server-everything/dist/index.js", args: []string{"streamableHttp"},
		protocol: legacy, tools: 12, rejected: 1, call: []string{"get-sum", "a=1", "b=2"}, exits: []int{0}, http: true,
	},
	{
		name: "filesystem", script: "@modelcontextprotocol/server-filesystem/dist/index.js", args: []string{"FOLDER"},
		protocol: legacy, tools: 14, call: []string{"list_directory", "path=FOLDER"}, exits: []int{0},
	},
	{
		name: "memory", script: "@modelcontextprotocol/server-memory/dist/index.js",
		protocol: legacy, tools: 9, call: []string{"read_graph"}, exits: []int{0},
	},
	{
		name: "sequential-thinking", script: "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
		protocol: legacy, tools: 1, exits: []int{0},
		call: []string{"sequentialthinking", "thought=one", "nextThoughtNeeded=false", "thoughtNumber=1", "totalThoughts=1"},
	},
	{
		name: "context7", script: "@upstash/context7-mcp/dist/index.js",
		protocol: modern, tools: 2, call: []string{"resolve-library-id", "query=flags", "libraryName=cobra"}, exits: []int{0, 1},
	},
	{
		name: "mongodb", script: "mongodb-mcp-server/dist/esm/index.js",
		protocol: modern, tools: 27, call: []string{"list-connections"}, exits: []int{0},
	},
	{
		name: "notion", script: "@notionhq/notion-mcp-server/bin/cli.mjs",
		protocol: legacy, tools: 24, call: []string{"API-get-self"}, exits: []int{0, 1, 5},
	},
}

var (
	mcpc  string // the program, built by TestMain
	table = struct {
		sync.Mutex
		rows map[string]string
	}{rows: map[string]string{}}
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mcpc-real-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	mcpc = filepath.Join(dir, "mcpc")
	if out, err := exec.Command("go", "build", "-o", mcpc, "mcpc/cmd/mcpc").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s", out)
		return 1
	}
	code := m.Run()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "server\tprotocol\ttools\trejected\tcall\texit\ttook")
	for _, s := range servers {
		fmt.Fprintln(w, table.rows[s.name])
	}
	_ = w.Flush()
	return code
}

func TestRealServers(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) { mainJob(t, s) })
	}
}

// mainJob is discover, snapshot twice, draft, check, call.
func mainJob(t *testing.T, s server) {
	began := time.Now()
	row := s.name + "\tfailed"
	defer func() {
		table.Lock()
		defer table.Unlock()
		table.rows[s.name] = row
	}()
	p := prepare(t, s)

	var found struct {
		ID, Protocol    string
		Tools, Rejected []json.RawMessage
	}
	p.document(&found, "discover", "peer", "--json")
	if found.Protocol != s.protocol || len(found.Tools) != s.tools || len(found.Rejected) != s.rejected {
		t.Errorf("protocol %s, %d tools, %d rejected; want %s, %d, %d",
			found.Protocol, len(found.Tools), len(found.Rejected), s.protocol, s.tools, s.rejected)
	}
	for _, isNew := range []bool{true, false} {
		var taken struct {
			ID  string
			New bool
		}
		p.document(&taken, "snapshot", "take", "peer", "--json")
		if taken.ID != found.ID || taken.New != isNew {
			t.Fatalf("snapshot %s, new %t; discover said %s", taken.ID, taken.New, found.ID)
		}
	}
	draft := p.succeed("authority", "draft", "peer", "--tool", s.call[0], "--by", "test")
	if err := os.WriteFile(filepath.Join(p.home, "authority.json"), draft, 0o600); err != nil {
		t.Fatal(err)
	}
	p.succeed("authority", "check", "authority.json")
	_, stderr, exit := p.run(append([]string{"call", "peer", "--authority", "authority.json"}, p.in(s.call)...)...)
	if !slices.Contains(s.exits, exit) {
		t.Errorf("call %s: exit %d: %s", s.call[0], exit, stderr)
	}
	row = fmt.Sprintf("%s\t%s\t%d\t%d\t%s\t%d\t%.1f s",
		s.name, found.Protocol, len(found.Tools), len(found.Rejected), s.call[0], exit, time.Since(began).Seconds())
}

// place is a folder with a configuration that knows one server, "peer".
type place struct {
	t            *testing.T
	home, folder string
}

func prepare(t *testing.T, s server) *place {
	t.Helper()
	home := t.TempDir()
	p := &place{t, home, filepath.Join(home, "folder")}
	if err := os.MkdirAll(filepath.Join(home, "mcpc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("..", "node", "node_modules", filepath.FromSlash(s.script)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("%v; make real-servers installs it", err)
	}
	command := append([]string{"node", script}, p.in(s.args)...)
	peer := map[string]any{"stdio": map[string]any{"command": command, "env": []string{"PATH", "HOME"}}}
	if s.http {
		peer = map[string]any{"http": map[string]any{"url": serve(t, home, command)}}
	}
	config, err := json.Marshal(map[string]any{"servers": map[string]any{"peer": peer}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "mcpc", "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// serve starts a server that listens on PORT and waits until it does.
func serve(t *testing.T, home string, command []string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append(environment(home), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context has ended it by then
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
			return "http://" + address + "/mcp"
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the server does not listen: %v", err)
		case <-time.After(20 * time.Millisecond): // another program's start cannot be awaited otherwise
		}
	}
}

func environment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home,
		"XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_STATE_HOME=" + home,
	}
}

// in puts the empty folder where FOLDER stands.
func (p *place) in(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, "FOLDER", p.folder)
	}
	return out
}

func (p *place) run(args ...string) (stdout, stderr []byte, exit int) {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(mcpc, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.home, environment(p.home), &out, &errs
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		p.t.Fatal(err)
	}
	return out.Bytes(), errs.Bytes(), cmd.ProcessState.ExitCode()
}

func (p *place) succeed(args ...string) []byte {
	p.t.Helper()
	stdout, stderr, exit := p.run(args...)
	if exit != 0 {
		p.t.Fatalf("mcpc %s: exit %d: %s", strings.Join(args, " "), exit, stderr)
	}
	return stdout
}

func (p *place) document(into any, args ...string) {
	p.t.Helper()
	if err := json.Unmarshal(p.succeed(args...), into); err != nil {
		p.t.Fatal(err)
	}
}
