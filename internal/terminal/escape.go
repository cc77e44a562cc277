// Package terminal makes text from a peer safe to look at: every code point that does not show itself becomes a
// visible escape. It also knows whether a stream is a terminal and how wide it is.
package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a code point does not show, or changes how others show: controls (C0, DEL, C1), format
// characters (bidi, zero width, tags), line and paragraph separators, surrogates, private use, unassigned code points,
// variation selectors, and every space but U+0020.
func Hidden(r rune) bool {
	if r < 0x7F {
		return r < 0x20
	}
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Zs, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == 0x034F || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0
}

// Escape returns s on one line with every hidden code point as \n, \t, \r, \xHH (for a byte that is not UTF-8) or
// \u{h…h}. A backslash stands for itself, so that paths and JSON stay readable.
func Escape(s string) string { return escape(s, false) }

// EscapeLines is Escape that keeps line feeds, and tabs as a space.
func EscapeLines(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	clean := true
	for _, r := range s {
		if Hidden(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case lines && r == '\n':
			b.WriteByte('\n')
		case lines && r == '\t':
			b.WriteByte(' ')
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case Hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// EscapeJSON returns a strict JSON text with every hidden code point inside its strings as \uXXXX, so that the text
// still parses to the same value. White space between tokens is kept as it is, except that a lone CR becomes a space.
func EscapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	inString := false
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case !inString:
			if c == '"' {
				inString = true
			} else if c == '\r' {
				c = ' '
			}
			out = append(out, c)
			i++
		case c == '\\' && i+1 < len(text):
			out = append(out, c, text[i+1])
			i += 2
		case c == '"':
			inString = false
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			if Hidden(r) || (r == utf8.RuneError && size == 1) {
				out = appendUnicode(out, r)
			} else {
				out = append(out, text[i:i+size]...)
			}
			i += size
		}
	}
	return out
}

func appendUnicode(out []byte, r rune) []byte {
	if r > 0xFFFF {
		r -= 0x10000
		return fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+(r>>10), 0xDC00+(r&0x3FF))
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
