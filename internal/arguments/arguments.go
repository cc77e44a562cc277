// Package arguments turns the arguments of `mcpc call` into the exact bytes that are sent. (The guarantee is stated in
// full by its author.)
package arguments

import (
	"mcpc/internal/snapshot"
	"mcpc/internal/transport"
)

// Sources reads what an argument refers to; max is in bytes and reading more is refused by the caller.
type Sources interface {
	File(path string) ([]byte, error)
	Stdin() ([]byte, error)
}

// Parse builds the argument object of one tool from key=value, key:=JSON and key=@file words, or from the one --args
// value ("{...}", "@file" or "-"), typed by the pinned input schema. maxBytes bounds the result.
func Parse(tool *snapshot.Tool, words []string, args *string, src Sources, maxBytes int64) ([]byte, error) {
	panic("unwritten")
}

// Headers returns the Mcp-Param-* headers that mirror these arguments, by the pinned input schema.
func Headers(tool *snapshot.Tool, args []byte) ([]transport.HeaderField, error) { panic("unwritten") }
