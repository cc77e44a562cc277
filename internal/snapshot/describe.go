package snapshot

import (
	"slices"

	"mcpc/internal/strictjson"
)

// Descriptor is the readable part of a tool descriptor. All text is the peer's.
type Descriptor struct {
	Title, Description string
	InputSchema        []byte
	OutputSchema       []byte // nil when absent
	Annotations        []byte // nil when absent; shown, never interpreted
	Arguments          []Argument
}

// Argument is one declared property of the input schema's root.
type Argument struct {
	Name        string
	Types       []string // the declared JSON types, empty when none is declared
	Required    bool
	Description string
	Schema      []byte
}

// Describe reads a tool's descriptor. What is not of the usual form is left out here; it stays in the bytes.
func (t *Tool) Describe() Descriptor {
	var d Descriptor
	for name, value := range strictjson.Members(t.Descriptor) {
		switch name {
		case "title":
			d.Title, _ = strictjson.Text(value)
		case "description":
			d.Description, _ = strictjson.Text(value)
		case "inputSchema":
			d.InputSchema = value
		case "outputSchema":
			d.OutputSchema = value
		case "annotations":
			d.Annotations = value
		}
	}
	d.Arguments = argumentsOf(d.InputSchema)
	return d
}

func argumentsOf(schema []byte) []Argument {
	requiredValue, _ := strictjson.Member(schema, "required")
	required, _ := texts(requiredValue)
	properties, _ := strictjson.Member(schema, "properties")
	var list []Argument
	for name, value := range strictjson.Members(properties) {
		declared, _ := strictjson.Member(value, "type")
		list = append(list, Argument{
			Name:        name,
			Types:       typesOf(declared),
			Required:    slices.Contains(required, name),
			Description: strictjson.MemberText(value, "description"),
			Schema:      value,
		})
	}
	return list
}
