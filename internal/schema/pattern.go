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

// Pattern compiles a regular expression within the bounds. RE2 has no look-around and no back-references; a pattern
// that needs them does not compile.
func Pattern(text string) (re *regexp.Regexp, ok bool) {
	if len(text) > maxPatternBytes {
		return nil, false
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil || programSize(tree) > maxPatternSize {
		return nil, false
	}
	re, err = regexp.Compile(text)
	return re, err == nil
}

// patternSize is the program size of a pattern that Pattern accepts.
func patternSize(text string) int {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return maxPatternSize
	}
	return programSize(tree)
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
