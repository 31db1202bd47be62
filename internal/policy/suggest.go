package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// longestWord bounds the work of a suggestion: no key or rule id is near to
// anything longer.
const longestWord = 64

// Suggest returns the known word that a misspelt one was probably meant to be,
// or "" if none is near. A rule id may lack its family, or have another one.
func Suggest(word string, known []string) string { return nearestRule(word, known) }

// nearest returns the known word that a misspelt one was probably meant to be,
// or "". A known word that the misspelt one abbreviates or lengthens counts as
// near; otherwise a third of the letters may differ, three at most. The first
// of equally near words wins.
//
// The distance is written out here: it is twenty lines, and a library would be
// one more thing to trust in a program that guards others.
func nearest(word string, known []string) string {
	word = strings.ToLower(word)
	length := utf8.RuneCountInString(word)
	if length > longestWord {
		return ""
	}
	best, least := "", min(max((length+1)/3, 1), 3)+1
	for _, k := range known {
		lower := strings.ToLower(k)
		if short := min(len(word), len(lower)); short >= 3 && word[:short] == lower[:short] && least > 1 {
			best, least = k, 1
		}
		if diff := length - utf8.RuneCountInString(lower); diff >= least || -diff >= least {
			continue
		}
		if d := distance(word, lower); d < least {
			best, least = k, d
		}
	}
	return best
}

// nearestRule is nearest for rule ids. If no id is near, one whose name is near
// will do: its family may have been left out, or be another one.
func nearestRule(id string, known []string) string {
	if near := nearest(id, known); near != "" {
		return near
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k[strings.LastIndexByte(k, '/')+1:]
	}
	near := nearest(id[strings.LastIndexByte(id, '/')+1:], names)
	if near == "" {
		return ""
	}
	return known[slices.Index(names, near)]
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour to turn a into b (optimal string alignment: no letter is
// touched twice).
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)}
	before, last, now := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := range from {
		now[0] = i + 1
		for j := range to {
			cost := 1
			if from[i] == to[j] {
				cost = 0
			}
			now[j+1] = min(last[j+1]+1, now[j]+1, last[j]+cost)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(to)]
}
