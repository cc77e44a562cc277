package snapshot

import (
	"cmp"
	"slices"

	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

// HiddenRune is a code point that does not show, and how often it stands in a value.
type HiddenRune struct {
	Rune  rune
	Count int
}

// HiddenRunes lists the code points that do not show in the strings and member names of a JSON value, sorted. Line
// feed and tab are left out: they lay text out, and every escaped form of the text shows them.
func HiddenRunes(value []byte) []HiddenRune {
	counts := map[rune]int{}
	countHidden(value, counts)
	return sorted(counts)
}

// withNames is HiddenRunes of a value and of the member names of the pointer to it.
func withNames(value []byte, pointer string) []HiddenRune {
	counts := map[rune]int{}
	countHidden(value, counts)
	countText(pointer, counts)
	return sorted(counts)
}

func sorted(counts map[rune]int) []HiddenRune {
	var list []HiddenRune
	for r, n := range counts {
		list = append(list, HiddenRune{r, n})
	}
	slices.SortFunc(list, func(a, b HiddenRune) int { return cmp.Compare(a.Rune, b.Rune) })
	return list
}

func countHidden(value []byte, counts map[rune]int) {
	if text, ok := strictjson.Text(value); ok {
		countText(text, counts)
	}
	for _, v := range strictjson.Elements(value) {
		countHidden(v, counts)
	}
	for name, v := range strictjson.Members(value) {
		countText(name, counts)
		countHidden(v, counts)
	}
}

func countText(text string, counts map[rune]int) {
	for _, r := range text {
		if terminal.Hidden(r) && r != '\n' && r != '\t' {
			counts[r]++
		}
	}
}
