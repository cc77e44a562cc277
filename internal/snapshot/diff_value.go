package snapshot

import (
	"slices"
	"strconv"

	"mcpc/internal/strictjson"
)

// spot is where in a document a comparison stands: the class that a difference has there, and inside a schema what the
// values stand for.
type spot struct {
	class  Class
	schema bool
	input  bool // in the input schema, where x-mcp-header means something
	place  Place
}

// toolMembers gives the spot of each member of a descriptor; any other is an unknown member.
var toolMembers = map[string]spot{
	"title":        {class: ClassText},
	"description":  {class: ClassText},
	"inputSchema":  {class: ClassInputSchema, schema: true, input: true},
	"outputSchema": {class: ClassOutputSchema, schema: true},
	"annotations":  {class: ClassAnnotations},
	"icons":        {class: ClassIcons},
	"_meta":        {class: ClassMeta},
	"execution":    {class: ClassExecution},
}

// under returns the spot of a member's value.
func (s spot) under(member string) spot {
	if !s.schema {
		return s
	}
	if s.place == InSchema {
		switch {
		case member == "title" || member == "description" || member == "$comment":
			return spot{class: ClassText}
		case member == "default":
			return spot{class: ClassDefault}
		case member == headerKeyword && s.input:
			return spot{class: ClassHeaderMirror}
		}
	}
	s.place = s.place.Under(member)
	return s
}

// withinTool compares two descriptors of one name.
func withinTool(old, new *Tool) []Record {
	w := walker{tool: old.Name}
	w.members("", sides{old.Descriptor, new.Descriptor}, func(member string) spot {
		if s, known := toolMembers[member]; known {
			return s
		}
		return spot{class: ClassUnknownMember}
	})
	return w.records
}

// within compares two values of one place.
func within(tool, pointer string, s sides, at spot) []Record {
	w := walker{tool: tool}
	w.value(pointer, s, at)
	return w.records
}

type walker struct {
	tool    string
	records []Record
}

// value adds the records of two sides that differ, as deep as both are containers of one kind.
func (w *walker) value(pointer string, s sides, at spot) {
	if equal(s.old, s.new) {
		return
	}
	oldKind, newKind := strictjson.Kind(s.old), strictjson.Kind(s.new)
	switch {
	case oldKind == '{' && newKind == '{':
		w.members(pointer, s, at.under)
	case oldKind == '[' && newKind == '[' && containers(s.old) && containers(s.new):
		w.elements(pointer, s, at)
	default:
		w.records = append(w.records, record(at.class, w.tool, pointer, s))
	}
}

func (w *walker) members(pointer string, s sides, under func(string) spot) {
	olds, news := membersOf(s.old), membersOf(s.new)
	for name, old := range strictjson.Members(s.old) {
		w.value(pointer+strictjson.Pointer(name), sides{old, news[name]}, under(name))
	}
	for name, now := range strictjson.Members(s.new) {
		if olds[name] == nil {
			w.value(pointer+strictjson.Pointer(name), sides{nil, now}, under(name))
		}
	}
}

// membersOf is for objects of any size: looking up one member after the other would take quadratic time.
func membersOf(object []byte) map[string][]byte {
	m := map[string][]byte{}
	for name, value := range strictjson.Members(object) {
		m[name] = value
	}
	return m
}

// elements compares by position, and takes what is over off the end, last first, so that the pointers hold when the
// records are applied one after the other.
func (w *walker) elements(pointer string, s sides, at spot) {
	olds, news := list(s.old), list(s.new)
	for i := range min(len(olds), len(news)) {
		w.value(pointer+"/"+strconv.Itoa(i), sides{olds[i], news[i]}, at)
	}
	for i := len(olds) - 1; i >= len(news); i-- {
		w.value(pointer+"/"+strconv.Itoa(i), sides{olds[i], nil}, at)
	}
	for i := len(olds); i < len(news); i++ {
		w.value(pointer+"/"+strconv.Itoa(i), sides{nil, news[i]}, at)
	}
}

func list(array []byte) (values [][]byte) {
	for _, v := range strictjson.Elements(array) {
		values = append(values, v)
	}
	return values
}

// containers holds for an array without scalars. One with scalars (required, enum) reads best as a whole.
func containers(array []byte) bool {
	return !slices.ContainsFunc(list(array), func(v []byte) bool {
		kind := strictjson.Kind(v)
		return kind != '{' && kind != '['
	})
}
