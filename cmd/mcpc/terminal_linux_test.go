package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"mcpc/internal/terminal"
)

// operator runs mcpc in process as a person does who sits at a terminal.
type operator struct {
	*testing.T
	home    string
	environ []string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	home := t.TempDir()
	o := &operator{T: t, home: home, environ: []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_PROXY=*", "TERM=xterm-256color", "NO_COLOR=1",
		"XDG_CONFIG_HOME=" + home + "/config", "XDG_DATA_HOME=" + home + "/data", "XDG_STATE_HOME=" + home + "/state",
	}}
	return o
}

func (o *operator) write(name, text string) string {
	o.Helper()
	path := filepath.Join(o.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		o.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		o.Fatal(err)
	}
	return path
}

// shown is what arrived at the terminals.
type shown struct {
	code        int
	out, stderr string
}

// sees runs a command on two terminals.
func (o *operator) sees(args ...string) shown {
	o.Helper()
	var out, stderr bytes.Buffer
	outTTY, endOut := copyTTY(&out)
	errTTY, endErr := copyTTY(&stderr)
	code := run(o.Context(), args, o.environ, strings.NewReader(""), outTTY, errTTY)
	endOut()
	endErr()
	return shown{code, out.String(), stderr.String()}
}

// pipes runs a command without terminals.
func (o *operator) pipes(args ...string) shown {
	o.Helper()
	var out, stderr bytes.Buffer
	code := run(o.Context(), args, o.environ, strings.NewReader(""), &out, &stderr)
	return shown{code, out.String(), stderr.String()}
}

// ours is what mcpc itself moves the cursor with: the progress line.
var ours = regexp.MustCompile(`\r[^\r\x1b]*\x1b\[K`)

// unshown returns the first place where a code point reaches a terminal that does not show itself, or "".
func unshown(text string) string {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != '\n' && (terminal.Hidden(r) || (r == utf8.RuneError && size == 1)) {
			return fmt.Sprintf("U+%04X in %q", r, text[max(0, i-40):min(len(text), i+40)])
		}
		i += size
	}
	return ""
}

// check requires that nothing raw is shown, and that the text which was to be shown is.
func (o *operator) check(s shown, marker string, args []string) {
	o.Helper()
	if at := unshown(s.out); at != "" {
		o.Errorf("mcpc %q: stdout: %s", args, at)
	}
	if at := unshown(ours.ReplaceAllString(s.stderr, "")); at != "" {
		o.Errorf("mcpc %q: stderr: %s", args, at)
	}
	if !strings.Contains(s.out+s.stderr, marker) {
		o.Errorf("mcpc %q (exit %d) shows no %q, so it shows nothing\n%s\n%s", args, s.code, marker, s.out, s.stderr)
	}
}

// hostileTool has the text wherever mcpc looks, and where it does not.
const hostileTool = `{"name":%s,"title":%[2]s,"description":%[2]s,"inputSchema":{"type":"object","properties":{` +
	`%[2]s:{"type":%[2]s,"description":%[2]s},"plain":{"type":"string","description":%[2]s}},"required":[%[2]s]},` +
	`"annotations":{%[2]s:%[2]s},"_meta":{%[2]s:%[2]s}}`

const hostileContent = `{"type":"text","text":%[1]s},{"type":"image","mimeType":%[1]s,"data":%[1]s},` +
	`{"type":"resource_link","uri":%[1]s,"name":%[1]s},` +
	`{"type":"resource","resource":{"uri":%[1]s,"mimeType":%[1]s,"text":%[1]s}},` +
	`{"type":"resource","resource":{"uri":%[1]s,"blob":"aGVsbG8="}},{"type":%[1]s,%[1]s:[%[1]s]},`

const hostileProgress = `{"jsonrpc":"2.0","method":"notifications/progress",` +
	`"params":{"progressToken":"mcpc-1","progress":1,"total":2,"message":%s}}\n`

// hostile is the rules of a server in whose every text one of the payloads stands.
func hostile(texts []string) []rule {
	q := func(s string) string { return strings.ReplaceAll(jsonText(s), `\n`, `\u000a`) } // \n ends a line of a stream
	tools := []string{
		`{"name":"call","title":"MARK","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["x"]}}`,
	}
	var content, progress strings.Builder
	for i, p := range texts {
		p = "MARK" + p
		tools = append(tools, fmt.Sprintf(hostileTool, q(fmt.Sprint("tool", i, p)), q(p)))
		fmt.Fprintf(&content, hostileContent, q(p))
		fmt.Fprintf(&progress, hostileProgress, q(p))
	}
	all := q("MARK" + strings.Join(texts, ""))
	in := strings.NewReplacer("ALL", all, "TOOLS", strings.Join(tools, ","), "CONTENT", content.String(),
		"PROGRESS", progress.String(), "RESULT", `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete",`).Replace
	result := in(`RESULT"content":[CONTENT{"type":"text","text":""}],"structuredContent":{ALL:ALL},ALL:ALL}}`)
	return parseRules(strings.Join([]string{
		in(`server/discover RESULT"supportedVersions":["2026-07-28",ALL],"capabilities":{"tools":{}},` +
			`"instructions":ALL,"serverInfo":{"name":ALL,"version":ALL}}}`),
		in(`tools/list RESULT"tools":[TOOLS]}}`),
		`tools/call once sse ` + result,
		in(`tools/call once sse PROGRESS`) + result,
		in(`tools/call {"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":ALL,"data":ALL}}`),
	}, "\n"))
}

func TestNothingRawReachesTerminal(t *testing.T) {
	t.Parallel()
	if len(payloads) < 40 {
		t.Fatalf("%d payloads", len(payloads))
	}
	var texts []string
	for _, p := range payloads {
		if unshown(p.text) == "" {
			t.Fatalf("%s is harmless", p.name)
		}
		texts = append(texts, p.text)
	}
	o := newOperator(t)
	h := &fakeHTTP{rules: hostile(texts), log: os.DevNull}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	o.write("config/mcpc/config.json", `{"servers": {"web": {"http": {"url": "`+srv.URL+`/mcp"}}},`+
		`"custody": {"key": {"file": "`+o.home+`/key"}}}`)
	old := filepath.Join(o.home, "old.json")
	if s := o.pipes("snapshot", "take", "web", "-o", old); s.code != 0 {
		t.Fatalf("%+v", s)
	}
	for i := range texts {
		texts[i] += "changed"
	}
	calls := h.rules[2:4]
	h.swap(hostile(texts))
	h.rules[2], h.rules[3] = calls[0], calls[1]
	if s := o.pipes("snapshot", "take", "web"); s.code != 0 {
		t.Fatalf("%+v", s)
	}
	var draft []string
	document := o.pipes("authority", "draft", "web", "--tool", "call", "--by", "ana@example.com")
	grants := o.write("grants.json", document.out)
	for _, tool := range describedTools(t, o) {
		draft = append(draft, "--tool", tool)
	}
	every := o.pipes(append([]string{"authority", "draft", "web", "--by", "MARK"}, draft...)...)
	all := o.write("all.json", every.out)

	commands := [][]string{
		{"discover", "web"},
		{"snapshot", "show", "web"},
		{"snapshot", "show", "web", draft[1]},
		{"snapshot", "diff", old, "web"},
		{"snapshot", "diff", old, "live:web", "--authority", all},
		append([]string{"authority", "draft", "web", "--by", "MARK"}, draft...),
		{"authority", "check", all},
		{"authority", "surface", all},
		{"call", "web", "call", "--authority", grants},
		{"snapshot", "take", "web", "-o", "-"},
	}
	for i := 1; i < len(draft); i += 2 {
		commands = append(commands, []string{"snapshot", "show", "web", draft[i]})
	}
	for _, args := range commands {
		h.swap(hostile(texts))
		o.check(o.sees(args...), "MARK", args)
		args = append(args[:len(args):len(args)], "--json")
		o.check(o.sees(args...), "MARK", args)
	}
	h.swap(hostile(texts)[3:]) // the call with progress, and after that an error of the server's
	s := o.sees("call", "web", "call", "--authority", grants)
	o.check(s, "MARK", []string{"call with progress"})
	if !strings.Contains(s.stderr, "[############............]") {
		t.Errorf("no progress is shown: %q", s.stderr)
	}
	o.check(o.sees("call", "web", "call", "--authority", grants), "protocol.error", []string{"call with an error"})
	for _, args := range [][]string{{"snapshot", "list"}, {"snapshot", "verify"}, {"config", "check"}, {"credentials"}} {
		o.check(o.sees(args...), "", args)
		o.check(o.sees(append(args, "--json")...), "", args)
	}
}

// describedTools returns the names of the tools in the newest snapshot that can be granted.
func describedTools(t *testing.T, o *operator) (names []string) {
	t.Helper()
	s := o.pipes("snapshot", "show", "web", "--json")
	var doc struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(s.out), &doc); err != nil || len(doc.Tools) < 10 {
		t.Fatalf("%d tools, %v", len(doc.Tools), err)
	}
	for _, tool := range doc.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// What the operator typed, or wrote into a file, comes back in refusals; it may have been pasted from anywhere.
func TestNothingRawComesBack(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	for some := range slices.Chunk(payloads, 5) {
		text := "MARK"
		for _, p := range some {
			text += p.text
		}
		q := jsonText(text)
		conf := o.write("named.json", `{"servers": {`+q+`: {"stdio": {"command": [`+q+`], "env": []}}}}`)
		odd := o.write("odd.json", `{"servers": {"a": {`+q+`: 1}}}`)
		rights := o.write("rights.json", `{"mcpc": "authority/1", "server": {"http": "https://a.example"}, `+q+`: 1}`)
		for _, args := range [][]string{
			{text},
			{"snapshot", text},
			{"discover", text},
			{"discover", "--" + text},
			{"discover", "a", text},
			{"discover", "--", text},
			{"discover", "--env", text, "--", "true"},
			{"snapshot", "show", text},
			{"snapshot", "show", "./" + text},
			{"snapshot", "show", text + ".json"},
			{"authority", "check", text},
			{"authority", "check", rights},
			{"authority", "draft", "web", "--tool", text, "--expires", text},
			{"call", "a", text},
			{"call", "a", "b", text, "--authority", text},
			{"login", text},
			{"refusals", text},
			{"config", "check", text},
			{"config", "check", odd},
			{"config", "check", conf},
			{"config", "import", text},
			{"--config", conf, "discover", "MARK"},
			{"--config", conf, "call", text, "b"},
			{"--config", text, "config", "path"},
			{"--config", text, "discover", "a"},
			{"https://" + text},
			{"discover", "https://" + text + "/"},
		} {
			o.check(o.sees(args...), "", args)
			o.check(o.sees(append([]string{"--json"}, args...)...), "", args)
		}
	}
}

// A child's stderr is looked at on purpose, and is as hostile as the rest.
func TestNothingRawFromStderr(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	rules := o.write("rules", "server/discover exit 1\ninitialize exit 1")
	var all strings.Builder
	for _, p := range payloads {
		all.WriteString("MARK" + p.text + "\n")
	}
	o.write("rules.stderr", all.String()+"\xff\xfe\x9b31m")
	args := []string{"discover", "--server-stderr", "--env", "PATH", "--", "fakeserver", rules}
	o.check(o.sees(args...), "  | MARK", args)
	s := o.pipes(args...)
	if at := unshown(s.stderr); at != "" {
		t.Errorf("to a pipe: %s", at)
	}
}

// With colours the only escapes are mcpc's own.
func TestColoursAreOurs(t *testing.T) {
	t.Parallel()
	own := regexp.MustCompile(`\x1b\[(0|1|2|31|32|33|36)m`)
	o := newOperator(t)
	o.environ = append(o.environ, "NO_COLOR=")
	var texts []string
	for _, p := range payloads {
		texts = append(texts, own.ReplaceAllString(p.text, "\x1b[5m"))
	}
	h := &fakeHTTP{rules: hostile(texts), log: os.DevNull}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	old := filepath.Join(o.home, "old.json")
	o.pipes("snapshot", "take", srv.URL, "-o", old)
	texts = append(texts[1:], "\x1b[5m")
	h.swap(hostile(texts))
	args := []string{"snapshot", "diff", old, "live:" + srv.URL}
	s := o.sees(args...)
	if !own.MatchString(s.out) {
		t.Error("no colours")
	}
	s.out = own.ReplaceAllString(s.out, "")
	o.check(s, "MARK", args)
}

func TestEveryCodePointIsShown(t *testing.T) {
	t.Parallel()
	var texts []string
	var b strings.Builder
	for r := rune(0); r <= utf8.MaxRune; r += stride {
		if !utf8.ValidRune(r) {
			continue
		}
		b.WriteRune(r)
		if b.Len() > 64<<10 {
			texts = append(texts, b.String())
			b.Reset()
		}
	}
	texts = append(texts, b.String())
	content, properties := make([]string, len(texts)), make([]string, len(texts))
	for i, text := range texts {
		content[i] = `{"type":"text","text":` + quotedRaw("MARK"+text) + `}`
		properties[i] = `"p` + strconv.Itoa(i) + `":{"description":` + quotedRaw("MARK"+text) + `}`
	}
	o := newOperator(t)
	begin := `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete",`
	h := &fakeHTTP{log: os.DevNull, rules: []rule{
		{method: "server/discover", status: 200, body: begin +
			`"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`},
		{method: "tools/list", status: 200, body: begin +
			`"tools":[{"name":"call","inputSchema":{"type":"object","properties":{` + strings.Join(properties, ",") + `}}}]}}`},
		{method: "tools/call", status: 200, body: begin + `"content":[` + strings.Join(content, ",") + `]}}`},
	}}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	o.write("config/mcpc/config.json", `{"servers": {"web": {"http": {"url": "`+srv.URL+`/mcp"},`+
		`"limits": {"descriptor_bytes": 16777216}}}}`)
	if s := o.pipes("snapshot", "take", "web"); s.code != 0 {
		t.Fatalf("%+v", s)
	}
	grants := o.write("grants.json", o.pipes("authority", "draft", "web", "--tool", "call", "--by", "ana@example.com").out)
	for _, args := range [][]string{
		{"call", "web", "call", "--authority", grants},
		{"call", "web", "call", "--authority", grants, "--json"},
		{"snapshot", "show", "web", "call"},
	} {
		o.check(o.sees(args...), "MARK", args)
	}
	// To a pipe it is the received bytes.
	s := o.pipes("call", "web", "call", "--authority", grants, "--json")
	if !strings.Contains(s.out, content[len(content)-1]) {
		t.Error("the result is not as received")
	}
}

// quotedRaw is a JSON string in which only what must be escaped is.
func quotedRaw(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSpace(b.String()))
}

func jsonText(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
