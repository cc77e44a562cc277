package snapshot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

// Notes returns facts about tools that look alike or odd, for people: our words, with the names escaped by %q or, where
// the difference cannot be seen, %+q. Notes are facts, not verdicts; nothing is decided by them.
//
// A note begins with its kind: "alike" (equal but for case and -, . and _), "confusable" (equal but for letters that
// look the same), "mixed scripts", "hidden" (code points that do not show) or "schema" (a legal input schema that is
// not plainly an object's).
func (s *Snapshot) Notes() []string {
	var notes []string
	notes = append(notes, s.pairs("alike: %q and %q differ only in case or in - . _", folded, nil)...)
	notes = append(notes, s.pairs("confusable: %+q and %+q look the same", skeleton, folded)...)
	for i := range s.Tools {
		t := &s.Tools[i]
		if scripts := scriptsOf(t.Name); len(scripts) > 1 {
			notes = append(notes, fmt.Sprintf("mixed scripts: %+q has letters of %s", t.Name, strings.Join(scripts, " and ")))
		}
		if points := hiddenIn(t.Name); points != "" {
			notes = append(notes, fmt.Sprintf("hidden: %+q has code points that do not show: %s", t.Name, points))
		}
		if odd := oddSchema(t.Descriptor); odd != "" {
			notes = append(notes, fmt.Sprintf("schema: the input schema of %q %s", t.Name, odd))
		}
	}
	return notes
}

// pairs names each tool whose key was there before, together with the first that has it. Names of one finer key are
// another note's business.
func (s *Snapshot) pairs(format string, key, finer func(string) string) []string {
	var notes []string
	first := make(map[string]string, len(s.Tools))
	for i := range s.Tools {
		name := s.Tools[i].Name
		k := key(name)
		other, seen := first[k]
		if !seen {
			first[k] = name
		} else if finer == nil || finer(other) != finer(name) {
			notes = append(notes, fmt.Sprintf(format, other, name))
		}
	}
	return notes
}

var separators = strings.NewReplacer("-", "_", ".", "_")

// folded maps what tools and clients are known to fold when they make identifiers of names.
func folded(name string) string { return separators.Replace(strings.ToLower(strings.ToUpper(name))) }

// skeleton maps letters of other scripts to the Latin ones that they look like, after compatibility forms (full width,
// mathematical, ligatures) are resolved, and drops what does not show. It is far from all of Unicode TR 39: it knows
// the letters that are put into Latin names.
func skeleton(name string) string {
	plain := strings.Map(func(r rune) rune {
		if terminal.Hidden(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	return strokes.Replace(folded(lookalikes.Replace(plain)))
}

// strokes are ASCII characters that many typefaces draw alike.
var strokes = strings.NewReplacer("0", "o", "1", "l", "i", "l")

// lookalikes are Cyrillic and Greek letters, and a few others, beside the Latin letter that they look like.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "һ", "h", "н", "h", "і", "i", "ї", "i", "ј", "j",
	"к", "k", "ӏ", "l", "м", "m", "о", "o", "р", "p", "ԛ", "q", "ѕ", "s", "т", "t", "ѵ", "v", "ԝ", "w", "х", "x",
	"у", "y", "А", "A", "В", "B", "С", "C", "Е", "E", "Н", "H", "І", "I", "Ј", "J", "К", "K", "М", "M", "О", "O",
	"Р", "P", "Ѕ", "S", "Т", "T", "Х", "X", "У", "Y", "Ѵ", "V", "Ԛ", "Q", "Ԝ", "W",
	"α", "a", "β", "b", "ε", "e", "η", "n", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u",
	"χ", "x", "γ", "y", "Α", "A", "Β", "B", "Ε", "E", "Ζ", "Z", "Η", "H", "Ι", "I", "Κ", "K", "Μ", "M", "Ν", "N",
	"Ο", "O", "Ρ", "P", "Τ", "T", "Υ", "Y", "Χ", "X",
	"ı", "i", "ɑ", "a", "ɡ", "g", "ɩ", "i", "ʟ", "l", "օ", "o", "ո", "n", "ս", "u", "ց", "g", "հ", "h", "‐", "-",
	"‑", "-", "–", "-", "—", "-", "−", "-", "․", ".", "∕", "/", "⁄", "/", "ǀ", "l",
)

// scripts are those that have letters like Latin ones, in the order in which a note names them.
var scripts = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"Latin", unicode.Latin},
	{"Cyrillic", unicode.Cyrillic},
	{"Greek", unicode.Greek},
	{"Armenian", unicode.Armenian},
	{"Cherokee", unicode.Cherokee},
}

func scriptsOf(name string) []string {
	var found []string
	for _, script := range scripts {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(script.table, r) }) {
			found = append(found, script.name)
		}
	}
	return found
}

// hiddenIn lists the code points of a name that do not show, each once. A space shows well enough in quotes.
func hiddenIn(name string) string {
	var points []string
	for _, r := range name {
		point := fmt.Sprintf("U+%04X", r)
		if terminal.Hidden(r) && !slices.Contains(points, point) {
			points = append(points, point)
		}
	}
	return strings.Join(points, " ")
}

// oddSchema says in our words in which way a legal input schema is not plainly an object's, or "".
func oddSchema(descriptor []byte) string {
	schema := partsOf(descriptor).inputSchema
	declared, ok := strictjson.Member(schema, "type")
	types := typesOf(declared)
	switch {
	case !ok:
		return `does not say "type":"object" at its root`
	case !slices.Contains(types, "object"):
		return `has another type than "object" at its root`
	case len(types) > 1:
		return `allows ` + strconv.Itoa(len(types)) + ` types at its root`
	}
	return ""
}
