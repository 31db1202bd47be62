package lane

import (
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
)

var (
	sqlFile = expression.Of(`(?i)\.(sql|ddl|pgsql|psql|mysql|cql|hql)(\.(erb|j2|tmpl|tpl))?$`)
	// sqlComment is one that runs to the end of its line, or a bracketed one.
	sqlComment = expression.Of(`(?s)--[^\n]*|/\*.*?\*/`)
	// sqlVerb begins a statement that changes a schema or stored data.
	sqlVerb = expression.Of(`(?im)(?:^\x{feff}?|;)\s*(?:create|alter|drop|truncate|rename|update|delete)\b`)
)

// statements are the first lines that change a schema or stored data, of a file
// of SQL whose text differs in more than comments: of the new version, or where
// it has none, of the old one.
func statements(name string, before, after []byte) []Line {
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

// withoutComments blanks comments, and keeps the lines.
func withoutComments(text []byte) string {
	return sqlComment().ReplaceAllStringFunc(string(text), func(comment string) string {
		return " " + strings.Repeat("\n", strings.Count(comment, "\n"))
	})
}
