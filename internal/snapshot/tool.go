package snapshot

import (
	"bytes"
	"strings"
	"unicode"

	"mcpc/internal/strictjson"
)

// Reasons for which a descriptor is rejected.
const (
	ReasonNotObject        = "tool-not-object"
	ReasonName             = "tool-name-invalid"   // missing, empty, over 256 bytes, control characters
	ReasonDuplicate        = "tool-name-duplicate" // every claimant of the name
	ReasonInputSchema      = "tool-input-schema-invalid"
	ReasonHeaderAnnotation = "tool-header-annotation-invalid"
	ReasonRequiresTask     = "tool-requires-task"
)

const maxNameBytes = 256

// element is one element of a tool list, with everything that can be said of it without the others.
type element struct {
	page, index int
	reason      string // "" for a tool
	Tool               // Name is "" where the descriptor has none
}

// parts are the members of a descriptor that a verdict depends on; nil where absent.
type parts struct{ name, inputSchema, execution []byte }

func partsOf(descriptor []byte) (p parts) {
	for name, value := range strictjson.Members(descriptor) {
		switch name {
		case "name":
			p.name = value
		case "inputSchema":
			p.inputSchema = value
		case "execution":
			p.execution = value
		}
	}
	return p
}

// judge returns a descriptor's name and the reason to reject it, "" when there is none. Duplicates are found later,
// when all names are known.
func judge(descriptor []byte, http bool) (name, reason string) {
	if strictjson.Kind(descriptor) != '{' {
		return "", ReasonNotObject
	}
	p := partsOf(descriptor)
	name, ok := strictjson.Text(p.name)
	switch {
	case !ok || !validName(name):
		return name, ReasonName
	case strictjson.Kind(p.inputSchema) != '{':
		return name, ReasonInputSchema
	case http && !headersValid(p.inputSchema):
		return name, ReasonHeaderAnnotation
	case strictjson.MemberText(p.execution, "taskSupport") == "required":
		return name, ReasonRequiresTask
	}
	return name, ""
}

func validName(name string) bool {
	return name != "" && len(name) <= maxNameBytes && strings.IndexFunc(name, unicode.IsControl) < 0
}

// headersValid is HeaderParams for thousands of descriptors: a schema without the keyword, spelled out or in \u
// escapes, has nothing to walk for.
func headersValid(inputSchema []byte) bool {
	if !bytes.Contains(inputSchema, []byte(headerKeyword)) && !bytes.Contains(inputSchema, []byte(`\u`)) {
		return true
	}
	_, ok := HeaderParams(inputSchema)
	return ok
}

// digests returns the raw and the canonical digest of a descriptor. The buffer is for the canonical form and comes
// back for the next descriptor.
func digests(descriptor, buffer []byte) (raw, canonical strictjson.Digest, grown []byte, err error) {
	raw = strictjson.Sum(descriptor)
	grown, err = strictjson.AppendCanonical(buffer[:0], descriptor)
	switch {
	case err != nil:
		return "", "", buffer, err
	case bytes.Equal(grown, descriptor):
		return raw, raw, grown, nil
	}
	return raw, strictjson.Sum(grown), grown, nil
}

// rejectDuplicates gives every claimant of a name that stands more than once its reason. A descriptor that has no
// valid name claims none.
func rejectDuplicates(elements []element) {
	first := make(map[string]int, len(elements))
	for i := range elements {
		e := &elements[i]
		if !validName(e.Name) {
			continue
		}
		if j, seen := first[e.Name]; seen {
			e.reason, elements[j].reason = ReasonDuplicate, ReasonDuplicate
			continue
		}
		first[e.Name] = i
	}
}

// split sorts judged elements into tools and rejected.
func (s *Snapshot) split(elements []element) {
	s.Tools = make([]Tool, 0, len(elements))
	for i := range elements {
		e := &elements[i]
		if e.reason == "" {
			s.Tools = append(s.Tools, e.Tool)
			continue
		}
		s.Rejected = append(s.Rejected, Rejected{
			Page: e.page, Index: e.index, Name: e.Name, Reason: e.reason,
			Raw: e.Raw, Descriptor: e.Descriptor,
		})
	}
}
