package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// nonce is what a peer says wherever it may say anything. It has the form of a word, a scope, a name and a part of a
// URL, so that no check of a form keeps it out.
const nonce = "N0NCEq7x"

// told are the refusals that hold a peer's text on purpose, since nobody could act on them without: the two URLs of a
// mismatch, and the scopes that are asked for.
var told = map[string]bool{
	"oauth.issuer_mismatch": true, "oauth.resource_mismatch": true, "oauth.scope_required": true,
}

// ownLines are the lines of stderr in which mcpc speaks: refusals with their hints, and whatever else it reports.
// The URL of a sign-in and the remarks on what was listed are about the peer's text, and are no errors.
func ownLines(stderr string) []string {
	var own []string
	for line := range strings.Lines(stderr) {
		about := strings.HasPrefix(line, "mcpc: note: ") || strings.Contains(line, "redirect_uri=")
		if !about && strings.TrimSpace(line) != "" {
			own = append(own, line)
		}
	}
	return own
}

// tellsNothing runs a command in both modes, and fails the test where what a peer said is in an error, a log line or on
// the stdout of a refusal.
func (f *field) tellsNothing(args ...string) {
	f.Helper()
	for _, mode := range f.modes() {
		end := f.runIn("", append(slices.Clone(mode), args...)...)
		if told[end.refusal] || mode == nil && slices.ContainsFunc(slices.Collect(maps.Keys(told)),
			func(name string) bool { return strings.Contains(end.stderr, "mcpc: "+name+":") }) {
			continue
		}
		if text := strings.Join(ownLines(end.stderr), ""); strings.Contains(text, nonce) {
			f.Errorf("%v tells: %s", args, text)
		}
		if end.exit > 1 && strings.Contains(end.stdout, nonce) {
			f.Errorf("%v exits %d and prints: %s", args, end.exit, end.stdout)
		}
		if f.person != nil && strings.Contains(strings.Join(f.person.told(), ""), nonce) {
			f.Errorf("%v: the browser is told", args)
		}
	}
}

// modes are both ways to tell something, or where there are thousands of commands one after the other.
func (f *field) modes() [][]string {
	all := [][]string{{"--json"}, nil}
	if !f.inTurns {
		return all
	}
	f.turns++
	return all[f.turns%2:][:1]
}

// mutations returns a document once for each place in it: the value there replaced by a nonce, by a URL and an object
// with it, and each object with one member renamed and with one more.
func mutations(t *testing.T, doc string) []string {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(doc), &tree); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	var all []string
	emit := func() {
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.ReplaceAll(string(text), `"$ID"`, "$ID"))
	}
	var walk func(node any, set func(any))
	walk = func(node any, set func(any)) {
		for _, value := range []any{
			nonce, "https://" + nonce + ".example/" + nonce, map[string]any{nonce: nonce}, []any{nonce},
		} {
			set(value)
			emit()
		}
		set(node)
		switch node := node.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(node)) {
				value := node[name]
				walk(value, func(v any) { node[name] = v })
				delete(node, name)
				node[nonce] = value
				emit()
				delete(node, nonce)
				node[name] = value
			}
			node[nonce] = nonce
			emit()
			delete(node, nonce)
		case []any:
			for i, value := range node {
				walk(value, func(v any) { node[i] = v })
			}
		}
	}
	walk(tree, func(v any) { tree = v })
	return all
}

// spoken is a document of a peer, and how it is heard.
type spoken struct {
	name, doc string
	say       func(text string) reply // around the document; nil for a JSON body of status 200
	method    string                  // of the replies, where it is said
	legacy    bool
	args      []string
}

const noncedError = `{"jsonrpc":"2.0","id":"$ID","error":{"code":-32000,"message":"m","data":{"a":["b"]}}}`

// withCode is an error of that code, with data.
func withCode(code int, data string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"$ID","error":{"code":%d,"message":"m","data":%s}}`, code, data)
}

func inFrame(result string) string { return `{"jsonrpc":"2.0","id":"$ID","result":` + result + `}` }

func inStream(text string) reply { return stream("data: " + text + "\n\n") }

func withStatus(code int) func(string) reply {
	return func(text string) reply { return status(code, "application/json", text) }
}

const noncedTools = `{"tools":[{"name":"t","title":"a","description":"b","inputSchema":{"type":"object",` +
	`"properties":{"p":{"type":"string","description":"c"}}},"annotations":{"title":"d"},"icons":[{"src":"e"}],` +
	`"_meta":{"f":"g"}}],"nextCursor":"h","ttlMs":1}`

var (
	discovers = []string{"discover", "s"}
	callsT    = []string{"call", "s", "t", "--authority", "$HOME/authority.json"}
)

var spokenDocuments = []spoken{
	{name: "DiscoverResult", doc: inFrame(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"a":"b"}},` +
		`"serverInfo":{"name":"a","version":"b"},"instructions":"c"}`), method: "server/discover", args: discovers},
	{name: "InitializeResult", doc: inFrame(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
		`"serverInfo":{"name":"a","version":"b"},"instructions":"c"}`), method: "initialize", legacy: true, args: discovers},
	{name: "list", doc: inFrame(noncedTools), method: "tools/list", args: discovers},
	{name: "probe error", doc: noncedError, method: "server/discover", args: discovers},
	{
		name: "version error", doc: withCode(-32022, `{"requested":"a","supported":["b"]}`), say: withStatus(400),
		method: "server/discover", args: discovers,
	},
	{
		name: "capability error", doc: withCode(-32021, `{"requiredCapabilities":{"roots":{}}}`), say: withStatus(400),
		method: "server/discover", args: discovers,
	},
	{name: "list error", doc: noncedError, method: "tools/list", args: discovers},
	{name: "result", doc: inFrame(`{"content":[{"type":"text","text":"a"}],"structuredContent":{"b":"c"},` +
		`"resultType":"complete","isError":false}`), method: "tools/call", args: callsT},
	{
		name: "result in a stream", doc: inFrame(`{"content":[{"type":"text","text":"a"}]}`), say: inStream,
		method: "tools/call", args: callsT,
	},
	{name: "more rounds", doc: inFrame(`{"resultType":"input_required","inputRequests":{"a":{"method":"b",` +
		`"params":{"message":"c"}}},"requestState":"d"}`), method: "tools/call", args: callsT},
	{
		name: "task", doc: inFrame(`{"resultType":"task","task":{"taskId":"a","status":"b"}}`), method: "tools/call",
		args: callsT,
	},
	{name: "call error", doc: noncedError, method: "tools/call", args: callsT},
	{name: "call error with a status", doc: noncedError, say: withStatus(400), method: "tools/call", args: callsT},
	{name: "call error of the server", doc: noncedError, say: withStatus(500), method: "tools/call", args: callsT},
	{
		name: "elicitation", doc: withCode(-32042, `{"elicitations":[{"url":"a","message":"b"}]}`), method: "tools/call",
		args: callsT,
	},
	{
		name: "header mismatch", doc: withCode(-32020, `{"header":"a"}`), say: withStatus(400), method: "tools/call",
		args: callsT,
	},
	{
		name: "notification", doc: `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}`,
		say: func(text string) reply {
			return stream("data: " + text + "\n\ndata: " + noncedErrorAsSent + "\n\n")
		}, method: "tools/call", args: callsT,
	},
	{
		name: "request", doc: `{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"message":"b"}}`,
		legacy: true,
		say: func(text string) reply {
			return stream("data: " + text + "\n\ndata: " + noncedErrorAsSent + "\n\n")
		}, method: "tools/call", args: callsT,
	},
}

var noncedErrorAsSent = strings.ReplaceAll(noncedError, `"$ID"`, "$ID")

// TestNoPeerTextInErrors says a nonce at every place of every document that an MCP server sends.
func TestNoPeerTextInErrors(t *testing.T) {
	t.Parallel()
	for _, s := range spokenDocuments {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newField(t)
			base := modern()
			if s.legacy {
				base = legacy()
			}
			p := f.calledPeer(base, nil)
			for _, text := range mutations(t, s.doc) {
				say := document(text)
				if s.say != nil {
					say = s.say(text)
				}
				p.now(base.with(replies{s.method: say, "POST /mcp": status(202, "", "")}))
				f.tellsNothing(f.expanded(s.args)...)
			}
		})
	}
}

func (f *field) expanded(args []string) []string {
	all := slices.Clone(args)
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "$HOME", f.home)
	}
	return all
}

// TestNoPeerTextInSignIn says a nonce at every place of every document of a sign-in.
func TestNoPeerTextInSignIn(t *testing.T) {
	t.Parallel()
	for _, s := range []spoken{
		{name: "resource", method: pathForm, doc: `{"resource":"$ORIGIN/mcp","authorization_servers":["$AS"],` +
			`"scopes_supported":["a"],"resource_name":"b"}`},
		{name: "server", method: serverForm, doc: `{"issuer":"$ORIGIN","authorization_endpoint":"$ORIGIN/authorize",` +
			`"token_endpoint":"$ORIGIN/token","registration_endpoint":"$ORIGIN/register",` +
			`"revocation_endpoint":"$ORIGIN/revoke",` +
			`"code_challenge_methods_supported":["S256"],"scopes_supported":["a"],` +
			`"token_endpoint_auth_methods_supported":["none"]}`},
		{name: "registration", method: "POST /register", doc: `{"client_id":"a","redirect_uris":["b"],"client_secret":"c",` +
			`"token_endpoint_auth_method":"d","client_name":"e"}`},
		{
			name: "registration refused", method: "POST /register", say: withStatus(400),
			doc: `{"error":"invalid_redirect_uri","error_description":"a","error_uri":"b"}`,
		},
		{name: "tokens", method: "POST /token", doc: `{"access_token":"a","token_type":"Bearer","expires_in":"1",` +
			`"refresh_token":"b","scope":"c","id_token":"d"}`},
		{
			name: "tokens refused", method: "POST /token", say: withStatus(400),
			doc: `{"error":"invalid_grant","error_description":"a","error_uri":"b"}`,
		},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newField(t)
			w := f.world(nil, nil)
			w.http(w.mcp.url, `"limits":{"sign_in_ms":2000}`)
			before := []replies{w.mcp.replies, w.as.replies}
			for _, text := range mutations(t, s.doc) {
				say := document(text)
				if s.say != nil {
					say = s.say(text)
				}
				w.mcp.now(before[0])
				w.as.now(before[1])
				if s.method == pathForm {
					w.mcp.change(replies{s.method: say})
				} else {
					w.as.change(replies{s.method: say})
				}
				f.tellsNothing("login", "s", "--no-browser")
			}
		})
	}
}

// TestNoPeerTextFromCallbacks comes back with a nonce in every parameter, and with one more.
func TestNoPeerTextFromCallbacks(t *testing.T) {
	t.Parallel()
	f := newField(t)
	w := f.world(nil, nil)
	w.http(w.mcp.url, `"limits":{"sign_in_ms":300}`)
	for _, name := range []string{"code", "state", "iss", "error", "error_description", "error_uri", nonce} {
		for _, base := range []url.Values{{"code": {"CODE"}}, {"error": {"access_denied"}}, {"error": {"server_error"}}} {
			if name == "state" && base.Has("error") {
				continue // nothing comes of it but the deadline, which the first one has waited for
			}
			f.person.back = func(q url.Values) []string {
				params := url.Values{"state": {q.Get("state")}}
				maps.Copy(params, base)
				params.Set(name, nonce)
				return []string{q.Get("redirect_uri") + "?" + params.Encode()}
			}
			f.tellsNothing("login", "s", "--no-browser")
		}
	}
}

// TestNoPeerTextFromHeaders has a nonce in the status line and in every header that is looked at.
func TestNoPeerTextFromHeaders(t *testing.T) {
	t.Parallel()
	f := newField(t)
	p := f.calledPeer(legacy(), nil)
	w := newField(t).world(nil, nil)
	w.signedIn()
	w.pin("t")
	f.inTurns, w.inTurns = true, true
	for _, code := range []int{200, 202, 204, 302, 400, 401, 403, 404, 405, 406, 429, 500, 503, 524} {
		for _, header := range []string{
			"Content-Type: " + nonce, "Content-Type: text/" + nonce, "Content-Encoding: " + nonce,
			"Location: https://" + nonce + ".example/",
			"Location: /" + nonce, "Retry-After: " + nonce, "Mcp-Session-Id: " + nonce, nonce + ": " + nonce,
			`WWW-Authenticate: Bearer realm="` + nonce + `", error="` + nonce + `", error_description="` + nonce + `"`,
			`WWW-Authenticate: Bearer resource_metadata="https://` + nonce + `.example/"`,
			`WWW-Authenticate: Bearer resource_metadata="` + nonce + `"`, "WWW-Authenticate: " + nonce + ` a="` + nonce + `"`,
		} {
			say := raw(fmt.Sprintf("HTTP/1.1 %d %s\r\n%s\r\nConnection: close\r\n\r\n%s", code, nonce, header, nonce))
			if code == 204 {
				say = raw(fmt.Sprintf("HTTP/1.1 204 %s\r\n%s\r\nConnection: close\r\n\r\n", nonce, header))
			}
			for _, method := range []string{"server/discover", "initialize", "notifications/initialized", "tools/list"} {
				p.now(legacy().with(replies{method: say}))
				f.tellsNothing(discovers...)
			}
			p.now(legacy().with(replies{"tools/call": say}))
			f.tellsNothing(f.expanded(callsT)...)
			w.mcp.change(replies{"tools/call": say})
			w.tellsNothing(w.expanded(callsT)...)
		}
	}
}

// TestNoPeerTextFromBytes sends what is no message at all.
func TestNoPeerTextFromBytes(t *testing.T) {
	t.Parallel()
	f := newField(t)
	p := f.calledPeer(modern(), nil)
	for _, body := range []string{
		nonce, `"` + nonce + `"`, `["` + nonce + `"]`,
		`{"` + nonce + `":1,"` + nonce + `":2}`, `{"jsonrpc":"` + nonce + `"}`,
		`{"jsonrpc":"2.0","id":"` + nonce + `","result":{}}`, `{"jsonrpc":"2.0","method":"` + nonce + `"}`,
		`{"jsonrpc":"2.0","id":1,"method":"` + nonce + `"}`, "{\"" + nonce + "\":\"\xff\"}", `{"` + nonce + `":"\ud800"}`,
		`{"` + nonce + `":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, `{} ` + nonce, "<html>" + nonce,
	} {
		for _, say := range []reply{
			document(body), stream("event: " + nonce + "\nid: " + nonce + "\nretry: " + nonce + "\ndata: " + body + "\n\n"),
			stream(": " + nonce + "\ndata: " + body), stream(nonce + "\n\n" + "data: " + body + "\n\n"), raw(body),
			raw("HTTP/1.1 " + nonce + "\r\n\r\n" + body), raw("HTTP/1.1 200 OK\r\n" + nonce + "\r\n\r\n" + body),
		} {
			p.now(modern().with(replies{"tools/call": say, "server/discover": say}))
			f.tellsNothing(f.expanded(callsT)...)
			f.tellsNothing(discovers...)
		}
	}
}

// TestNoPeerTextFromChildren writes it to stdout and stderr of a child.
func TestNoPeerTextFromChildren(t *testing.T) {
	t.Parallel()
	for _, start := range [][]string{
		{"out " + nonce + "\n"},
		{"errtext " + nonce + "\n", "exit 3"},
		{`out {"` + nonce + `":1}` + "\n"},
		{"out " + nonce, "exit 0"},
		{`out {"jsonrpc":"2.0","method":"` + nonce + `","params":{"a":"` + nonce + `"}}` + "\n", "exit 1"},
		{`out {"jsonrpc":"2.0","id":"` + nonce + `","result":"` + nonce + `"}` + "\n", "exit 1"},
	} {
		f := newField(t)
		f.child(childScript{atStart: start}, nil, `"limits":{"shutdown_ms":300}`)
		f.tellsNothing(discovers...)
	}
}
