// Package arguments turns the arguments of mcpc call into the exact bytes that are sent.
//
// It guarantees that nothing is guessed and nothing is dropped: a word is typed by the pinned input schema or is a
// string, a number keeps its spelling, --args goes out byte for byte, and a duplicate, unknown, missing or misfit
// argument is refused by name before anything is sent. It reads a file or stdin only where the command line says so.
//
//	key=value      value as the schema's type for key, when that is one type (null besides is allowed); else a string
//	key:=JSON      any JSON value
//	key=@FILE      the file's text, then as key=value
//	key:=@FILE     the file's JSON value
//	--args '{…}'   the whole object; also --args @FILE, and --args - for stdin
//
// The key ends at the first "=". A string that begins with "@" is written key:='"@…"', and a key that holds "=" or ends
// in ":" goes into --args.
//
// The package does not decide what may be called: it is asked about a tool that is granted already.
package arguments

import (
	"bytes"
	"errors"
	"strings"

	"mcpc/internal/refusal"
	"mcpc/internal/schema"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// Sources reads what an argument refers to. A source that gives more than the bound on arguments is refused, so an
// implementation may stop one byte after it.
type Sources interface {
	File(path string) ([]byte, error)
	Stdin() ([]byte, error)
}

// Parse builds the argument object of one tool from words, or from the one --args value, checked against the pinned
// input schema. maxBytes bounds the object and each source. notes are facts for people, in our words. An error is a
// refusal of the family arguments, or limit.arguments.
func Parse(
	tool *snapshot.Tool, words []string, args *string, src Sources, maxBytes int64,
) (object []byte, notes []string, err error) {
	p := &parser{tool: tool, src: src, max: maxBytes, input: inputOf(tool)}
	switch {
	case args == nil:
		object, err = p.fromWords(words)
	case len(words) > 0:
		err = p.refuse(refusal.ArgumentsSyntax, whole, reason("cannot be given together with other arguments"))
	default:
		object, err = p.whole(*args)
	}
	if err != nil {
		return nil, nil, err
	}
	notes, err = p.check(object)
	if err != nil {
		return nil, nil, err
	}
	return object, notes, nil
}

// whole names the flag where an argument's name would stand.
const whole = "--args"

type parser struct {
	tool  *snapshot.Tool
	src   Sources
	max   int64
	input *input
}

func (p *parser) refuse(e *refusal.Entry, argument string, fields ...refusal.Field) error {
	return refusal.New(e, refusal.Own("argument", argument), p.named()).With(fields...)
}

func (p *parser) named() refusal.Field { return refusal.Own("tool", p.tool.Name) }

func reason(text string) refusal.Field { return refusal.Own("reason", text) }

// unread is why a source gave nothing: the source's own refusal, where it has one.
func (p *parser) unread(argument string, err error) error {
	if r, ok := refusal.As(err); ok {
		return r
	}
	return p.refuse(refusal.ArgumentsFile, argument)
}

// bounded refuses what is over the bound on arguments.
func (p *parser) bounded(data []byte) error {
	if int64(len(data)) > p.max {
		return refusal.New(refusal.LimitArguments, refusal.Num("limit", p.max))
	}
	return nil
}

// whole reads the --args value and returns its bytes as they stand, without the white space around them.
func (p *parser) whole(value string) ([]byte, error) {
	data, err := []byte(value), error(nil)
	if value == "-" {
		data, err = p.src.Stdin()
	} else if path, ok := strings.CutPrefix(value, "@"); ok {
		data, err = p.src.File(path)
	}
	if err != nil {
		return nil, p.unread(whole, err)
	}
	if err := p.bounded(data); err != nil {
		return nil, err
	}
	data = bytes.Trim(data, " \t\r\n")
	if fault := strictFault(data, strictjson.ValidateObject); fault != nil {
		return nil, refusal.New(refusal.ArgumentsJSON, p.named(),
			refusal.Own("fault", string(fault.Fault)), refusal.Num("offset", fault.Offset))
	}
	return data, nil
}

func strictFault(data []byte, validate func([]byte, int) error) *strictjson.Error {
	if err, ok := errors.AsType[*strictjson.Error](validate(data, strictjson.MaxDepth)); ok {
		return err
	}
	return nil
}

// check holds a whole object against the pinned schema. What the evaluator will not take on is sent all the same: the
// server checks too, and the authority document has its own schema.
func (p *parser) check(object []byte) (notes []string, err error) {
	given := map[string]bool{}
	for name := range strictjson.Members(object) {
		if err := p.known(name); err != nil {
			return nil, err
		}
		given[name] = true
	}
	for _, name := range p.input.required {
		if !given[name] {
			return nil, p.missing(name)
		}
	}
	result := schema.Evaluate(p.input.schema, p.present(object))
	switch result.Verdict {
	case schema.Valid:
		return nil, nil
	case schema.Invalid:
		return nil, p.misfit(result)
	default:
		return []string{"the arguments were not checked against the pinned schema: " + result.Why}, nil
	}
}

func (p *parser) known(name string) error {
	if p.input.open || p.input.properties[name] != nil {
		return nil
	}
	return p.unknown(name)
}

func (p *parser) misfit(result schema.Result) error {
	r := refusal.New(refusal.ArgumentsSchema, p.named())
	if result.Pointer != "" {
		r = r.With(refusal.Own("pointer", result.Pointer))
	}
	if result.Keyword != "" {
		r = r.With(refusal.Own("keyword", result.Keyword))
	}
	return r
}
