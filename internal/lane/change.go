package lane

import (
	"bytes"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// File is one path that a change touches.
type File struct {
	// Path is slash-separated, from the repository's root.
	Path string
	// Added is true for a path that was not there, Deleted for one that is gone.
	Added, Deleted bool
	// Object is the id of its content; of one that is gone, of what it had.
	Object string
	// Lines is how many lines only one of the two versions has, without those that
	// are a comment or name what is imported. Of what is not text, or too large, it
	// is guessed from the size. A file with none gives no signal by its path, unless
	// a program wrote a migration.
	Lines int
	// written is true for what a program has written. It is no work, but a migration
	// that a program wrote is one.
	written bool
	// lost is how many of them are gone, and guarded how many speak of who may do
	// what.
	lost, guarded int
	// statements are the lines of SQL that change a schema or stored data; routes
	// and exports what the change adds and takes away.
	statements, routes, exports []Line
}

// Line is one line of a file that a change touches: of the new version, or if it
// is gone, of the old one.
type Line struct {
	Path   string
	Number int
	Text   string
	// gone is true for a line of the old version.
	gone bool
	// name is the route or the declaration that it is, and form what matters to
	// others beside that.
	name, form string
}

// Read compares the two texts of a file. What a program has written shows no lines.
func (f *File) Read(before, after []byte) {
	f.statements = statements(f.Path, before, after)
	if f.written = generated(before) || generated(after); f.written {
		return
	}
	f.exports = exports(f.Path, before, after)
	for _, line := range append(only(before, after, true), only(after, before, false)...) {
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
			f.guarded++
		}
		if line.name = route(line); line.name != "" {
			f.routes = append(f.routes, line)
		}
	}
}

// guard is a line that speaks of who may do what, or of what proves it.
var guard = expression.Of(`(?i)permission|authori[sz]|authenticat|passw(or)?d|\bsession|csrf|\bjwt|(en|de)crypt|\bacl\b|\brole\b|access_?token|secret|credential|forbidden|privilege`)

// generated reports whether a program wrote a text, by what its beginning says. Its
// source counts.
func generated(text []byte) bool {
	const beginning = 1000
	head := text[:min(len(text), beginning)]
	return bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated"))
}

// longestLine is how long a line is that somebody wrote: of a longer one nothing is
// made but that it differs.
const longestLine = 2000

// trivial is a line that is a comment, or says what is imported from where.
var trivial = expression.Of(`^\x{feff}?\s*(//|/?\*[ */]|\*$|#( |$)|--( |$)|<!--|import\b|from \S+ import\b|using [\w.]+;|(global )?namespace\b|package\b|require\b|"[\w./-]+"$|use [\w:]+;)`)

// only lists the lines of a text that another lacks, without regard to white space.
// It does not depend on how a diff aligns them.
func only(text, other []byte, gone bool) []Line {
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

// FindMoves takes the lines off files that were moved and not changed: a path that
// is gone, and a new one with the same content.
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
			files[left[0]].written, f.written = false, false
		}
	}
}

// Counts reports whether a path counts at all: the protocol's own files and the
// gate's configuration do not.
func Counts(name string) bool {
	_, state := small.WorkspaceOf(name)
	return !state && name != policy.File
}

// IsWork reports whether a path is that of what a change is about: it counts, is not
// ignored, as lock files and vendored copies are, and is no test and no document.
func IsWork(name string, cfg *policy.Lanes) bool {
	return Counts(name) && !matches("ignore", name, cfg) && !matches("tests", name, cfg) && !IsDocument(name, cfg)
}

// IsDocument reports whether a path is that of a text for people: prose, a
// picture, a translation. A change of documents alone fits fast.
func IsDocument(name string, cfg *policy.Lanes) bool {
	return matches("documents", name, cfg) && !matches("contracts", name, cfg) && !matches("migrations", name, cfg)
}

// extension is a file's, in lower case.
func extension(name string) string { return strings.ToLower(path.Ext(name)) }
