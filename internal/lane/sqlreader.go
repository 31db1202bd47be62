package lane

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// dialect says how a database tells statements from comments and strings.
type dialect uint16

const (
	// escapes: a backslash in a string takes the character after it along.
	escapes dialect = 1 << iota
	// hashes and slashes begin comments: # and //.
	hashes
	slashes
	// nested: a comment can hold another one, as in PostgreSQL and SQL Server.
	nested
	// brackets and ticks are quotes of names: [a] and `a`.
	brackets
	ticks
	// dollars are quotes of strings, $$a$$ and $b$a$b$, whose content is often run.
	dollars
	// escaped are strings of PostgreSQL, E'a\'b', and chosen are strings of Oracle
	// that choose their quotes, q'[a'b]'.
	escaped
	chosen
	// mysql: -- begins a comment only before white space, which only a line feed
	// ends, and what stands in /*! */ is run.
	mysql
)

// dialects are the ones that are tried, from the manuals of the databases.
var dialects = []dialect{
	chosen,                               // Oracle, and the standard
	nested | dollars | escaped,           // PostgreSQL
	nested | dollars | escaped | escapes, // PostgreSQL without standard_conforming_strings
	mysql | hashes | ticks | escapes,     // MySQL, MariaDB
	mysql | hashes | ticks,               // the same with NO_BACKSLASH_ESCAPES
	nested | brackets,                    // SQL Server
	brackets | ticks,                     // SQLite
	slashes | dollars,                    // Cassandra
	slashes | dollars | escapes,          // Snowflake
	hashes | ticks | escapes,             // BigQuery
	ticks | escapes,                      // Hive, Spark
}

// sqlKind is what a token is.
type sqlKind byte

const (
	sqlEnd sqlKind = iota
	sqlWord
	// sqlName is a name in quotes, or what MySQL takes for a string.
	sqlName
	// sqlString is a string, and sqlBody one in dollars.
	sqlString
	sqlBody
	sqlMark
)

// sqlToken is a piece of SQL that is neither white space nor a comment.
type sqlToken struct {
	kind sqlKind
	// text is a word, or what stands in quotes.
	text []byte
	mark byte
	// first is true for the first one of a line, or of what MySQL runs in a comment.
	first bool
}

// lower is a word in lower case, where it is one that matters; else empty.
func (t sqlToken) lower() string {
	var buf [len("sp_executesql")]byte
	if t.kind != sqlWord || len(t.text) > len(buf) {
		return ""
	}
	word := buf[:copy(buf[:], t.text)]
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			word[i] = c + 'a' - 'A'
		}
	}
	return sqlWords[string(word)]
}

func (t sqlToken) is(word string) bool {
	return t.kind == sqlWord && strings.EqualFold(string(t.text), word)
}

// quoted reports whether it stands in quotes.
func (t sqlToken) quoted() bool { return t.kind != sqlWord && t.kind != sqlMark }

// sqlReader reads SQL token by token. What is opened and never closed is taken
// for marks, so that nothing after it is hidden.
type sqlReader struct {
	text    []byte
	dialect dialect
	pos     int
	// unclosed are the quotes and comments of which one was not closed; looking
	// for the end of each would take too long.
	unclosed [256]bool
}

func (r *sqlReader) has(d dialect) bool { return r.dialect&d != 0 }

// rest is what is left of the text.
func (r *sqlReader) rest() []byte { return r.text[r.pos:] }

func (r *sqlReader) next() sqlToken {
	t := sqlToken{first: r.pos == 0}
	for r.pos < len(r.text) {
		if r.space(&t) || r.comment(&t) {
			continue
		}
		from := r.pos
		if r.word() {
			t.kind, t.text = sqlWord, r.text[from:r.pos]
			r.letter(&t)
			return t
		}
		if r.quoted(&t) {
			return t
		}
		t.kind, t.mark = sqlMark, r.text[r.pos]
		r.pos++
		return t
	}
	return t
}

// space skips a character that is neither part of a word nor a mark: outside of
// ASCII everything is that is no letter, such as a space that does not break.
func (r *sqlReader) space(t *sqlToken) bool {
	if c := r.text[r.pos]; c > ' ' && c < 0x7f {
		return false
	}
	c, size := utf8.DecodeRune(r.rest())
	switch {
	case c >= utf8.RuneSelf && c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c)):
		return false
	case c >= '\n' && c <= '\r' || c == 0x85 || c == '\u2028' || c == '\u2029':
		t.first = true
	}
	r.pos += size
	return true
}

// comment skips one, or the marks around what MySQL runs.
func (r *sqlReader) comment(t *sqlToken) bool {
	rest := r.rest()
	switch {
	case bytes.HasPrefix(rest, []byte("--")) && (!r.has(mysql) || len(rest) == 2 || rest[2] <= ' ' || rest[2] == 0x7f),
		rest[0] == '#' && r.has(hashes), bytes.HasPrefix(rest, []byte("//")) && r.has(slashes):
		r.line()
		return true
	case r.has(mysql) && (bytes.HasPrefix(rest, []byte("/*!")) || bytes.HasPrefix(rest, []byte("/*M!"))):
		r.pos += bytes.IndexByte(rest, '!') + 1
		for r.pos < len(r.text) && r.text[r.pos] >= '0' && r.text[r.pos] <= '9' {
			r.pos++
		}
		t.first = true
		return true
	case r.has(mysql) && bytes.HasPrefix(rest, []byte("*/")):
		r.pos += 2
		return true
	case bytes.HasPrefix(rest, []byte("/*")) && !r.unclosed['/']:
		size := r.block(rest)
		if size < 0 {
			r.unclosed['/'] = true
			return false
		}
		t.first = t.first || bytes.ContainsAny(rest[:size], "\r\n")
		r.pos += size
		return true
	}
	return false
}

// line skips what is left of a line.
func (r *sqlReader) line() {
	ends := "\r\n"
	if r.has(mysql) {
		ends = "\n"
	}
	if i := bytes.IndexAny(r.rest(), ends); i >= 0 {
		r.pos += i
	} else {
		r.pos = len(r.text)
	}
}

// block is how long a comment is, -1 if it does not end.
func (r *sqlReader) block(rest []byte) int {
	depth := 0
	for i := 0; i+1 < len(rest); i++ {
		switch {
		case rest[i] == '/' && rest[i+1] == '*' && (depth == 0 || r.has(nested)):
			depth++
			i++
		case rest[i] == '*' && rest[i+1] == '/':
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// word skips one. Variables and temporary tables are such, whose marks belong to
// their names.
func (r *sqlReader) word() bool {
	from := r.pos
	for r.pos < len(r.text) {
		if c := r.text[r.pos]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			r.pos++
			continue
		}
		c, size := utf8.DecodeRune(r.rest())
		plain := c == '_' || c == '@' || c == '#' || c == '$' && (r.pos > from || !r.has(dollars)) ||
			c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
		if !plain || c == '#' && r.has(hashes) {
			break
		}
		r.pos += size
	}
	return r.pos > from
}

// letter makes a string of a word that is the letter before one.
func (r *sqlReader) letter(t *sqlToken) {
	rest := r.rest()
	if len(rest) < 3 || rest[0] != '\'' || r.unclosed[t.text[0]] {
		return
	}
	var size int
	switch {
	case r.has(escaped) && t.is("e"):
		size = closing(rest, '\'', true)
	case r.has(chosen) && (t.is("q") || t.is("nq")):
		end := string(rest[1:2])
		if i := strings.Index("[{(<", end); i >= 0 {
			end = "]})>"[i : i+1]
		}
		if size = bytes.Index(rest[2:], []byte(end+"'")); size >= 0 {
			size += len("'[") + len("]'")
		}
	default:
		return
	}
	if size < 0 {
		r.unclosed[t.text[0]] = true
		return
	}
	t.kind, t.text = sqlString, rest[1:size-1]
	r.pos += size
}

// quoted skips a string or a name in quotes.
func (r *sqlReader) quoted(t *sqlToken) bool {
	rest := r.rest()
	quote := rest[0]
	if r.unclosed[quote] {
		return false
	}
	open, size := 1, 0
	switch {
	case quote == '\'':
		t.kind, size = sqlString, closing(rest, quote, r.has(escapes))
	case quote == '"': // of the dialects with dollars and escapes, only strings have the latter
		t.kind, size = sqlName, closing(rest, quote, r.has(escapes) && !r.has(dollars))
	case quote == '`' && r.has(ticks):
		t.kind, size = sqlName, closing(rest, quote, false)
	case quote == '[' && r.has(brackets):
		t.kind, size = sqlName, closing(rest, ']', false)
	case quote == '$' && r.has(dollars):
		t.kind = sqlBody
		if open = dollarTag(rest); open == 0 {
			return false
		}
		if size = bytes.Index(rest[open:], rest[:open]); size >= 0 {
			size += 2 * open
		}
	default:
		return false
	}
	if size < 0 {
		r.unclosed[quote] = true
		return false
	}
	t.text = rest[open : size-open]
	r.pos += size
	return true
}

// closing is how long a text in quotes is, -1 if it does not end. A quote that
// is doubled belongs to it.
func closing(rest []byte, quote byte, escapes bool) int {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && escapes:
			i++
		case rest[i] != quote:
		case i+1 < len(rest) && rest[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// dollarTag is how long a quote of dollars is; 0 for a dollar that is none.
func dollarTag(rest []byte) int {
	for i := 1; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '$':
			return i + 1
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf || i > 1 && c >= '0' && c <= '9':
		default:
			return 0
		}
	}
	return 0
}
