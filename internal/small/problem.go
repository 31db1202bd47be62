package small

import "fmt"

// Pos is a place in a file. Line and Column begin at 1; Column counts characters (code points), not bytes. Where the
// YAML parser counts lines, they end as in YAML 1.1: at LF, CR LF, a lone CR, U+0085, U+2028 and U+2029. Elsewhere
// they end at LF. The zero Pos means the whole file.
type Pos struct {
	Line, Column int
}

// String is "line:column".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// ProblemKind says which rule of the validate family a problem belongs to.
type ProblemKind string

// The kinds of problem that reading one file can have.
const (
	// ProblemYAML is broken syntax or encoding, a duplicate key, a conflict
	// marker, runaway aliases, or a document of which the root is of another
	// kind than is expected.
	ProblemYAML ProblemKind = "yaml"
	// ProblemDocuments is a second YAML document in the file.
	ProblemDocuments ProblemKind = "multiple-documents"
	// ProblemTooLarge is a file above the limit of size or structure; it is not parsed.
	ProblemTooLarge ProblemKind = "too-large"
	// ProblemNotAFile is a symlink, a submodule or an LFS pointer where a
	// file is expected.
	ProblemNotAFile ProblemKind = "not-a-file"
	// ProblemSchema is a value that does not fit the artifact's schema.
	ProblemSchema ProblemKind = "schema"
)

// Problem is something wrong with one file, at one place. A problem is a
// statement about content, not an error of the program.
type Problem struct {
	Kind ProblemKind
	Pos  Pos
	// Subject is the path of the value inside the document, such as
	// "tasks.2.title"; empty for the document as a whole.
	Subject string
	// Message is one sentence in lower case, without a final period.
	Message string
	// Conflict is true if the problem is one of git's conflict markers.
	Conflict bool
	// Hint says what to type or edit, if that is not obvious.
	Hint string
}
