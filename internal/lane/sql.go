package lane

import (
	"path"
	"regexp"
	"strings"
)

// ReadsSQL reports whether DefinesSchema can say something about a file.
func ReadsSQL(name string) bool { return strings.EqualFold(path.Ext(name), ".sql") }

var (
	// sqlComment is a comment. What MySQL executes of those, /*! ... */, is none.
	sqlComment = regexp.MustCompile(`(?s)--[^\n]*|/\*(?:[^!].*?)??\*/`)
	// sqlDefinition is what may be a statement of the data definition language,
	// with the word after it: one at the beginning of a line or after another
	// statement, or one that speaks of a table.
	sqlDefinition = regexp.MustCompile(`(?im)(?:^|;|/\*!\d*)[ \t]*(?:create|alter|drop|truncate|rename)[ \t\r\n]+` +
		`(?:or[ \t\r\n]+replace[ \t\r\n]+)?(?:(?:local|global)[ \t\r\n]+)?(\w+)|\b(?:create|alter|drop|truncate|rename)[ \t\r\n]+(table)\b`)
)

// DefinesSchema reports whether SQL has a statement that creates, alters, drops,
// truncates or renames something that stays: not a temporary table. It looks at
// words, and may take text in quotes for a statement.
func DefinesSchema(text []byte) bool {
	for _, m := range sqlDefinition.FindAllSubmatch(sqlComment.ReplaceAll(text, []byte(";")), -1) {
		if word := strings.ToLower(string(m[1])); word != "temp" && word != "temporary" {
			return true
		}
	}
	return false
}
