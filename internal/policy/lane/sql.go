package lane

import (
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
)

var (
	sqlFile = expression.Of(`(?i)\.(sql|ddl|pgsql|psql|mysql|cql|hql)(\.(erb|j2|tmpl|tpl))?$`)
	// sqlComment matches a comment to the end of the line, or between /* and */.
	sqlComment = expression.Of(`(?s)--[^\n]*|/\*.*?\*/`)
	// sqlVerb matches the beginning of a statement that changes a schema or stored data.
	sqlVerb = expression.Of(`(?im)(?:^\x{feff}?|;)\s*(?:create|alter|drop|truncate|rename|update|delete)\b`)
)

// firstStatement returns the first line of the first statement that changes a schema or stored data, in an SQL file that differs in more than comments:
// in the new version or, if that has none, in the old one.
func firstStatement(name string, before, after []byte) []Line {
	if !sqlFile().MatchString(name) {
		return nil
	}
	old, now := withoutComments(before), withoutComments(after)
	if strings.Join(strings.Fields(old), " ") == strings.Join(strings.Fields(now), " ") {
		return nil
	}
	for _, text := range []string{now, old} {
		if at := sqlVerb().FindStringIndex(text); at != nil {
			begin := at[1] - len(strings.TrimLeft(text[at[0]:at[1]], "; \t\r\n"))
			line, _, _ := strings.Cut(text[begin:], "\n")
			return []Line{{Path: name, Number: 1 + strings.Count(text[:begin], "\n"), Text: line}}
		}
	}
	return nil
}

// withoutComments replaces comments by white space, and keeps line numbers.
func withoutComments(text []byte) string {
	return sqlComment().ReplaceAllStringFunc(string(text), func(comment string) string {
		return " " + strings.Repeat("\n", strings.Count(comment, "\n"))
	})
}
