package schema

import (
	"regexp"
	"regexp/syntax"
)

// A short pattern can stand for a large program: [^a]{1000} is one instruction a repetition.
const (
	maxPatternBytes   = 1024
	maxPatternSize    = 5000  // instructions of one pattern
	maxPatternSizeSum = 20000 // of all patterns of a schema
)

// matcher is a regular expression and the size of its program.
type matcher struct {
	re   *regexp.Regexp
	size int
}

// Pattern compiles a regular expression within the bounds. RE2 has no look-around and no back-references; a pattern
// that needs them does not compile.
func Pattern(text string) (re *regexp.Regexp, ok bool) {
	m, ok := newMatcher(text)
	return m.re, ok
}

func newMatcher(text string) (m matcher, ok bool) {
	if len(text) > maxPatternBytes {
		return matcher{}, false
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return matcher{}, false
	}
	if m.size = programSize(tree); m.size > maxPatternSize {
		return matcher{}, false
	}
	m.re, err = regexp.Compile(text)
	return m, err == nil
}

// matcher compiles a pattern of the schema, once.
func (c *compiler) matcher(text string) *matcher {
	if m, ok := c.patterns[text]; ok {
		return m
	}
	m, ok := newMatcher(text)
	if !ok {
		c.refuse(noRegexp)
	}
	if c.sizes += m.size; c.sizes > maxPatternSizeSum {
		c.refuse("the regular expressions of the schema are too large")
	}
	c.patterns[text] = &m
	return &m
}

// programSize estimates the instructions of a parsed expression without expanding its repetitions.
func programSize(tree *syntax.Regexp) int {
	size := 1 + len(tree.Rune)/4
	if tree.Op == syntax.OpLiteral {
		size = len(tree.Rune)
	}
	for _, sub := range tree.Sub {
		size += programSize(sub)
	}
	if tree.Op == syntax.OpRepeat {
		size *= max(1, tree.Min, tree.Max)
	}
	return min(size, maxPatternSize+1)
}
