package transport

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mcpc/internal/refusal"
)

// environment returns exactly the listed variables, never nil: a nil environment would mean all of mcpc's own. On
// Windows the process library adds SYSTEMROOT, without which no program can start there.
func environment(names []string, lookup func(string) (string, bool)) ([]string, *refusal.Refusal) {
	env := make([]string, 0, len(names))
	for _, name := range names {
		value, ok := lookup(name)
		if !ok {
			return nil, refusal.New(refusal.SourceUnset, refusal.Own("name", name), refusal.Own("where", "stdio.env"))
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// search finds the program of a command.
type search struct {
	path       string   // the operator's PATH
	extensions []string // of programs, tried in this order; nil where a program needs none
}

func newSearch(lookup func(string) (string, bool)) search {
	path, _ := lookup("PATH")
	s := search{path: path}
	if runtime.GOOS == "windows" {
		list, _ := lookup("PATHEXT")
		s.extensions = extensionsOf(list)
	}
	return s
}

// extensionsOf reads a PATHEXT list.
func extensionsOf(list string) []string {
	if list == "" {
		list = ".com;.exe;.bat;.cmd"
	}
	var extensions []string
	for e := range strings.SplitSeq(strings.ToLower(list), ";") {
		if e = "." + strings.TrimPrefix(e, "."); e != "." {
			extensions = append(extensions, e)
		}
	}
	return extensions
}

// find returns the path of the program. A name with a separator is a path already; any other is looked for in the
// absolute folders of the PATH, so that nothing in the working directory is run by accident.
func (s search) find(name string) (string, *refusal.Refusal) {
	command := refusal.Own("command", name)
	if strings.ContainsRune(name, '/') || filepath.Base(name) != name {
		if found := s.program(name); found != "" {
			name = found
		}
		return s.admit(name, command)
	}
	inDirectory := false
	for _, dir := range filepath.SplitList(s.path) {
		found := s.program(filepath.Join(dir, name))
		switch {
		case found == "":
		case filepath.IsAbs(dir):
			return s.admit(found, command)
		default:
			inDirectory = true
		}
	}
	if inDirectory {
		no := refusal.New(refusal.TransportCommandDir, command)
		return "", no.Hint("write the path, with a separator in it, to run a program from a folder of your own")
	}
	return "", refusal.New(refusal.TransportCommandMissing, command)
}

// program returns the path with the first extension under which there is a program, or "".
func (s search) program(path string) string {
	if s.extensions == nil {
		if isProgram(path, true) {
			return path
		}
		return ""
	}
	for _, e := range append([]string{""}, s.extensions...) {
		if (e != "" || filepath.Ext(path) != "") && isProgram(path+e, false) {
			return path + e
		}
	}
	return ""
}

func isProgram(path string, needsMode bool) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (!needsMode || info.Mode()&0o111 != 0)
}

// admit refuses Windows command scripts: the system runs them by cmd.exe, which reads arguments as commands.
func (s search) admit(path string, command refusal.Field) (string, *refusal.Refusal) {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".cmd", ".bat":
		if s.extensions != nil {
			no := refusal.New(refusal.TransportCommandScript, command)
			return "", no.Hint("run what the script runs: node and the path of the package's JavaScript file")
		}
	}
	return path, nil
}
