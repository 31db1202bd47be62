package lane

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// sqlExtensions are those of files of SQL and of languages like it.
var sqlExtensions = map[string]bool{
	".sql": true, ".ddl": true, ".pgsql": true, ".psql": true, ".mysql": true, ".cql": true, ".hql": true, ".prc": true,
}

// ReadsSQL reports whether DefinesSchema can say something about a file: one of
// SQL, or a template of one, such as a.sql.erb. What a program generated from SQL,
// such as a.sql.go, and text about it are none.
func ReadsSQL(name string) bool {
	base := strings.ToLower(path.Base(name))
	if sqlExtensions[path.Ext(base)] {
		return true
	}
	return strings.Contains(base, ".sql.") && !isCode(base) && !slices.Contains([]string{".md", ".rst", ".txt"}, path.Ext(base))
}

// sqlVerb is a word without which SQL defines nothing.
var sqlVerb = regexp.MustCompile(`(?i)create|alter|drop|truncate|rename`)

var (
	// sqlVerbs begin statements of the data definition language.
	sqlVerbs = words("create alter drop truncate rename")
	// sqlObjects tell such a statement where it does not stand at the beginning of
	// a line or after another one: SQL Server wants nothing between statements.
	sqlObjects = words("table view index schema database sequence type function procedure proc trigger materialized unique clustered nonclustered " +
		"keyspace external unlogged domain")
	// sqlOpeners stand before a statement.
	sqlOpeners = words("begin then else loop do as go")
	// sqlRunners run what stands in a string.
	sqlRunners = words("exec execute immediate prepare sp_executesql gexec")
	// sqlWords are all words that matter, each by itself.
	sqlWords = merged(sqlVerbs, sqlObjects, sqlOpeners, sqlRunners, words("sp_rename sp_renamedb"))
)

// words is a set of the words of a text.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// merged maps each word of some sets to itself.
func merged(sets ...map[string]bool) map[string]string {
	out := map[string]string{}
	for _, set := range sets {
		for word := range set {
			out[word] = word
		}
	}
	return out
}

// DefinesSchema reports whether SQL has a statement that creates, alters, drops,
// truncates or renames something that stays: not a temporary table. Databases do
// not agree on what is a comment and what a string; it is one that defines
// something if it does so for any of them.
func DefinesSchema(text []byte) bool {
	if !sqlVerb.Match(text) {
		return false
	}
	seen := map[dialect]bool{}
	for _, d := range dialects {
		d &= telling(text)
		if seen[d] {
			continue
		}
		seen[d] = true
		found, dynamic := definition(text, d, false, 0)
		if !found && dynamic {
			found, _ = definition(text, d, true, 0)
		}
		if found {
			return true
		}
	}
	return false
}

// mostQuotes is how deep quotes in quotes are followed.
const mostQuotes = 4

// definition reports whether a reading of SQL has a definition, and whether it
// has words that run what stands in strings; with inStrings, those are read too.
func definition(text []byte, d dialect, inStrings bool, depth int) (found, dynamic bool) {
	if depth > mostQuotes {
		return true, true // nobody writes so who wants to be understood
	}
	r := sqlReader{text: text, dialect: d}
	last, t := sqlToken{}, r.next()
	for start := true; t.kind != sqlEnd; {
		next := r.next()
		word := t.lower()
		start = start || t.first
		switch {
		case t.kind == sqlBody || inStrings && t.quoted():
			inner, runs := definition(t.text, d, inStrings, depth+1)
			dynamic = dynamic || runs
			if inner {
				return true, dynamic
			}
		case strings.HasPrefix(word, "sp_rename"):
			return true, dynamic
		case sqlRunners[word]:
			dynamic = true
		case sqlVerbs[word]:
			if start {
				next = r.skip(next)
			}
			if start && next.stays() || sqlObjects[next.lower()] && !last.is("show") {
				return true, dynamic
			}
		}
		start = start && t.quoted() || t.mark == ';' || sqlOpeners[word]
		last, t = t, next
	}
	return false, dynamic
}

// skip finds what is created: it goes on after words that say only how.
func (r *sqlReader) skip(next sqlToken) sqlToken {
	for next.is("or") || next.is("replace") || next.is("local") {
		next = r.next()
	}
	return next
}

// stays reports whether what stands after create and the like can be something
// that stays: a template or a variable can.
func (t sqlToken) stays() bool {
	switch t.kind {
	case sqlWord:
		return !t.is("temp") && !t.is("temporary")
	case sqlMark:
		return strings.IndexByte("{<%:", t.mark) >= 0
	}
	return t.kind == sqlName
}

// telling are the differences between dialects that matter for a text.
func telling(text []byte) dialect {
	out := dialect(0)
	for mark, d := range map[string]dialect{
		`\`: escapes, "#": hashes, "//": slashes, "--": mysql, "\r": mysql, "/*!": mysql, "/*M!": mysql, "/*": nested, "[": brackets, "`": ticks, "$": dollars, "'": escaped | chosen,
	} {
		if bytes.Contains(text, []byte(mark)) {
			out |= d
		}
	}
	return out
}
