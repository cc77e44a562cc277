// Package strictjson reads strict I-JSON (RFC 7493) and nothing else, and never re-encodes what it was given.
//
// Strict means: valid UTF-8, no byte order mark, no duplicate member after unescaping, no lone surrogate, one value,
// nothing after it, and a bounded depth. The functions that walk a value (Members, Elements, Member) return slices of
// the input, byte for byte, and expect that Validate has accepted it.
package strictjson

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the default bound on nesting; a scalar has depth 0, {} and [] have depth 1.
const MaxDepth = 128

// Fault says in which way a text is not strict. The values are fixed texts of ours and safe to print.
type Fault string

// Faults.
const (
	FaultEmpty     Fault = "empty"
	FaultBOM       Fault = "byte order mark"
	FaultUTF8      Fault = "invalid UTF-8"
	FaultUTF16     Fault = "UTF-16 text"
	FaultDepth     Fault = "nested too deep"
	FaultDuplicate Fault = "duplicate member"
	FaultSyntax    Fault = "syntax"
	FaultTrailing  Fault = "more after the value"
	FaultNotObject Fault = "not an object"
)

// Error is the one error type of the package. It holds no text of the input except Pointer, which is safe to show for
// the operator's own files only.
type Error struct {
	Fault   Fault
	Offset  int64  // bytes from the start of the text to the fault
	Pointer string // JSON pointer (RFC 6901) of the member at fault, when known
}

func (e *Error) Error() string { return "not strict JSON: " + string(e.Fault) }

var bom = []byte("\xEF\xBB\xBF")

// Validate reports whether data is one strict JSON value nested at most maxDepth deep. Its errors are *Error.
func Validate(data []byte, maxDepth int) error {
	switch {
	case bytes.HasPrefix(data, bom):
		return &Error{Fault: FaultBOM}
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}), bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return &Error{Fault: FaultUTF16}
	}
	if off := tooDeep(data, maxDepth); off >= 0 {
		return &Error{Fault: FaultDepth, Offset: int64(off)}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	if err := d.SkipValue(); err != nil {
		if errors.Is(err, io.EOF) {
			return &Error{Fault: FaultEmpty}
		}
		return fault(data, err)
	}
	end := d.InputOffset()
	if rest := bytes.TrimLeft(data[end:], " \t\r\n"); len(rest) > 0 {
		return &Error{Fault: FaultTrailing, Offset: int64(len(data) - len(rest))}
	}
	return nil
}

// ValidateObject is Validate for a text that must be an object.
func ValidateObject(data []byte, maxDepth int) error {
	if err := Validate(data, maxDepth); err != nil {
		return err
	}
	if Kind(data) != '{' {
		return &Error{Fault: FaultNotObject}
	}
	return nil
}

func fault(data []byte, err error) *Error {
	e := &Error{Fault: FaultSyntax}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		e.Offset, e.Pointer = syn.ByteOffset, string(syn.JSONPointer)
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.Fault = FaultDuplicate
	case !utf8.Valid(data):
		e.Fault = FaultUTF8
	}
	return e
}

// tooDeep returns the offset of the first bracket nested deeper than limit, or -1. It counts brackets outside strings
// and needs no valid JSON.
func tooDeep(data []byte, limit int) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case '{', '[':
			if depth++; depth > limit {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// skipString returns the index of the closing quote of the string that starts at i, or the last index.
func skipString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		j := bytes.IndexAny(data[i:], `"\`)
		if j < 0 {
			return len(data)
		}
		if i += j; data[i] == '"' {
			return i
		}
		i++
	}
	return i
}

// lax skips the checks that Validate has made already.
var lax = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// Kind returns the first byte of the value: one of { [ " t f n 0 (any number), or 0 for an empty text.
func Kind(value []byte) byte {
	v := bytes.TrimLeft(value, " \t\r\n")
	if len(v) == 0 {
		return 0
	}
	if c := v[0]; c == '-' || (c >= '0' && c <= '9') {
		return '0'
	}
	return v[0]
}

// Members walks the members of a validated object in their order: unescaped name, value bytes as they stand.
// It yields nothing for a value that is not an object.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if Kind(object) != '{' {
			return
		}
		d := jsontext.NewDecoder(bytes.NewBuffer(object), lax...)
		if _, err := d.ReadToken(); err != nil {
			return
		}
		for d.PeekKind() == '"' {
			tok, err := d.ReadToken()
			if err != nil {
				return
			}
			name := tok.String()
			value, ok := next(d, object)
			if !ok || !yield(name, value) {
				return
			}
		}
	}
}

// Elements walks the elements of a validated array: index, value bytes as they stand.
// It yields nothing for a value that is not an array.
func Elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if Kind(array) != '[' {
			return
		}
		d := jsontext.NewDecoder(bytes.NewBuffer(array), lax...)
		if _, err := d.ReadToken(); err != nil {
			return
		}
		for i := 0; d.PeekKind() != ']' && d.PeekKind() != 0; i++ {
			value, ok := next(d, array)
			if !ok || !yield(i, value) {
				return
			}
		}
	}
}

func next(d *jsontext.Decoder, data []byte) ([]byte, bool) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, false
	}
	end := d.InputOffset()
	return data[end-int64(len(v)) : end : end], true
}

// Member returns the value bytes of one member of a validated object; ok is false when it is absent.
func Member(object []byte, name string) (value []byte, ok bool) {
	for n, v := range Members(object) {
		if n == name {
			return v, true
		}
	}
	return nil, false
}

// Text returns the string that a validated JSON string stands for; ok is false for any other value.
func Text(value []byte) (s string, ok bool) {
	if Kind(value) != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, bytes.TrimSpace(value))
	return string(b), err == nil
}

// MemberText returns the string value of a member, or "" when it is absent or not a string.
func MemberText(object []byte, name string) string {
	v, _ := Member(object, name)
	s, _ := Text(v)
	return s
}

// AppendQuote appends s as a JSON string with the minimal escapes of RFC 8785. It panics on invalid UTF-8, which no
// string from a validated text has.
func AppendQuote(dst []byte, s string) []byte {
	b, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		panic("strictjson: " + err.Error())
	}
	return b
}

// Quote is AppendQuote into a new slice.
func Quote(s string) []byte { return AppendQuote(nil, s) }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer joins reference tokens to a JSON pointer (RFC 6901).
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(t))
	}
	return b.String()
}

// Position returns the 1-based line and column (in bytes) of an offset, for messages about the operator's own files.
func Position(data []byte, offset int64) (line, column int) {
	offset = min(max(offset, 0), int64(len(data)))
	head := data[:offset]
	line = bytes.Count(head, []byte("\n")) + 1
	return line, len(head) - (bytes.LastIndexByte(head, '\n') + 1) + 1
}
