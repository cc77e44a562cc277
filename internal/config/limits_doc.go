package config

import (
	"fmt"
	"strings"
)

// LimitsMarkdown returns docs/limits.md: every limit, what it is by default and how it refuses.
func LimitsMarkdown() string {
	var b strings.Builder
	b.WriteString(`# Limits

Written from the table in the program; a test compares the two. Each limit is set per server, as a member of "limits" in
the configuration, as a whole number from 1 to the most. What is over a limit is refused by name and never shortened.

| member | unit | default | most | refusal | bounds |
|---|---|---|---|---|---|
`)
	for _, l := range Table {
		name := "none"
		if l.Refusal != nil {
			name = "`" + l.Refusal.Name + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %s | %s |\n", l.Member, l.Unit, l.Default, l.Max, name, l.Means)
	}
	return b.String()
}
