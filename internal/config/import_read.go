package config

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"

	"mcpc/internal/strictjson"
)

// read makes one strict JSON object of a file of any of the admitted kinds, and notes what gets lost on the way.
func (im *importer) read(data []byte, path string) ([]byte, error) {
	text := utf8Text(data)
	if kind := foreignText(text); kind == kindCodex {
		return fromTOML(text, path)
	}
	plain, habits := relax(text)
	if habits.comment >= 0 {
		im.drop("", "comments")
	}
	err := strictjson.ValidateObject(plain, strictjson.MaxDepth)
	var fault *strictjson.Error
	if errors.As(err, &fault) && fault.Fault == strictjson.FaultDuplicate {
		if plain, err = im.lastWins(plain); err == nil {
			err = strictjson.ValidateObject(plain, strictjson.MaxDepth)
		}
	}
	if err != nil {
		return nil, syntax(text, path, err)
	}
	return plain, nil
}

// utf8Text undoes what editors on Windows do to a file: a byte order mark, and UTF-16, which is known by its mark or by
// the zero byte beside the first bracket. Other text comes back as it is.
func utf8Text(data []byte) []byte {
	switch {
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return utf16Text(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return utf16Text(data[2:], binary.BigEndian)
	case len(data) > 1 && data[0] != 0 && data[1] == 0:
		return utf16Text(data, binary.LittleEndian)
	case len(data) > 1 && data[0] == 0 && data[1] != 0:
		return utf16Text(data, binary.BigEndian)
	}
	return data
}

func utf16Text(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// lastWins leaves of members of one name the last, as JavaScript does and so the programs that wrote these files. The
// nesting has been bounded before.
func (im *importer) lastWins(text []byte) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	plain, err := im.lastOf(d, "")
	switch rest := bytes.TrimLeft(text[d.InputOffset():], " \t\r\n"); {
	case err != nil:
		return nil, &strictjson.Error{Fault: strictjson.FaultSyntax, Offset: d.InputOffset()}
	case len(rest) > 0:
		return nil, &strictjson.Error{Fault: strictjson.FaultTrailing, Offset: int64(len(text) - len(rest))}
	}
	return plain, nil
}

func (im *importer) lastOf(d *jsontext.Decoder, at string) ([]byte, error) {
	switch d.PeekKind() {
	case '{':
		return im.lastMembers(d, at)
	case '[':
		return im.lastElements(d, at)
	}
	v, err := d.ReadValue()
	return bytes.Clone(v), err
}

func (im *importer) lastMembers(d *jsontext.Decoder, at string) ([]byte, error) {
	var names []string
	values := map[string][]byte{}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		pointer := at + strictjson.Pointer(name)
		if values[name] == nil {
			names = append(names, name)
		} else {
			im.drop(pointer, "stands there more than once; the last one counts")
		}
		if values[name], err = im.lastOf(d, pointer); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	b := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(strictjson.AppendQuote(b, name), ':'), values[name]...)
	}
	return append(b, '}'), err
}

func (im *importer) lastElements(d *jsontext.Decoder, at string) ([]byte, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	b := []byte{'['}
	for kind := d.PeekKind(); kind != ']' && kind != 0; kind = d.PeekKind() {
		v, err := im.lastOf(d, at+"/-")
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	_, err := d.ReadToken()
	return append(b, ']'), err
}
