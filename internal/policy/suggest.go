package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// longestWord is the length of the longest word, in characters, that gets a
// suggestion. All keys and rule ids are much shorter.
const longestWord = 64

// Suggest returns the known word that a misspelt one was probably meant to be,
// or "" if none is near. A rule id may lack its family, or have the wrong one.
func Suggest(word string, known []string) string { return nearestRule(word, known) }

// nearestWord returns the known word that a misspelt one was probably meant to be,
// or "" if none is near. A known word is near if one of the two begins with the
// other, which has at least three letters, or if about a third of the letters
// differ, three at most. The first of equally near words wins.
//
// The distance is computed here, in twenty lines, to avoid a dependency: this
// program guards others, and each library is one more thing to trust.
func nearestWord(word string, known []string) string {
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
		if d := editDistance(word, lower); d < least {
			best, least = k, d
		}
	}
	return best
}

// nearestRule returns the known rule id that a misspelt one was probably meant to
// be, or "". If no id is near, it compares the names alone, since the family may
// be missing or wrong.
func nearestRule(id string, known []string) string {
	if near := nearestWord(id, known); near != "" {
		return near
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k[strings.LastIndexByte(k, '/')+1:]
	}
	near := nearestWord(id[strings.LastIndexByte(id, '/')+1:], names)
	if near == "" {
		return ""
	}
	return known[slices.Index(names, near)]
}

// editDistance returns how many letters must be inserted, deleted, replaced or
// swapped with their neighbour to turn a into b (optimal string alignment: no
// letter is changed twice).
func editDistance(a, b string) int {
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
