package arguments

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mcpc/internal/refusal"
	"mcpc/internal/schema"
	"mcpc/internal/strictjson"
)

// word is one argument of the command line.
type word struct {
	key, text string
	json      bool // key:=
	file      bool // @FILE
}

// fromWords builds an object with the members in the order of the words.
func (p *parser) fromWords(words []string) ([]byte, error) {
	b, seen := []byte{'{'}, map[string]bool{}
	for i, raw := range words {
		w, err := p.split(i, raw)
		if err != nil {
			return nil, err
		}
		if seen[w.key] {
			return nil, p.refuse(refusal.ArgumentsDuplicate, w.key)
		}
		seen[w.key] = true
		if err := p.known(w.key); err != nil {
			return nil, err
		}
		value, err := p.value(w)
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(strictjson.AppendQuote(b, w.key), ':'), value...)
		if err := p.bounded(b); err != nil {
			return nil, err
		}
	}
	b = append(b, '}')
	return b, p.bounded(b)
}

// split reads the form of a word. The key ends at the first "=". A word without a key is named by its place: what
// stands there may be a value that was meant for another word, and values are not shown.
func (p *parser) split(i int, raw string) (w word, err error) {
	place := "word " + strconv.Itoa(i+1)
	if !utf8.ValidString(raw) {
		return w, p.refuse(refusal.ArgumentsSyntax, place, reason("is not UTF-8"))
	}
	key, text, found := strings.Cut(raw, "=")
	if !found {
		return w, p.refuse(refusal.ArgumentsSyntax, place, reason("must be key=value, key:=JSON, key=@FILE or key:=@FILE"))
	}
	w.key, w.json = strings.CutSuffix(key, ":")
	w.text, w.file = strings.CutPrefix(text, "@")
	switch {
	case w.key == "":
		return w, p.refuse(refusal.ArgumentsSyntax, place, reason("has no key before the ="))
	case w.file && w.text == "":
		return w, p.refuse(refusal.ArgumentsSyntax, w.key, reason(`names no file after the @; a text is written key:='"@"'`))
	}
	return w, nil
}

// value returns the JSON of a word's value.
func (p *parser) value(w word) ([]byte, error) {
	text := w.text
	if w.file {
		data, err := p.src.File(w.text)
		if err != nil {
			return nil, p.unread(w.key, err)
		}
		if err := p.bounded(data); err != nil {
			return nil, err
		}
		if text = string(data); !utf8.ValidString(text) {
			return nil, p.refuse(refusal.ArgumentsSyntax, w.key, reason("the file is not UTF-8"))
		}
	}
	if w.json {
		return p.json(w.key, text)
	}
	return p.typed(w.key, text)
}

func (p *parser) json(key, text string) ([]byte, error) {
	data := []byte(strings.Trim(text, blank))
	if fault := strictFault(data, strictjson.Validate); fault != nil {
		return nil, p.refuse(refusal.ArgumentsSyntax, key, reason("not one strict JSON value ("+string(fault.Fault)+")"))
	}
	return data, nil
}

const blank = " \t\r\n"

// literal is a number as JSON spells it; compiled when one is given.
var literal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
})

// typed reads a text as the one type that the schema has for the key. Without one it is a string: 00123, 1e5 and true
// are texts until a schema says otherwise. White space around anything but a string does not count.
func (p *parser) typed(key, text string) ([]byte, error) {
	one, nullable := p.input.typeOf(p.input.properties[key])
	trimmed := strings.Trim(text, blank)
	fits, want := false, ""
	switch one {
	case "integer":
		fits, want = integer(trimmed), "an integer"
	case "number":
		fits, want = literal().MatchString(trimmed), "a number as JSON spells it"
	case "boolean":
		fits, want = trimmed == "true" || trimmed == "false", "true or false"
	case "null":
		want = "null"
	case "array", "object":
		fits, want = strictJSON(trimmed, one), "a JSON "+one
	default:
		return strictjson.Quote(text), nil
	}
	if !fits && !(nullable && trimmed == "null") {
		return nil, p.refuse(refusal.ArgumentsType, key, refusal.Own("want", want))
	}
	return []byte(trimmed), nil
}

// integer takes 1.0 and 1e2 too: JSON Schema counts by value, and the spelling is kept.
func integer(text string) bool {
	if !literal().MatchString(text) {
		return false
	}
	if !strings.ContainsAny(text, ".eE") {
		return true
	}
	n, ok := schema.Number(text)
	return ok && n.IsInt()
}

func strictJSON(text, kind string) bool {
	return strictFault([]byte(text), strictjson.Validate) == nil && kindOf([]byte(text)) == kind
}
