package install

import (
	"strconv"
	"strings"
)

// LogPattern says which files are logs according to one stanza of the configuration: those that match Path and no pattern of Exclude.
type LogPattern struct {
	Path    string
	Exclude []string
}

// attributeLines returns the lines of .gitattributes that give the files of logs to the merge driver, and the excluded files to none.
func attributeLines(logs []LogPattern) []string {
	var out []string
	add := func(pattern, attribute string) {
		for _, p := range withoutBraces(pattern) {
			if p = "/" + p; strings.ContainsAny(p, " \t\"") {
				p = strconv.Quote(p)
			}
			out = append(out, p+" "+attribute)
		}
	}
	for _, log := range logs {
		add(log.Path, "merge="+driverName)
		for _, pattern := range log.Exclude {
			add(pattern, "!merge")
		}
	}
	return out
}

// withoutBraces returns one pattern for each alternative in the pattern's braces, which git does not know; the pattern itself if it has none.
func withoutBraces(pattern string) []string {
	start, depth := -1, 0
	var cuts []int
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				start, cuts = i, []int{i}
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}' && depth > 0:
			if depth--; depth > 0 {
				continue
			}
			cuts = append(cuts, i)
			var out []string
			for n := range cuts[1:] {
				out = append(out, withoutBraces(pattern[:start]+pattern[cuts[n]+1:cuts[n+1]]+pattern[i+1:])...)
			}
			return out
		}
	}
	return []string{pattern}
}
