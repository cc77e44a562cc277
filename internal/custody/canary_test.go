package custody

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpc/internal/oauthflow/oauthtest"
)

// everyFault is how many faults there are between one that is tried and the next; 1 tries them all.
var everyFault = flag.Int("every-fault", 11, "try every Nth injected fault")

// canary is one secret to look for.
type canary struct {
	kind, value string
	seenBy      []string // the programs in whose environment it may be, since the operator exported it
}

// encodings of a secret that a leak may have: as it is, percent-encoded, in hex, and in both alphabets of base64, where
// the neighbours of the secret decide which of three spellings it has.
func encodings(secret string) [][]byte {
	var percent strings.Builder
	for _, c := range []byte(secret) {
		fmt.Fprintf(&percent, "%%%02X", c)
	}
	all := [][]byte{
		[]byte(secret), []byte(percent.String()), []byte(hex.EncodeToString([]byte(secret))),
		[]byte(strings.ToUpper(hex.EncodeToString([]byte(secret)))),
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			whole := secret[shift : len(secret)-(len(secret)-shift)%3]
			all = append(all, []byte(alphabet.EncodeToString([]byte(whole))))
		}
	}
	return all
}

// watch is the search for secrets in all that a person's mcpc leaves.
type watch struct {
	*person
	w        *oauthtest.World
	own      []canary
	searched int
	children int

	spellings map[string][][]byte // of every secret
	authority string              // the document that allows the one tool
	patience  func(ms int)        // sets how long a sign-in waits for the browser
	kinds     map[string]bool
}

// canaries are the person's own secrets and those that went through the servers. The state of a sign-in is none: it has
// to be in the URL that the browser gets.
func (c *watch) canaries() []canary {
	all := slices.Clone(c.own)
	var states []string
	for _, r := range c.w.Requests("as GET /authorize") {
		states = append(states, r.Form.Get("state"))
	}
	for _, secret := range c.w.Secrets() {
		if !slices.Contains(states, secret) {
			all = append(all, canary{kindOf(secret), secret, nil})
		}
	}
	for _, one := range all {
		c.kinds[one.kind] = true
	}
	return all
}

// kindOf is in the name that the servers give a secret; the one they do not make is the verifier.
func kindOf(secret string) string {
	if rest, ok := strings.CutPrefix(secret, "CANARY-"); ok {
		kind, _, _ := strings.Cut(rest, "-")
		return kind
	}
	return "verifier"
}

// look requires that no secret is in a text, unless it may be seen by the one whose text it is.
func (c *watch) look(what, whose string, text []byte, all []canary) {
	c.t.Helper()
	for _, one := range all {
		if c.spellings[one.value] == nil {
			c.spellings[one.value] = encodings(one.value)
		}
		for _, spelling := range c.spellings[one.value] {
			if c.searched++; bytes.Contains(text, spelling) && !slices.Contains(one.seenBy, whose) {
				c.t.Errorf("%s: in %s is the %s, as %q:\n%.2000s", what, whose, one.kind, spelling, text)
			}
		}
	}
}

// try runs a command and looks everywhere.
func (c *watch) try(what string, args ...string) outcome {
	c.t.Helper()
	o := c.run(args...)
	all := c.canaries()
	c.look(what, "stdout", o.stdout, all)
	c.look(what, "stderr", o.stderr, all)
	for path, data := range files(c.t, c.home) {
		if !strings.HasSuffix(path, ".sealed") {
			c.look(what, path, data, all)
		}
		if strings.HasPrefix(filepath.Base(path), "trace-") {
			_ = os.Remove(path) // looked at once
		}
	}
	for path, data := range files(c.t, c.records) {
		if child, _, _ := strings.Cut(filepath.Base(path), "-"); children[child] != nil {
			c.children++
			c.look(what, child, data, all)
			_ = os.Remove(path)
		}
	}
	return o
}

// A sign-in that has to succeed may take long on a busy machine; one that cannot is not worth the wait.
const patient, hasty = 60_000, 500

const commandSecret = "canary-header~command/3"

// newWatch is a person with a secret of every kind.
func newWatch(t testing.TB) *watch {
	w, p := newWorld(t), newPerson(t)
	w.Server("token_endpoint_auth_methods_supported", []string{"client_secret_basic"})
	c := &watch{person: p, w: w, kinds: map[string]bool{}, spellings: map[string][][]byte{}}
	add := func(kind, value, exported string, seenBy ...string) string {
		c.own = append(c.own, canary{kind, value, seenBy})
		if exported != "" {
			p.env = append(p.env, exported+"="+value)
		}
		return value
	}
	key := strings.Repeat("key?", 8)
	add("client secret", "canary-client~secret/1", "DESK_SECRET", "secret")
	add("header from a variable", "canary-header~variable/2", "DOCS_KEY", "secret")
	add("header from a command", commandSecret, "")
	file := p.write(filepath.Join(p.records, "header.txt"), add("header from a file", "canary-header~file/4", "")+"\n")
	add("custody key", base64.StdEncoding.EncodeToString([]byte(key)), "CUSTODY_KEY", "secret")
	add("custody key in bytes", key, "", "secret")
	add("variable of no concern", "canary-unlisted~variable/5", "UNLISTED", "secret", "browser")
	headers := object{
		"X-A": object{"env": "DOCS_KEY"}, "X-B": object{"file": file},
		"X-C": object{"command": child(t, "secret", filepath.Join(p.records, "secret"))},
	}
	limits := object{}
	callback := freeAddress(t)
	w.Preregister("desk", "canary-client~secret/1", "client_secret_basic", "http://"+callback+"/callback")
	servers := object{
		"docs": object{"http": object{"url": w.Endpoint(), "headers": headers}, "limits": limits},
		"desk": object{
			"http": object{"url": w.Endpoint(), "headers": headers}, "limits": limits,
			"oauth": object{"callback": callback, "client": object{
				"id": "desk", "issuer": w.AS.URL, "secret": object{"env": "DESK_SECRET"},
			}},
		},
		"child": object{"stdio": object{
			"command": child(t, "server", filepath.Join(p.records, "server")), "env": []string{"PATH"},
		}, "limits": object{"start_ms": 300, "probe_ms": 300, "shutdown_ms": 300}},
	}
	c.patience = func(ms int) {
		limits["sign_in_ms"] = ms
		p.configure(servers, object{"env": "CUSTODY_KEY"})
	}
	c.patience(patient)
	return c
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Twelve and more secrets, five encodings, every surface, at each fault: nowhere.
func TestNoSecretAnywhere(t *testing.T) {
	t.Parallel()
	c := newWatch(t)
	c.mustAll("before any fault")
	c.must(0, "", "login", "docs")
	c.must(0, "", "snapshot", "take", "docs")
	draft := c.must(0, "", "authority", "draft", "docs", "--tool", "say", "--by", "ana@example.com")
	c.authority = c.write(filepath.Join(c.home, "say.json"), string(draft.stdout))
	c.must(0, "", "call", "docs", "say", "--authority", c.authority)
	faults, n := 0, 0
	for _, place := range faultPlaces {
		for _, kind := range slices.Sorted(maps.Keys(faultKinds)) {
			if n++; n%*everyFault != 0 {
				continue
			}
			faults++
			_ = c.run("logout", "docs")
			if place.signedIn {
				c.must(0, "", "login", "docs")
			}
			for _, more := range [][]string{nil, {"--json"}} {
				c.inject(place, kind, append(slices.Clone(place.command), more...))
			}
		}
	}
	c.mustAll("after all faults")
	if len(c.kinds) < 12 {
		t.Errorf("only %d kinds of secrets: %v", len(c.kinds), c.kinds)
	}
	t.Logf("%d kinds of secrets x 5 encodings at %d faults, %d children: %d searches",
		len(c.kinds), faults, c.children, c.searched)
}

// inject runs a command while one request of its work is answered badly.
func (c *watch) inject(place faultPlace, kind string, args []string) {
	c.t.Helper()
	if place.expired {
		c.w.Expire()
	}
	c.w.On(place.line, faultKinds[kind])
	defer c.w.Off(place.line)
	c.patience(hasty)
	defer c.patience(patient)
	if i := slices.Index(args, "AUTHORITY"); i >= 0 {
		args[i] = c.authority
	}
	signsOut := place.command[0] == "logout"
	if place.signedIn && !signsOut {
		args = append(args, "--trace", filepath.Join(c.home, "trace-"+kind))
	}
	if o := c.try(kind+" at "+place.name, args...); o.code == 0 && !signsOut && kind != "forbidden" {
		c.t.Errorf("%s had no effect: %v", kind, o)
	}
}

// mustAll goes once through everything that works.
func (c *watch) mustAll(what string) {
	c.t.Helper()
	_ = c.run("logout", "docs")
	for i, args := range [][]string{
		{"login", "docs"},
		{"discover", "docs"},
		{"credentials"},
		{"credentials", "--json"},
		{"logout", "docs", "--no-revoke"},
		{"login", "desk", "--json"},
		{"discover", "desk", "--json"},
		{"snapshot", "take", "desk"},
		{"logout", "desk"},
	} {
		if args[0] == "discover" {
			c.w.Expire()
			args = append(args, "--trace", filepath.Join(c.home, fmt.Sprint("trace-", what, i)))
		}
		if o := c.try(what, args...); o.code != 0 {
			c.t.Fatalf("%s: %v", what, o)
		}
	}
	if o := c.try(what, "discover", "child"); o.code == 0 {
		c.t.Fatal(o)
	}
}
