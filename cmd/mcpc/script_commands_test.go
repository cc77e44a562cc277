package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpc/internal/strictjson"
)

func init() {
	commands["exits"] = exitsScript
	commands["json"] = jsonScript
	commands["capture"] = captureScript
	commands["edit"] = editScript
	commands["transplant"] = transplantScript
	commands["mode"] = modeScript
	commands["gone"] = goneScript
}

// exitsScript is exec with the exit code that is wanted.
func exitsScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG]...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d where %s was wanted", code, args[0])
	}
}

// oneDocument returns the one JSON document of a file. Of stdout and stderr the line end is required: a document is one
// document to a script that reads it, and a line to a person.
func oneDocument(ts *testscript.TestScript, file string) []byte {
	text := ts.ReadFile(file)
	doc, ended := strings.CutSuffix(text, "\n")
	if !ended && (file == "stdout" || file == "stderr") {
		ts.Fatalf("%s does not end with a line end", file)
	}
	if err := strictjson.Validate([]byte(doc), strictjson.MaxDepth); err != nil {
		ts.Fatalf("%s is not one strict JSON document: %v", file, err)
	}
	return []byte(doc)
}

// memberAt returns the value at a path such as tools.0.name; length is the number of members or elements. Names with
// dots in them cannot be reached.
func memberAt(doc []byte, path string) (string, bool) {
	for _, step := range strings.Split(path, ".") {
		if path == "" {
			break
		}
		if step == "length" {
			n := 0
			for range strictjson.Elements(doc) {
				n++
			}
			for range strictjson.Members(doc) {
				n++
			}
			return strconv.Itoa(n), true
		}
		next, ok := strictjson.Member(doc, step)
		if i, err := strconv.Atoi(step); err == nil && strictjson.Kind(doc) == '[' {
			for j, e := range strictjson.Elements(doc) {
				if i == j {
					next, ok = e, true
				}
			}
		}
		if !ok {
			return "", false
		}
		doc = next
	}
	if text, ok := strictjson.Text(doc); ok {
		return text, true
	}
	return string(doc), true
}

func jsonScript(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 3 || (neg && len(args) != 2) {
		ts.Fatalf("usage: [!] json FILE [PATH [VALUE]]")
	}
	doc := oneDocument(ts, args[0])
	if len(args) == 1 {
		return
	}
	got, ok := memberAt(doc, args[1])
	switch {
	case ok == neg:
		ts.Fatalf("%s: is there: %t", args[1], ok)
	case len(args) == 3 && got != args[2]:
		ts.Fatalf("%s is %s, wanted %s", args[1], got, args[2])
	}
}

func captureScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture NAME FILE PATH")
	}
	got, ok := memberAt(oneDocument(ts, args[1]), args[2])
	if !ok {
		ts.Fatalf("%s has no member %s", args[1], args[2])
	}
	ts.Setenv(args[0], got)
}

func editScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	rewrite(ts, args[0], strings.ReplaceAll(text, args[1], args[2]))
}

// rewrite puts a text into a file that may be write-protected, as somebody with the right to the folder could.
func rewrite(ts *testscript.TestScript, file, text string) {
	path := ts.MkAbs(file)
	info, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Remove(path))
	ts.Check(os.WriteFile(path, []byte(text), info.Mode().Perm()))
	ts.Check(os.Chmod(path, info.Mode().Perm()))
}

func transplantScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: transplant TOOL FROM TO")
	}
	line := func(file string) string {
		for l := range strings.Lines(ts.ReadFile(file)) {
			if strings.HasPrefix(l, fmt.Sprintf(`{"name":%q,"raw"`, args[0])) {
				return strings.TrimRight(l, ",]}\n")
			}
		}
		ts.Fatalf("%s has no line of %s", file, args[0])
		return ""
	}
	from, to := line(args[1]), line(args[2])
	rewrite(ts, args[2], strings.Replace(ts.ReadFile(args[2]), to, from, 1))
}

func modeScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode PERM FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("the mode of %s is %s, wanted %s", args[1], got, args[0])
	}
}

func goneScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone FILE")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	// A killed process that is nobody's child takes its moment to end; one that was not killed sleeps for a minute.
	for end := time.Now().Add(3 * time.Second); alive(pid) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if alive(pid) {
		ts.Fatalf("process %d of %s is still there", pid, args[0])
	}
}
