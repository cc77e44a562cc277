// Package schema evaluates JSON Schemas that others wrote, under guard.
//
// It guarantees that every evaluation ends, in work that is counted before it is done, with one of three verdicts, and
// that it opens no file and no connection: no document but the schema itself is ever looked at. Numbers are compared
// exactly. A result holds a pointer into the instance and a keyword, never a value and never text of the schema.
//
// It evaluates the dialects 2020-12 and draft-07. Formats are annotations and are not asserted, regular expressions
// are RE2, and what it will not evaluate (another dialect, a reference out of the schema, $dynamicRef, a nested $id,
// an extreme number, too much work) is NotEvaluated with a reason, which is neither a yes nor a no.
package schema

// Verdict of an evaluation.
type Verdict int

// Verdicts. The zero value is NotEvaluated, so that a forgotten verdict never says yes.
const (
	NotEvaluated Verdict = iota // outside the guard; Why says in which way
	Valid
	Invalid
)

// Result of an evaluation.
type Result struct {
	Verdict Verdict
	Pointer string // instance location of the first fault, when Invalid; names in it come from the instance
	Keyword string // keyword at fault, when Invalid
	Why     string // our words, when NotEvaluated
}

// Bounds on what is evaluated. They hold the cost of reading; maxWork holds the cost of evaluating.
const (
	maxSchemaBytes   = 256 << 10
	maxInstanceBytes = 4 << 20
)

// Schema is a schema that has been read and is ready for instances.
type Schema struct {
	root   *node
	tracks bool
}

// Compile makes a schema ready. When it cannot, the schema is nil and why says the reason, in our words.
func Compile(text []byte) (s *Schema, why string) {
	doc, why := decode(text, maxSchemaBytes, "the schema")
	if why != "" {
		return nil, why
	}
	return compile(doc)
}

// Evaluate checks an instance, one strict JSON value, in bounded time and memory; it never panics.
func (s *Schema) Evaluate(instance []byte) Result {
	value, why := decode(instance, maxInstanceBytes, "the instance")
	if why != "" {
		return Result{Why: why}
	}
	return s.validate(value)
}

// Evaluate checks an instance against a schema, both strict JSON, in bounded time and memory; never panics.
func Evaluate(schema, instance []byte) Result {
	s, why := Compile(schema)
	if why != "" {
		return Result{Why: why}
	}
	return s.Evaluate(instance)
}

// Comparable reports whether a strict JSON value can stand in a schema as a value to compare with: it is within the
// bounds on size and on numbers.
func Comparable(value []byte) bool {
	_, why := decode(value, maxSchemaBytes, "the value")
	return why == ""
}
