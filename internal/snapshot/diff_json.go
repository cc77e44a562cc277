package snapshot

import (
	"fmt"
	"strconv"

	"mcpc/internal/strictjson"
)

// AppendJSON appends the report as one strict JSON object:
//
//	{"mcpc":"diff/1","old":DIGEST,"new":DIGEST,"changes":[RECORD,…],"informational":[RECORD,…]}
//
// A record has class, tool (where it belongs to one), pointer, op, old and new (where there is one, spliced as
// received), and oldHidden, newHidden, sameBody and reason where they hold anything.
func (r *Report) AppendJSON(b []byte) []byte {
	b = appendText(append(b, `{"mcpc":"diff/1"`...), `,"old":`, string(r.Old))
	b = appendText(b, `,"new":`, string(r.New))
	b = appendRecords(append(b, `,"changes":`...), r.Changes)
	b = appendRecords(append(b, `,"informational":`...), r.Informational)
	return append(b, '}')
}

func appendRecords(b []byte, records []Record) []byte {
	b = append(b, '[')
	for i := range records {
		b = records[i].append(append(b, between(i, "", ",")...))
	}
	return append(b, ']')
}

func (r *Record) append(b []byte) []byte {
	b = appendText(b, `{"class":`, string(r.Class))
	if r.Tool != "" {
		b = appendText(b, `,"tool":`, r.Tool)
	}
	b = appendText(b, `,"pointer":`, r.Pointer)
	b = appendText(b, `,"op":`, r.Op)
	b = appendUnlessNil(b, `,"old":`, r.Old)
	b = appendUnlessNil(b, `,"new":`, r.New)
	b = appendHidden(b, `,"oldHidden":`, r.OldHidden)
	b = appendHidden(b, `,"newHidden":`, r.NewHidden)
	if len(r.SameBody) > 0 {
		b = appendStrings(append(b, `,"sameBody":`...), r.SameBody)
	}
	b = appendUnlessEmpty(b, `,"reason":`, r.Reason)
	return append(b, '}')
}

func appendUnlessNil(b []byte, member string, value []byte) []byte {
	if value == nil {
		return b
	}
	return append(append(b, member...), value...)
}

func appendHidden(b []byte, member string, hidden []HiddenRune) []byte {
	if len(hidden) == 0 {
		return b
	}
	b = append(append(b, member...), '[')
	for i, h := range hidden {
		b = append(append(b, between(i, "", ",")...), `{"codePoint":`...)
		b = append(strictjson.AppendQuote(b, h.String()), `,"count":`...)
		b = append(strconv.AppendInt(b, int64(h.Count), 10), '}')
	}
	return append(b, ']')
}

// String returns the code point as U+200B.
func (h HiddenRune) String() string { return fmt.Sprintf("U+%04X", h.Rune) }
