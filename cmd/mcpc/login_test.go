package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpc/internal/oauthflow/oauthtest"
)

// A transcript of sign-in says besides:
//
//	protect NAME RULES       starts a server that answers by rules whoever has a token, with its authorization server;
//	                         $NAME is the server's URL, $NAME_ISSUER that of the other
//	world NAME EVENT ...     lets something happen there (see happenings)
//	asked NAME N LINE        requires N requests of that line, such as "as POST /token", since the last time
//	shown FILE               waits for the page that the browser keeps in FILE, and moves it to shown.html
//	discreet NAME FILE...    requires that no token, code or secret, and nothing that a peer said, is in the files
func init() {
	commands["protect"] = protectScript
	commands["world"] = worldScript
	commands["asked"] = askedScript
	commands["shown"] = shownScript
	commands["discreet"] = discreetScript
	programs["browser"] = followingBrowser
	programs["nobrowser"] = forgetfulBrowser
	programs["pasting"] = pastingPerson
}

// followingBrowser is the command browser FILE URL: it consents at once, and keeps the page that it ends at.
func followingBrowser() {
	_, _, page, err := oauthtest.Browser(context.Background(), os.Args[2])
	if err == nil {
		err = os.WriteFile(os.Args[1]+".part", []byte(page), 0o600)
	}
	if err == nil {
		err = os.Rename(os.Args[1]+".part", os.Args[1])
	}
	if err != nil {
		os.Exit(1)
	}
}

// forgetfulBrowser is the command nobrowser FILE URL: it notes that it was opened, and goes nowhere.
func forgetfulBrowser() {
	if err := os.WriteFile(os.Args[1], []byte("opened"), 0o600); err != nil {
		os.Exit(1)
	}
}

// pastingPerson is the command pasting PROGRAM [ARG]...: a person whose browser is on another machine. It takes the URL
// from the program's stderr, consents there, and types the address that does not load. With $PASTE it types that.
func pastingPerson() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout = os.Stdout
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		_, _ = os.Stderr.WriteString(line)
		if strings.HasPrefix(line, "http://") {
			address := os.Getenv("PASTE")
			if address == "" {
				address = notLoaded(strings.TrimSpace(line))
			}
			_, _ = io.WriteString(in, address+"\n")
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

// notLoaded follows a sign-in up to the callback, and returns its address.
func notLoaded(address string) string {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		return "no address"
	}
	defer resp.Body.Close()
	return resp.Header.Get("Location")
}

var worlds sync.Map // by URL of the MCP endpoint

// lasting is what a transcript is to a world: the end of it.
type lasting struct{ *testscript.TestScript }

func (l lasting) Cleanup(f func()) { l.Defer(f) }

func protectScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: protect NAME RULES")
	}
	w := oauthtest.New(lasting{ts}, "/mcp")
	h := &fakeHTTP{rules: parseRules(ts.ReadFile(args[1])), log: ts.MkAbs(args[1]) + ".log"}
	w.Behind(h.ServeHTTP)
	ts.Setenv(args[0], w.Endpoint())
	ts.Setenv(args[0]+"_ISSUER", w.AS.URL)
	served.Store(w.Endpoint(), h)
	worlds.Store(w.Endpoint(), w)
}

func theWorld(ts *testscript.TestScript, name string) *oauthtest.World {
	w, ok := worlds.Load(ts.Getenv(name))
	if !ok {
		ts.Fatalf("%s is not protected", name)
	}
	return w.(*oauthtest.World)
}

// happenings are the events of the command world, with their arguments.
var happenings = map[string]func(w *oauthtest.World, args []string) error{
	// The access tokens end before their time.
	"expire": func(w *oauthtest.World, _ []string) error { w.Expire(); return nil },
	// A person withdraws what they granted.
	"withdraw": func(w *oauthtest.World, _ []string) error { w.EndGrants(); return nil },
	// The server demands a scope.
	"need": func(w *oauthtest.World, args []string) error { w.Need(args[0]); return nil },
	// The person says no.
	"deny": func(w *oauthtest.World, _ []string) error {
		w.Back(func(q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
			q.Set("error_description", oauthtest.Prose)
		})
		return nil
	},
	// The answer comes from another authorization server.
	"mixup": func(w *oauthtest.World, args []string) error { w.Iss(args[0]); return nil },
	// Token answers have a member from now on; null takes one out.
	"answer": func(w *oauthtest.World, args []string) error {
		return setMember(w.Answer, args)
	},
	// The authorization server's metadata has a member from now on.
	"metadata": func(w *oauthtest.World, args []string) error { return setMember(w.Server, args) },
	// The protected resource's metadata has a member from now on.
	"resource": func(w *oauthtest.World, args []string) error { return setMember(w.Resource, args) },
	// The token endpoint, or another, answers with a status and a body.
	"on": func(w *oauthtest.World, args []string) error {
		status, err := strconv.Atoi(args[1])
		w.On(args[0], oauthtest.JSON(status, args[2]))
		return err
	},
	"off": func(w *oauthtest.World, args []string) error { w.Off(args[0]); return nil },
}

func setMember(set func(string, any), args []string) error {
	var value any
	err := json.Unmarshal([]byte(args[1]), &value)
	set(args[0], value)
	return err
}

func worldScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || happenings[args[1]] == nil {
		ts.Fatalf("usage: world NAME EVENT [ARG]...")
	}
	ts.Check(happenings[args[1]](theWorld(ts, args[0]), args[2:]))
}

func askedScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: asked NAME N LINE")
	}
	w := theWorld(ts, args[0])
	if n := fmt.Sprint(len(w.Requests(args[2]))); n != args[1] {
		ts.Fatalf("%s requests of %s, wanted %s; there were\n%s", n, args[2], args[1], strings.Join(w.Lines(), "\n"))
	}
	w.ResetLog()
}

// shownScript waits, since mcpc does not wait for its browser to end.
func shownScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: shown FILE")
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		err := os.Rename(ts.MkAbs(args[0]), ts.MkAbs("shown.html"))
		if err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the browser shows nothing: %v", err)
		}
	}
}

func discreetScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: discreet NAME FILE...")
	}
	secrets := theWorld(ts, args[0]).Secrets()
	if len(secrets) == 0 {
		ts.Fatalf("there are no secrets yet")
	}
	for _, file := range args[1:] {
		text := ts.ReadFile(file)
		for _, secret := range append(secrets, "PROSE-CANARY") {
			if strings.Contains(text, secret) {
				ts.Fatalf("%s holds %q", file, secret)
			}
		}
	}
}
