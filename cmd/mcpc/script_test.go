package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcpc":       main,
		"fakeserver": fakeStdio,
	})
}

var scriptsRun atomic.Int64

// TestScript runs every transcript of testdata/script. Each has its own HOME and XDG folders and may reach only what it
// starts itself:
//
//	serve NAME RULES    starts an HTTP server with the rules of that file; $NAME is its URL, $NAME_LOG its request log
//	expand FILE...      replaces $VARIABLES in files
//	requests NAME N     requires that the server has received N requests so far
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			scriptsRun.Add(1)
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("XDG_CONFIG_HOME", e.WorkDir+"/config")
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("TZ", "UTC")
			e.Setenv("NO_PROXY", "*")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"serve":    serveScript,
			"expand":   expandScript,
			"requests": countRequests,
		},
	})
	t.Cleanup(func() {
		files, _ := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
		if n := int(scriptsRun.Load()); n != len(files) || n == 0 {
			if !selected() {
				t.Errorf("%d scripts ran of %d on disk", n, len(files))
			}
		}
	})
}

// selected reports whether -run picks some scripts only.
func selected() bool {
	for _, a := range os.Args {
		if strings.HasPrefix(a, "-test.run=") && strings.Contains(a, "/") {
			return true
		}
	}
	return false
}

func serveScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve NAME RULES")
	}
	h := &fakeHTTP{rules: parseRules(ts.ReadFile(args[1]))}
	srv := httptest.NewServer(h)
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL+"/mcp")
	served.Store(ts.Getenv(args[0]), h)
}

func expandScript(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		path := ts.MkAbs(name)
		text := os.Expand(ts.ReadFile(name), func(v string) string {
			if value := ts.Getenv(v); value != "" {
				return value
			}
			return "$" + v
		})
		ts.Check(os.WriteFile(path, []byte(text), 0o600))
	}
}

func countRequests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: requests NAME METHOD...")
	}
	h, ok := served.Load(ts.Getenv(args[0]))
	if !ok {
		ts.Fatalf("%s is not served", args[0])
	}
	if got, want := strings.Join(h.(*fakeHTTP).methods(), " "), strings.Join(args[1:], " "); got != want {
		ts.Fatalf("the server received: %s\nwanted:              %s", got, want)
	}
}
