package install

import "strings"

// LogPattern says which files are logs according to one stanza of the configuration: those that match Path and no pattern of Exclude.
type LogPattern struct {
	Path    string
	Exclude []string
}

// attributeLines returns the lines of .gitattributes that give the files of logs to the merge driver. They also give it the excluded files, which the
// driver merges line by line: a line that excludes files would exclude them from all lines above, so from other stanzas too.
func attributeLines(logs []LogPattern) []string {
	var out []string
	for _, log := range logs {
		for _, p := range withoutBraces(log.Path) {
			if p = "/" + p; strings.ContainsAny(p, " \t\r\n\"") {
				p = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", `\r`, "\n", `\n`).Replace(p) + `"` // git reads fewer escapes than strconv.Quote writes
			}
			out = append(out, p+" merge="+driverName)
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
