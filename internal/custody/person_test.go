// Package custody holds by tests what becomes of secrets while mcpc runs: who spends a refresh token, what a kill
// leaves behind, where a secret can be found, and what the states of a keyring lead to. It has no code of its own.
//
// The tests run the real program, in processes of its own, against the servers of oauthtest. Each has small figures in
// the ordinary run; make stress, canary and live-keyring set the full ones.
package custody

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpc/internal/oauthflow/oauthtest"
	"mcpc/internal/strictjson"
)

var program = flag.String("mcpc", "", "the `FILE` of the program to test; it is built when there is none")

// The test binary is also every program that mcpc starts; which one is in the arguments.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && children[os.Args[1]] != nil {
		recordChild(os.Args[2])
		children[os.Args[1]](os.Args[3:])
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(testProgram(m))
}

func testProgram(m *testing.M) int {
	if *program == "" {
		dir, err := os.MkdirTemp("", "mcpc")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		*program = filepath.Join(dir, "mcpc.exe")
		if out, err := exec.Command("go", "build", "-o", *program, "mcpc/cmd/mcpc").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
			return 1
		}
	}
	return m.Run()
}

// children are called as SELF NAME RECORD [ARG]..., and leave their arguments and their environment in files that begin
// with RECORD.
var children = map[string]func(args []string){
	"browser": func(args []string) { _ = oauthtest.Open(context.Background(), args[0]) },
	"secret":  func([]string) { fmt.Println(commandSecret) },
	"server":  func([]string) { _, _ = io.Copy(io.Discard, os.Stdin) },
}

func recordChild(record string) {
	f, err := os.CreateTemp(filepath.Dir(record), filepath.Base(record)+"-*")
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, strings.Join(append(os.Args, os.Environ()...), "\n"))
	_ = f.Close()
}

// child is the argv of a test program.
func child(t testing.TB, name, record string, args ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, name, record}, args...)
}

// person is somebody with a home and an environment who runs mcpc.
type person struct {
	t       testing.TB
	home    string // all that mcpc may write to is below it
	records string // what the programs wrote down that mcpc started
	env     []string
}

func newPerson(t testing.TB) *person {
	t.Helper()
	p := &person{t: t, home: t.TempDir(), records: t.TempDir()}
	for _, dir := range []string{"config/mcpc", "tmp", "run"} {
		if err := os.MkdirAll(filepath.Join(p.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + filepath.Join(p.home, "tmp"),
		"XDG_CONFIG_HOME=" + filepath.Join(p.home, "config"), "XDG_DATA_HOME=" + filepath.Join(p.home, "data"),
		"XDG_STATE_HOME=" + filepath.Join(p.home, "state"), "XDG_RUNTIME_DIR=" + filepath.Join(p.home, "run"),
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "DBUS_SESSION_BUS_ADDRESS=",
		"GORACE=atexit_sleep_ms=0", // children built with the race detector would else each end a second late
		"BROWSER=" + strings.Join(child(t, "browser", filepath.Join(p.records, "browser")), " "),
	}
	return p
}

// object is a JSON object that is written into a configuration.
type object map[string]any

// configure writes the configuration.
func (p *person) configure(servers, key object) {
	p.t.Helper()
	text, err := json.Marshal(object{"servers": servers, "custody": object{"key": key}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(filepath.Join(p.home, "config", "mcpc", "config.json"), string(text))
}

func (p *person) write(path, text string) string {
	p.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// keyFile is a source for the custody key, outside of what is searched for secrets.
func (p *person) keyFile() object { return object{"file": filepath.Join(p.records, "custody.key")} }

func (p *person) command(args ...string) *exec.Cmd {
	cmd := exec.Command(*program, args...)
	cmd.Env = p.env
	return cmd
}

// outcome is how a command ended.
type outcome struct {
	args           []string
	code           int
	stdout, stderr []byte
	took           time.Duration
}

func (o outcome) String() string {
	return fmt.Sprintf("mcpc %s: exit %d in %v\n%s%s", strings.Join(o.args, " "), o.code, o.took, o.stdout, o.stderr)
}

func (p *person) run(args ...string) outcome {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return outcome{args, cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes(), time.Since(begin)}
}

// must runs a command that has to end with the code and, where that is no success, to name the refusal.
func (p *person) must(code int, refusal string, args ...string) outcome {
	p.t.Helper()
	o := p.run(args...)
	if o.code != code || !bytes.Contains(o.stderr, []byte(refusal)) {
		p.t.Fatalf("%vwanted exit %d %s", o, code, refusal)
	}
	return o
}

// browsers counts how often a browser was opened.
func (p *person) browsers() int {
	found, _ := filepath.Glob(filepath.Join(p.records, "browser-*"))
	return len(found)
}

// files returns the files below a folder, with what is in them.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sealed returns the sealed files of a person, with what is in them.
func (p *person) sealed() map[string][]byte {
	all := files(p.t, p.home)
	for path := range all {
		if !strings.HasSuffix(path, ".sealed") {
			delete(all, path)
		}
	}
	return all
}

// newWorld starts the servers of a sign-in, with a small MCP server behind it.
func newWorld(t testing.TB) *oauthtest.World {
	w := oauthtest.New(t, "/mcp")
	w.Behind(serveTools)
	return w
}

// serveTools is a server of the modern protocol with one tool.
func serveTools(rw http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	id, _ := strictjson.Member(body, "id")
	result := map[string]string{
		"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`,
		"tools/list":      `{"resultType":"complete","tools":[{"name":"say","inputSchema":{"type":"object"}}]}`,
		"tools/call":      `{"resultType":"complete","content":[{"type":"text","text":"said"}]}`,
	}[strictjson.MemberText(body, "method")]
	rw.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// docs is the world's endpoint in a configuration.
func docs(w *oauthtest.World) object {
	return object{"docs": object{"http": object{"url": w.Endpoint()}, "limits": object{"sign_in_ms": 30_000}}}
}
