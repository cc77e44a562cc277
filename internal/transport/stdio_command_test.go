package transport

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

// STD-03: the child sees the listed names and no others.
func TestStdioEnvironment(t *testing.T) {
	t.Parallel()
	operator := map[string]string{"AWS_SECRET_ACCESS_KEY": "canary", "MCPC_FOO": "a=b c", "MCPC_EMPTY": "", "PATH": "/p"}
	tests := map[string][]string{
		"":                           nil,
		"PATH=/p":                    {"PATH"},
		"MCPC_FOO=a=b c MCPC_EMPTY=": {"MCPC_FOO", "MCPC_EMPTY"},
	}
	for want, names := range tests {
		o := fakeOptions(t, "read", "env", "eof")
		for _, listed := range o.Server.Stdio.Env {
			want = strings.TrimSpace(listed + "=" + os.Getenv(listed) + " " + want)
		}
		o.Server.Stdio.Env = append(o.Server.Stdio.Env, names...)
		o.LookupEnv = func(name string) (string, bool) {
			if value, ok := operator[name]; ok {
				return value, true
			}
			return os.LookupEnv(name)
		}
		response, err := dialFake(t, o).Exchange(soon(t), echo, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(response.Result); got != `{"is":"`+strings.ReplaceAll(want, `\`, `\\`)+`"}` {
			t.Errorf("%v: %s", names, got)
		}
	}
}

func TestEnvironmentNeverNil(t *testing.T) {
	t.Parallel()
	if env, no := environment(nil, os.LookupEnv); env == nil || len(env) != 0 || no != nil {
		t.Errorf("%#v %v", env, no)
	}
}

func TestStdioUnsetVariable(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "eof")
	o.Server.Stdio.Env = []string{"MCPC_SET", "MCPC_UNSET"}
	o.LookupEnv = lookupIn(map[string]string{"MCPC_SET": "canary"})
	c, err := DialStdio(o)
	f := failureOf(t, err, refusal.SourceUnset)
	if c != nil || f.Refusal.Detail("name") != "MCPC_UNSET" || f.Sent || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v %v", c, err)
	}
}

// No shell: what a shell would read as its own reaches the program as it stands.
func TestStdioArguments(t *testing.T) {
	t.Parallel()
	args := []string{"a & calc", "%USERNAME%", "$HOME", "`id`", "$(id)", "*", "x'y", ";", ">out", ""}
	o := fakeOptions(t, "read", "args", "eof")
	o.Server.Stdio.Command = append(o.Server.Stdio.Command, args...)
	response, err := dialFake(t, o).Exchange(soon(t), echo, nil)
	if err != nil || string(response.Result) != `{"is":"`+strings.Join(args, "|")+`"}` {
		t.Errorf("%v %v", response, err)
	}
}

func writePrograms(t *testing.T, mode os.FileMode, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/nowhere\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	writePrograms(t, 0o755, in("a/tool.exe"), in("b/tool.exe"), in("a/npx.cmd"), in("a/old.bat"), in("b/npx.exe"),
		in("a/both.cmd"), in("a/both.exe"), in("a/odd.Cmd"))
	if err := os.MkdirAll(in("a/folder.exe"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := search{path: in("none") + string(filepath.ListSeparator) + in("a") + string(filepath.ListSeparator) + in("b")}
	s.extensions = extensionsOf(".EXE;;.CMD;BAT")
	tests := []struct{ command, want, refusal string }{
		{"tool", in("a/tool.exe"), ""},
		{"tool.exe", in("a/tool.exe"), ""},
		{"both", in("a/both.exe"), ""},
		{in("b/tool"), in("b/tool.exe"), ""},
		{"npx", "", "transport.command_script"},
		{"npx.cmd", "", "transport.command_script"},
		{"odd.Cmd", "", "transport.command_script"},
		{"old", "", "transport.command_script"},
		{in("a/npx"), "", "transport.command_script"},
		{in("a/npx.cmd. "), "", "transport.command_script"},
		{"missing", "", "transport.command_not_found"},
		{"folder", "", "transport.command_not_found"},
		{"folder.exe", "", "transport.command_not_found"},
	}
	for _, test := range tests {
		got, no := s.find(test.command)
		checkRefusal(t, no, test.refusal)
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.command, got, test.want)
		}
		if no != nil && no.Detail("command") != test.command {
			t.Errorf("%v", no)
		}
	}
}

// What the PATH finds relative to the working directory is passed over, and refused by name when it is all there is.
func TestSearchWorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePrograms(t, 0o755, filepath.Join(dir, "frame_test.go"))
	extensions := extensionsOf(".go")
	sep := string(filepath.ListSeparator)
	tests := []struct{ path, want, refusal string }{
		{".", "", "transport.command_in_directory"},
		{sep + dir, filepath.Join(dir, "frame_test.go"), ""},
		{"../transport", "", "transport.command_in_directory"},
		{"", "", "transport.command_not_found"},
	}
	for _, test := range tests {
		got, no := search{path: test.path, extensions: extensions}.find("frame_test")
		checkRefusal(t, no, test.refusal)
		if got != test.want {
			t.Errorf("PATH %q: %s", test.path, got)
		}
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{".com", ".exe", ".bat", ".cmd"}, extensionsOf("")); diff != "" {
		t.Error(diff)
	}
}

func TestStdioCommandRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	writePrograms(t, 0o755, program)
	tests := []struct {
		name  string
		stdio config.Stdio
		want  *refusal.Entry
	}{
		{"missing", config.Stdio{Command: []string{"mcpc-no-such-program"}}, refusal.TransportCommandMissing},
		{"no interpreter", config.Stdio{Command: []string{program}}, refusal.TransportStart},
		{"found, no interpreter", config.Stdio{Command: []string{"program"}}, refusal.TransportStart},
		{"missing path", config.Stdio{Command: []string{filepath.Join(dir, "none")}}, refusal.TransportStart},
	}
	for _, test := range tests {
		server := &config.Server{Stdio: &test.stdio, Limits: config.DefaultLimits()}
		c, err := DialStdio(StdioOptions{Server: server, LookupEnv: lookupIn(map[string]string{"PATH": dir})})
		f := failureOf(t, err, test.want)
		if c != nil || f.Refusal.Detail("command") != test.stdio.Command[0] {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestStdioExecutable(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "eof")
	self := o.Server.Stdio.Command[0]
	o.Server.Stdio.Command[0] = filepath.Base(self)
	o.LookupEnv = func(name string) (string, bool) {
		if name == "PATH" {
			return filepath.Dir(self), true
		}
		return os.LookupEnv(name)
	}
	if got := dialFake(t, o).Executable(); got != self {
		t.Errorf("%s, want %s", got, self)
	}
}

func TestStdioWorkingDirectory(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, "read", "file answer", "eof")
	o.Server.Stdio.Cwd = t.TempDir()
	text := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")
	if err := os.WriteFile(filepath.Join(o.Server.Stdio.Cwd, "answer"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dialFake(t, o).Exchange(soon(t), echo, nil); err != nil {
		t.Error(err)
	}
}
