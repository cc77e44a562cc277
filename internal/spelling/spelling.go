// Package spelling finds the name that was probably meant, and says which names can be shown.
//
// It guarantees nothing but a hint: what it returns is one of the candidates, and it decides nothing. It does not
// compare names over 64 bytes.
package spelling

import "strings"

const maxName = 64

// Plain reports whether a name that a server chose can stand in a sentence of ours: it is short, and none of its letters
// can be mistaken for prose or do anything to a terminal.
func Plain(name string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
	return name != "" && len(name) <= maxName && strings.Trim(name, letters) == ""
}

// Nearest returns the candidate that differs from name in case or in one of - . _ only, or by at most two edits; ""
// when there is none.
func Nearest(name string, candidates []string) string {
	best, least := "", 3
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

var marks = strings.NewReplacer("-", "_", ".", "_")

func distance(a, b string) int {
	if len(a) > maxName || len(b) > maxName {
		return maxName
	}
	if strings.EqualFold(marks.Replace(a), marks.Replace(b)) {
		return 0
	}
	d := edits([]rune(a), []rune(b))
	if d >= min(len(a), len(b)) { // "a" is two edits from every name of two letters
		return maxName
	}
	return d
}

// edits is the Levenshtein distance.
func edits(x, y []rune) int {
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(y)]
}
