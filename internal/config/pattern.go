package config

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: compiling all of them takes longer than
// reading a configuration, and would be part of every start of the program.
type pattern struct{ compiled func() *regexp.Regexp }

func lazy(text string) pattern {
	return pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString is that of the regular expression.
func (p pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// Match is that of the regular expression.
func (p pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindStringSubmatch is that of the regular expression.
func (p pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }
