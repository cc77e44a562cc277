package config

import (
	"strconv"
	"strings"
	"unicode"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// reader walks a validated file and keeps the first thing that is wrong with it.
type reader struct {
	path   string
	folder string // of the file; "" when relative paths stay as they are
	fault  *refusal.Refusal
}

// value is one JSON value of the file and where it stands.
type value struct {
	r   *reader
	at  string // JSON pointer
	raw []byte
}

func (v value) refuse(e *refusal.Entry, fields ...refusal.Field) {
	v.refuseHint("", e, fields...)
}

func (v value) refuseHint(hint string, e *refusal.Entry, fields ...refusal.Field) {
	if v.r.fault == nil {
		fields = append(fields, refusal.Own("pointer", v.at), refusal.Own("path", v.r.path))
		v.r.fault = refusal.New(e, fields...).Hint(hint)
	}
}

// wrong refuses a value of the right type for a reason of ours.
func (v value) wrong(reason string) { v.refuse(refusal.ConfigValue, refusal.Own("reason", reason)) }

func (v value) wantType(want string) { v.refuse(refusal.ConfigType, refusal.Own("want", want)) }

// members reads an object member by member and refuses a member that has no reader.
func (v value) members(readers map[string]func(value)) {
	v.each(func(name string, m value) {
		if read, ok := readers[name]; ok {
			read(m)
		} else {
			m.refuse(refusal.ConfigUnknownMember)
		}
	})
}

// each walks the members of an object and stops at the first fault.
func (v value) each(f func(name string, m value)) {
	if strictjson.Kind(v.raw) != '{' {
		v.wantType("an object")
		return
	}
	for name, raw := range strictjson.Members(v.raw) {
		f(name, value{v.r, v.at + strictjson.Pointer(name), raw})
		if v.r.fault != nil {
			return
		}
	}
}

// elements reads an array of strings element by element; read says what each must be.
func (v value) elements(want string, read func(value) string) []string {
	if strictjson.Kind(v.raw) != '[' {
		v.wantType(want)
		return nil
	}
	list := []string{}
	for i, raw := range strictjson.Elements(v.raw) {
		list = append(list, read(value{v.r, v.at + "/" + strconv.Itoa(i), raw}))
		if v.r.fault != nil {
			return nil
		}
	}
	return list
}

// text reads a string that is expanded nowhere and holds no secret.
func (v value) text() string {
	s := v.plainText()
	if hasTemplate(s) {
		v.template()
	}
	return s
}

// plainText reads a string in which a lone $ is an ordinary character, as in an argv.
func (v value) plainText() string {
	s, ok := strictjson.Text(v.raw)
	switch {
	case !ok:
		v.wantType("a string")
	case strings.Contains(s, "${"):
		v.template()
	case looksSecret(s):
		v.secret()
	case strings.ContainsFunc(s, unicode.IsControl):
		v.wrong("control characters are not admitted")
	}
	return s
}

// filled is text that may not be empty.
func (v value) filled() string {
	s := v.text()
	if s == "" {
		v.wrong("must not be empty")
	}
	return s
}

func (v value) template() {
	v.refuseHint(`name the source of a secret, as in {"env": "NAME"}; anything else is written out`,
		refusal.ConfigTemplate)
}

func (v value) secret() {
	v.refuseHint(`name its source instead, as in {"env": "NAME"}; a stdio server gets secrets by names in "env"`,
		refusal.ConfigSecret)
}

// file reads a path and resolves it against the folder of the configuration.
func (v value) file() string {
	s := v.filled()
	if strings.HasPrefix(s, "~") {
		v.wrong("~ is not expanded; write the path out")
	}
	return v.r.resolve(s)
}

// number reads a whole number from 1 to most.
func (v value) number(most int64) int64 {
	n, err := strconv.ParseInt(string(v.raw), 10, 64)
	if err != nil || n < 1 || n > most {
		v.wantType("a whole number from 1 to " + strconv.FormatInt(most, 10))
	}
	return n
}
