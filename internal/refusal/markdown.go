package refusal

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown returns docs/refusals.md: the whole catalogue by family.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Refusals

Written from the catalogue in the program; a test compares the two. A name and its exit code are for scripts to rely on. In
a sentence {field} stands for a detail, and what is in brackets is left out where its detail is not known. With --json the
details are members of "detail"; "server" may be one of them always.
`)
	family := ""
	all := All()
	slices.SortStableFunc(all, func(a, b *Entry) int { return strings.Compare(a.family(), b.family()) })
	for _, e := range all {
		if f := e.family(); f != family {
			fmt.Fprintf(&b, "\n## %s\n\n| name | exit | sentence | details |\n|---|---|---|---|\n", f)
			family = f
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", e.Name, e.Exit, cell(e.Sentence), strings.Join(e.Fields, ", "))
	}
	return b.String()
}

// family is what stands before the dot; the names without one are general.
func (e *Entry) family() string {
	if family, _, ok := strings.Cut(e.Name, "."); ok {
		return family
	}
	return "general"
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
