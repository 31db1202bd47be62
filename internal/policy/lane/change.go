package lane

import (
	"bytes"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// File is one path that a change touches.
type File struct {
	// Path is slash-separated, from the repository's root.
	Path string
	// Added is true for a new path, Deleted for a deleted one.
	Added, Deleted bool
	// Object is the id of its content; for a deleted path, of its old content.
	Object string
	// Lines is the number of lines that only one of the two versions has, without comments and imports. It may be 1 for a file that was not read. For a file that is binary or too large it is
	// estimated from the size. A path without such lines gives no signal, except for a generated migration and what FindMoves leaves.
	Lines int
	// generated is true for a generated file. It is no work, but a generated migration still gives its signal.
	generated bool
	// Of Lines, lost is how many are deleted, and sensitive how many mention permissions or credentials.
	lost, sensitive int
	// statements has the file's first SQL statement that changes a schema or stored data, if the file differs in more than comments. routes and exports
	// are changed lines with routes and exported declarations.
	statements, routes, exports []Line
}

// Line is one line of a changed file: of the new version or, if it was deleted, of the old one.
type Line struct {
	Path   string
	Number int
	Text   string
	// gone is true for a deleted line of the old version.
	gone bool
	// name is the name of the route or the declaration on the line, and form the rest of it, such as a signature.
	name, form string
}

// Read compares the two texts of a file, and sets its lines. A generated file has none.
func (f *File) Read(before, after []byte) {
	f.statements = firstStatement(f.Path, before, after)
	if f.generated = isGenerated(before) || isGenerated(after); f.generated {
		return
	}
	language := languageOf(f.Path)
	for _, line := range append(linesOnlyIn(before, after, true), linesOnlyIn(after, before, false)...) {
		if trivial().MatchString(line.Text) {
			continue
		}
		line.Path = f.Path
		f.Lines++
		if line.gone {
			f.lost++
		}
		if len(line.Text) > longestLine {
			continue
		}
		if guard().MatchString(line.Text) {
			f.sensitive++
		}
		if language != nil {
			language.classify(f, line)
		}
	}
}

// guard matches a line about permissions or credentials.
var guard = expression.Of(`(?i)permission|authori[sz]|authenticat|passw(or)?d|\bsession|csrf|\bjwt|(en|de)crypt|\bacl\b|\brole\b|access_?token|secret|credential|forbidden|privilege`)

// isGenerated reports whether a text was generated, by its beginning.
func isGenerated(text []byte) bool {
	const beginning = 1000
	head := text[:min(len(text), beginning)]
	return bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated"))
}

// longestLine is the length in bytes of the longest line that is searched for signals. A longer one only counts as a line.
const longestLine = 2000

// trivial matches comments and imports.
var trivial = expression.Of(`^\x{feff}?\s*(//|/?\*[ */]|\*$|#( |$)|--( |$)|<!--|import\b|from \S+ import\b|using [\w.]+;|(global )?namespace\b|package\b|require\b|"[\w./-]+"$|use [\w:]+;)`)

// linesOnlyIn lists the lines of a text that another text lacks, ignoring white space. Unlike a diff, it does not depend on alignment.
func linesOnlyIn(text, other []byte, gone bool) []Line {
	left := map[string]int{}
	for line := range bytes.Lines(other) {
		left[string(normal(line))]++
	}
	var out []Line
	number := 0
	for line := range bytes.Lines(text) {
		number++
		bare := normal(line)
		if left[string(bare)]--; left[string(bare)] < 0 && len(bare) > 0 {
			out = append(out, Line{Number: number, Text: string(bytes.TrimRight(line, "\r\n")), gone: gone})
		}
	}
	return out
}

func normal(line []byte) []byte { return bytes.Join(bytes.Fields(line), []byte(" ")) }

// FindMoves makes files that only moved, a deleted path and a new one with the same content, give no signal but for exported declarations: if the folder is
// another, its package has lost these.
func FindMoves(files []File) {
	gone := map[string][]int{}
	for i := range files {
		if files[i].Deleted && files[i].Object != "" {
			gone[files[i].Object] = append(gone[files[i].Object], i)
		}
	}
	for i := range files {
		f := &files[i]
		if left := gone[f.Object]; f.Added && len(left) > 0 {
			gone[f.Object] = left[1:]
			files[left[0]].Lines, f.Lines = 0, 0
			files[left[0]].generated, f.generated = false, false
		}
	}
}

// Counts reports whether a path counts at all: the protocol's own files and the
// gate's configuration do not.
func Counts(name string) bool {
	_, inSmall := small.WorkspaceOf(name)
	return !inSmall && name != policy.File
}

// IsWork reports whether a path is work: it counts, and is no test, no document and not ignored. Lock files and vendored copies are ignored.
func IsWork(name string, cfg *Settings) bool {
	return Counts(name) && !matches("ignore", name, cfg) && !matches("tests", name, cfg) && !IsDocument(name, cfg)
}

// IsDocument reports whether a path is for people: prose, a picture, a translation. A change of documents alone fits fast.
func IsDocument(name string, cfg *Settings) bool {
	return matches("documents", name, cfg) && !matches("contracts", name, cfg) && !matches("migrations", name, cfg)
}
