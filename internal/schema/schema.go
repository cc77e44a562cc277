// Package schema evaluates JSON Schemas that others wrote, under guard. (The guarantee is stated in full by its author.)
package schema

// Verdict of an evaluation.
type Verdict int

const (
	Valid Verdict = iota
	Invalid
	NotEvaluated // outside the guard: unknown dialect, external $ref, too much expansion, too slow, unusual numbers
)

// Result of an evaluation.
type Result struct {
	Verdict Verdict
	Pointer string // instance location of the first fault, when Invalid; names in it come from the instance
	Keyword string // keyword at fault, when Invalid
	Why     string // our words, when NotEvaluated
}

// Evaluate checks an instance against a schema, both strict JSON, in bounded time and memory; never panics.
func Evaluate(schema, instance []byte) Result { panic("unwritten") }
