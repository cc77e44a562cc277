package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestFieldStdio(t *testing.T) { walk(t, stdioCases) }

// childSays is a modern child that answers the call with these bytes.
func childSays(text string) func(*field) ended {
	return func(f *field) ended {
		f.child(modernChild().with("tools/call", "out "+text), nil, `"limits":{"shutdown_ms":500}`)
		f.pin("t")
		return f.call("t")
	}
}

// childFile is a legacy child that answers initialize with a captured file.
func childFile(name string) func(*field) ended {
	return func(f *field) ended {
		text := withID(f.captured("stdio/" + name))
		f.child(modernChild().with("server/discover", "out "+text), nil, `"limits":{"shutdown_ms":500,"start_ms":1500}`)
		return f.run("discover", "s")
	}
}

// skipNoise adds that noise is skipped.
func (f *field) skipNoise() {
	f.Helper()
	text := f.read("config/mcpc/config.json")
	f.write("config/mcpc/config.json", strings.Replace(text, `"stdio":{`, `"stdio":{"stdout_noise":"skip",`, 1))
}

const earlyNote = `{"jsonrpc":"2.0","method":"notifications/message",` +
	`"params":{"level":"info","data":"` + prose + "\"}}\n"

// childSees calls a child that answers with its environment, and wants just these names.
func childSees(list []string, names string) func(*field) ended {
	return func(f *field) ended {
		f.environ = append(f.environ, "AWS_SECRET_ACCESS_KEY=x", "MCPC_FOO=y", "MCPC_BAR=z")
		f.child(modernChild().with("tools/call", "env"), list, "")
		f.pin("t")
		end := f.call("t")
		if os.Getenv("SYSTEMROOT") == "" {
			f.want("stdout", end.stdout, `"structuredContent":`+names)
		}
		f.notHolds(end.stdout, "AWS_SECRET")
		return end
	}
}

func (f *field) notHolds(text, what string) {
	f.Helper()
	if strings.Contains(text, what) {
		f.Errorf("%q is in %.600s", what, text)
	}
}

var stdioCases = []fieldCase{
	{"STD-01", "at the start", 5, "protocol.stdout_noise", func(f *field) ended {
		f.child(modernChild().with(atStart, "out "+prose+" 1.2.3\n"), nil, "")
		end := f.run("discover", "s")
		f.wantDetail(end, "line", 1)
		f.wantDetail(end, "bytes", len(prose)+6)
		return end
	}},
	{"STD-01", "captured", 5, "protocol.stdout_noise", childFile("banner.ndjson")},
	{"STD-01", "skipped", 0, "", func(f *field) ended {
		f.child(modernChild().with(atStart, "out "+prose+" 1.2.3\n"), nil, "")
		f.skipNoise()
		end := f.runIn("", "discover", "s")
		f.want("stderr", end.stderr, "1 lines of the server's stdout were no messages and were skipped")
		return end
	}},
	{"STD-02", "captured", 5, "protocol.stdout_noise", childFile("json-log-lines.ndjson")},
	{"STD-02", "an object of another kind", 5, "protocol.stdout_noise", childSays(
		`{"level":30,"msg":"` + prose + "\"}\n")},
	{"STD-02", "skipped", 0, "", func(f *field) ended {
		f.child(modernChild().with(atStart, "out {\n  \"msg\": \""+prose+"\"\n}\n{\"level\":30}\n"), nil, "")
		f.skipNoise()
		return f.run("discover", "s")
	}},
	{"STD-03", "empty list", 0, "", childSees(nil, `[]`)},
	{"STD-03", "one name", 0, "", childSees([]string{"MCPC_FOO"}, `["MCPC_FOO=y"]`)},
	{"STD-04", "not on the PATH", 5, "transport.command_not_found", func(f *field) ended {
		f.config(`{"stdio":{"command":["no-such-npx","-y","pkg"],"env":["HOME"]}}`)
		end := f.run("discover", "s")
		f.wantDetail(end, "command", "no-such-npx")
		return end
	}},
	{"STD-04", "unset variable", 2, "source.unset", func(f *field) ended {
		f.child(modernChild(), []string{"NOT_SET_ANYWHERE"}, "")
		end := f.run("discover", "s")
		f.wantDetail(end, "name", "NOT_SET_ANYWHERE")
		return end
	}},
	{"STD-04", "early exit", 5, "transport.exited", func(f *field) ended {
		f.child(childScript{atStart: {"err 100", "exit 3"}}, []string{"HOME", "PATH"}, "")
		end := f.run("discover", "s")
		f.wantDetail(end, "exit", 3)
		f.wantDetail(end, "inherited", "[HOME PATH]")
		f.notHolds(end.stderr, "HOME="+f.home)
		return end
	}},
	{"STD-06", "slow and noisy on stderr", 0, "", func(f *field) ended {
		f.child(modernChild().with(atStart, "err 262144", "wait 600"), nil, `"limits":{"probe_ms":200}`)
		return f.run("discover", "s")
	}},
	{"STD-06", "progress on stdout", 5, "protocol.stdout_noise", childFile("npx-first-run.txt")},
	{"STD-06", "too slow", 5, "limit.deadline_start", func(f *field) ended {
		f.child(modernChild().with(atStart, "wait 30000"), nil, `"limits":{"probe_ms":100,"start_ms":300,"shutdown_ms":200}`)
		return f.run("discover", "s")
	}},
	{"STD-06", "the start deadline is not the call's", 0, "", func(f *field) ended {
		script := modernChild()
		script["tools/call"] = append([]string{"wait 1200"}, script["tools/call"]...)
		f.child(script, nil, `"limits":{"start_ms":1000}`)
		f.pin("t")
		return f.call("t")
	}},
	{"STD-07", "before the answer", 0, "", func(f *field) ended {
		f.child(modernChild().with(atStart, "out "+earlyNote+`{"jsonrpc":"2.0","method":"vendor/x"}`+"\n"), nil, "")
		return f.run("discover", "s")
	}},
	{"STD-07", "before initialize is answered", 0, "", func(f *field) ended {
		script := legacyChild()
		script["initialize"] = append([]string{
			"out " + earlyNote + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n",
		}, script["initialize"]...)
		f.child(script, nil, "")
		return f.run("discover", "s")
	}},
	{"STD-08", "two on one line", 5, "protocol.stdout_noise", childFile("two-on-one-line.ndjson")},
	{"STD-08", "pretty", 5, "protocol.stdout_noise", childFile("pretty.ndjson")},
	{"STD-08", "byte order mark", 5, "protocol.frame", childSays("\ufeff" + resultEvent + "\n")},
	{"STD-08", "space before the line end", 0, "", childSays(resultEvent + " \n")},
	{"STD-08", "whole, and ended by the end of the output", 0, "", func(f *field) ended {
		f.child(modernChild().with("tools/call", "out "+resultEvent, "exit 0"), nil, "")
		f.pin("t")
		return f.call("t")
	}},
	{"STD-08", "cut off by the end of the output", 5, "transport.outcome_unknown", func(f *field) ended {
		f.child(modernChild().with("tools/call", "out "+resultEvent[:40], "exit 0"), nil, "")
		f.pin("t")
		return f.call("t")
	}},
	{"STD-09", "", 0, "", func(f *field) ended {
		f.child(modernChild().with("tools/call", "out "+resultEvent+"\r\n"), nil, "")
		f.pin("t")
		end := f.call("t")
		f.notHolds(f.heardByChild(), "\r")
		return end
	}},
	{"STD-10", "", 0, "", func(f *field) ended {
		script := modernChild()
		script["tools/list"] = append([]string{"err 262144"}, script["tools/list"]...)
		f.child(script, nil, "")
		return f.run("discover", "s")
	}},
	{"STD-12", "captured", 5, "protocol.stdout_noise", childFile("content-length.txt")},
	{"STD-12", "of the call", 5, "protocol.stdout_noise", func(f *field) ended {
		end := childSays("Content-Length: 97\r\n\r\n" + resultEvent)(f)
		if end.took > 3*time.Second {
			f.Errorf("took %v", end.took)
		}
		return end
	}},
}
