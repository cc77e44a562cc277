package schema

import (
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"mcpc/internal/strictjson"
)

// location is the base of every schema: a name without an address, so that nothing can be fetched relative to it.
const location = "urn:mcpc:schema"

var errNoLoader = errors.New("schema: nothing is loaded")

// noLoader refuses every document. The evaluator's own loader would open file: URLs.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errNoLoader }

const panicked = "the schema cannot be evaluated"

// compile hands the inspected schema to the evaluator. Its errors quote the schema, so none is passed on.
func (g *guard) compile(doc any) (s *jsonschema.Schema, why string) {
	defer func() {
		if recover() != nil {
			s, why = nil, panicked
		}
	}()
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(g.engine)
	c.DefaultDraft(g.draft)
	if c.AddResource(location, doc) != nil {
		return nil, panicked
	}
	s, err := c.Compile(location)
	if err != nil {
		return nil, "the schema is not valid by its own dialect"
	}
	return s, ""
}

// engine gives the evaluator only the patterns that the guard has compiled.
func (g *guard) engine(text string) (jsonschema.Regexp, error) {
	if re, ok := g.patterns[text]; ok {
		return re, nil
	}
	return nil, errNoLoader
}

func (s *Schema) validate(value any) (r Result) {
	defer func() {
		if recover() != nil {
			r = Result{Why: panicked}
		}
	}()
	err := s.compiled.Validate(value)
	if err == nil {
		return Result{Verdict: Valid}
	}
	var fault *jsonschema.ValidationError
	if !errors.As(err, &fault) {
		return Result{Why: panicked}
	}
	leaf := first(fault)
	if leaf.undecided {
		return Result{Why: noEnd}
	}
	return Result{Verdict: Invalid, Pointer: strictjson.Pointer(leaf.at...), Keyword: leaf.keyword}
}

type leaf struct {
	at        []string
	keyword   string
	undecided bool
}

// first returns the least fault by location and keyword: the evaluator walks Go maps, and the same question must get
// the same answer.
func first(e *jsonschema.ValidationError) leaf {
	if !opens(e) {
		return leafOf(e)
	}
	least := first(e.Causes[0])
	for _, cause := range e.Causes[1:] {
		if l := first(cause); l.before(least) {
			least = l
		}
	}
	return least
}

// opens reports whether the faults below are the reason by themselves. Below anyOf, oneOf, not and the like each fault
// is one way not taken.
func opens(e *jsonschema.ValidationError) bool {
	if len(e.Causes) == 0 {
		return false
	}
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		return true
	}
	return false
}

func leafOf(e *jsonschema.ValidationError) leaf {
	l := leaf{at: e.InstanceLocation}
	switch k := e.ErrorKind.(type) {
	case nil:
		l.undecided = true
	case *kind.RefCycle, *kind.InvalidJsonValue:
		l.undecided = true
	case *kind.FalseSchema:
		l.keyword = "false"
	case *kind.Not:
		l.keyword = "not"
	default:
		l.keyword = keywordOf(k)
	}
	return l
}

// keywordOf returns the keyword of a kind. What follows in its path may be a name from the schema.
func keywordOf(k jsonschema.ErrorKind) string {
	if path := k.KeywordPath(); len(path) > 0 && known(path[0]) {
		return path[0]
	}
	return ""
}

func (l leaf) before(o leaf) bool {
	if l.undecided != o.undecided {
		return l.undecided
	}
	if c := slices.Compare(l.at, o.at); c != 0 {
		return c < 0
	}
	return l.keyword < o.keyword
}
