package schema

import (
	"slices"

	"mcpc/internal/strictjson"
)

// maxWork bounds one evaluation. A unit is about a microsecond at most: one schema position at one value.
const maxWork = 100_000

// maxChain bounds how many positions follow one another at the same value. A schema that refers to itself without
// going down into the value never ends.
const maxChain = 64

// Reasons for which an evaluation is given up.
const (
	tooMuch  = "checking this would take too long"
	noEnd    = "the schema refers to itself without end, or through too many steps"
	panicked = "the schema cannot be evaluated"
)

// run is one evaluation. Once why is set nothing more is decided: whatever the positions above make of the fault that
// they get, the verdict is NotEvaluated.
type run struct {
	left   int
	tracks bool
	why    string
}

// fault is the first thing that does not fit.
type fault struct {
	keyword string
	path    []string // innermost token first
}

func (f *fault) under(token string) *fault {
	f.path = append(f.path, token)
	return f
}

// seen holds the names or the indices that some keyword has evaluated; nil when the schema never asks for them.
type seen map[any]struct{}

func (s seen) mark(place any) {
	if s != nil {
		s[place] = struct{}{}
	}
}

func (s *Schema) validate(value any) (r Result) {
	defer func() { // a mistake of ours must not become a crash that a server can cause
		if recover() != nil {
			r = Result{Why: panicked}
		}
	}()
	e := &run{left: maxWork, tracks: s.tracks}
	f := e.visit(s.root, value, 0, nil)
	switch {
	case e.why != "":
		return Result{Why: e.why}
	case f == nil:
		return Result{Verdict: Valid}
	}
	slices.Reverse(f.path)
	return Result{Verdict: Invalid, Pointer: strictjson.Pointer(f.path...), Keyword: f.keyword}
}

// spend takes work from what is left, before it is done; false means that it must not be done.
func (r *run) spend(n int) bool {
	if r.left -= n; r.left < 0 {
		r.stop(tooMuch)
	}
	return r.why == ""
}

func (r *run) stop(why string) {
	if r.why == "" {
		r.why = why
	}
}

func (r *run) match(m *matcher, text string) bool {
	return r.spend(1+m.size*len(text)/50) && m.re.MatchString(text) // RE2: instructions × bytes, some nanoseconds each
}

// visit evaluates a position at a value, and adds what it has seen there when the value fits. The value itself comes
// first, then what else is asked of it, then what is inside: the first fault is the least by location.
func (r *run) visit(n *node, value any, chain int, into seen) *fault {
	if chain > maxChain {
		r.stop(noEnd)
	}
	if !r.spend(1) {
		return &fault{}
	}
	if n.never {
		return &fault{keyword: "false"}
	}
	var here seen
	if r.tracks {
		here = seen{}
	}
	f := r.assert(n, value)
	if f == nil {
		f = r.same(n, value, chain+1, here)
	}
	if f == nil {
		f = r.inside(n, value, here)
	}
	if f == nil && into != nil && r.spend(len(here)/4) {
		for place := range here {
			into.mark(place)
		}
	}
	return f
}

// same evaluates what is asked of the same value by other positions.
func (r *run) same(n *node, value any, chain int, here seen) *fault {
	if n.ref != nil {
		if f := r.visit(n.ref, value, chain, here); f != nil {
			return f
		}
	}
	for _, sub := range n.allOf {
		if f := r.visit(sub, value, chain, here); f != nil {
			return f
		}
	}
	if n.anyOf != nil && r.fitting(n.anyOf, value, chain, here, 1) == 0 {
		return &fault{keyword: "anyOf"}
	}
	if n.oneOf != nil && r.fitting(n.oneOf, value, chain, here, 2) != 1 {
		return &fault{keyword: "oneOf"}
	}
	if n.not != nil && r.visit(n.not, value, chain, nil) == nil {
		return &fault{keyword: "not"}
	}
	if f := r.conditional(n, value, chain, here); f != nil {
		return f
	}
	return r.dependent(n, value, chain, here)
}

// fitting counts the positions that the value fits, as far as enough; all of them are visited when it matters what
// they have seen.
func (r *run) fitting(subs []*node, value any, chain int, here seen, enough int) (fit int) {
	for _, sub := range subs {
		if r.visit(sub, value, chain, here) == nil {
			fit++
		}
		if r.why != "" || fit == enough && !r.tracks {
			break
		}
	}
	return fit
}

func (r *run) conditional(n *node, value any, chain int, here seen) *fault {
	if n.cond == nil {
		return nil
	}
	branch := n.other
	if r.visit(n.cond, value, chain, here) == nil {
		branch = n.then
	}
	if branch == nil {
		return nil
	}
	return r.visit(branch, value, chain, here)
}

func (r *run) dependent(n *node, value any, chain int, here seen) *fault {
	members, ok := value.(object)
	if !ok || !r.spend(len(n.dependents)/8) {
		return nil
	}
	for _, d := range n.dependents {
		if _, present := members.members[d.name]; !present {
			continue
		}
		if !r.spend(1+len(d.required)/8) || !members.hold(d.required) {
			return &fault{keyword: d.keyword}
		}
		if d.sub != nil {
			if f := r.visit(d.sub, value, chain, here); f != nil {
				return f
			}
		}
	}
	return nil
}
