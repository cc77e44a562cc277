package main

import (
	"bytes"
	_ "embed" // the parts of the page that people write
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed findings.md
var findings string

// markdown is docs/conformance.md. It holds no time and no count that could differ from run to run.
func markdown(version string, sets []set) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Conformance

`+"`make conformance`"+` runs the client leg of the official suite, `+"`@modelcontextprotocol/conformance`"+` %s,
against the real program, and compares this page with what came of it. A driver turns each scenario into ordinary
commands (config check, discover, login, snapshot take, authority draft, call) and pastes the sign-in that a refusal
hints at; its browser only follows redirects. The last columns are what mcpc refused on the way, in order, and the exit
code of the last command: where the suite plays a hostile or forbidding server, a refusal is what passes.
`, version)
	for _, s := range sets {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.revision, s.summary())
		s.table(&b, true, "| scenario | result | refused on the way | exit |\n|---|---|---|---|\n")
		b.WriteString("\nNot scored by the suite, run all the same:\n")
		s.table(&b, false, "| scenario | why not scored | result | refused on the way | exit |\n|---|---|---|---|---|\n")
	}
	b.WriteString("\n" + findings)
	return b.Bytes()
}

func (s set) table(b *bytes.Buffer, scored bool, head string) {
	b.WriteString("\n" + head)
	for _, c := range s.scenarios {
		if c.scored != scored {
			continue
		}
		cells := []string{"`" + c.name + "`"}
		if !scored {
			cells = append(cells, c.reason)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(append(cells, c.verdict, c.refusals(), c.exit()), " | "))
	}
}

// refusals are the names that the driver met, each once.
func (c scenario) refusals() string {
	var names []string
	for _, t := range c.typed {
		if name := "`" + t.Refusal + "`"; t.Refusal != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// exit is the exit code of the last command.
func (c scenario) exit() string {
	if len(c.typed) == 0 {
		return "none"
	}
	return strconv.Itoa(c.typed[len(c.typed)-1].Exit)
}

// summary counts the scored scenarios by what came of them.
func (s set) summary() string {
	scored, passed, excepted, other := 0, 0, 0, 0
	for _, c := range s.scenarios {
		_, exception := exceptions[c.name]
		switch {
		case !c.scored:
			other++
			continue
		case c.verdict == "passes":
			passed++
		case exception && c.verdict != "fails":
			excepted++
		}
		scored++
	}
	return fmt.Sprintf("%s: of %d scored scenarios %d pass without a warning, %d cannot by design, %d fail; "+
		"%d more are not scored.", s.revision, scored, passed, excepted, scored-passed-excepted, other)
}
