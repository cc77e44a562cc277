package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what a transcript may run with exec, by name; a file that has one adds it in its init.
var programs = map[string]func(){
	"mcpc":       main,
	"fakeserver": fakeStdio,
}

// commands are what a transcript may say besides the words of testscript.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"serve":    serveScript,
	"rules":    swapRules,
	"expand":   expandScript,
	"requests": countRequests,
	"cmpdiff":  compareDiff,
}

func TestMain(m *testing.M) {
	testscript.Main(m, programs)
}

// TestScript runs every transcript of testdata/script. Each has its own HOME and XDG folders and may reach only what it
// starts itself:
//
//	serve NAME RULES       starts an HTTP server with the rules of that file; $NAME is its URL, RULES.log its request log
//	rules NAME RULES       lets that server go on with other rules
//	expand FILE...         replaces $VARIABLES in files
//	requests NAME M...     requires that the server has received just these methods, in this order
//	exits N PROGRAM ...    runs a program that must end with exit code N; stdout and stderr are kept as by exec
//	json FILE [PATH [V]]   requires one strict JSON document and a line end, and that the member at PATH is V
//	capture NAME FILE PATH sets $NAME to the member at PATH
//	edit FILE OLD NEW      replaces OLD, which must be there
//	transplant TOOL A B    puts the line of a tool from snapshot A in the place of that of snapshot B
//	mode PERM FILE         requires a file's mode
//	gone FILE              requires that the process whose number is in the file is no more
func TestScript(t *testing.T) {
	var ran atomic.Int64
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			ran.Add(1)
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("XDG_CONFIG_HOME", e.WorkDir+"/config")
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", "atexit_sleep_ms=10") // a race build sleeps for a second at each end of a command otherwise
			e.Setenv("NO_PROXY", "*")
			return nil
		},
		Cmds: commands,
	})
	t.Cleanup(func() {
		files, _ := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
		if n := int(ran.Load()); n != len(files) || n == 0 {
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
	h := &fakeHTTP{rules: parseRules(ts.ReadFile(args[1])), log: ts.MkAbs(args[1]) + ".log"}
	srv := httptest.NewServer(h)
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL+"/mcp")
	served.Store(ts.Getenv(args[0]), h)
}

func theServer(ts *testscript.TestScript, name string) *fakeHTTP {
	h, ok := served.Load(ts.Getenv(name))
	if !ok {
		ts.Fatalf("%s is not served", name)
	}
	return h.(*fakeHTTP)
}

func swapRules(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rules NAME RULES")
	}
	theServer(ts, args[0]).swap(parseRules(ts.ReadFile(args[1])))
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
	if neg || len(args) == 0 {
		ts.Fatalf("usage: requests NAME METHOD...")
	}
	if got, want := strings.Join(theServer(ts, args[0]).methods(), " "), strings.Join(args[1:], " "); got != want {
		ts.Fatalf("the server received: %s\nwanted:              %s", got, want)
	}
}

var changing = regexp.MustCompile(`\b[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d \d\d:\d\d\b`)

func compareDiff(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmpdiff FILE WANT")
	}
	got := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "WORK")
	got = changing.ReplaceAllStringFunc(got, func(s string) string {
		if strings.Contains(s, ":") {
			return "2026-12-01 15:04"
		}
		return "0123456789ab"
	})
	if want := ts.ReadFile(args[1]); got != want {
		ts.Fatalf("got:\n%s\nwanted:\n%s", got, want)
	}
}
