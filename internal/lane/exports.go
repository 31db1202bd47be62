package lane

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
)

// declaration is something that a file declares for other packages: the form that
// matters to them, and its line.
type declaration struct {
	form string
	line int
}

// rustExport is a line of Rust that declares something for others.
var rustExport = expression.Of(`(?m)^\s*pub (?:async |unsafe |const )*(fn|struct|enum|trait|type|static|mod|macro) (\w+)[^\n]*`)

// exportsIn are what a file declares for other packages, by name.
func exportsIn(name string, text []byte) map[string]declaration {
	out := map[string]declaration{}
	switch extension(name) {
	case ".go":
		return goExports(text)
	case ".rs":
		for _, at := range rustExport().FindAllSubmatchIndex(text, -1) {
			begin := at[2] // of what is declared; the line may begin after an empty one
			line := bytes.Fields(text[begin:at[1]])
			out[string(text[at[2]:at[5]])] = declaration{string(bytes.Join(line, []byte(" "))), 1 + bytes.Count(text[:begin], []byte("\n"))}
		}
	}
	return out
}

// exports are the declarations that only one version of a file has.
func exports(name string, before, after []byte) []Line {
	was, is := exportsIn(name, before), exportsIn(name, after)
	var out []Line
	for _, side := range []struct {
		gone        bool
		text        []byte
		here, there map[string]declaration
	}{{true, before, was, is}, {false, after, is, was}} {
		lines := bytes.Split(side.text, []byte("\n"))
		for what, d := range side.here {
			if other, both := side.there[what]; both && other.form == d.form {
				continue
			}
			text := strings.TrimRight(string(lines[d.line-1]), "\r")
			out = append(out, Line{Path: name, Number: d.line, Text: text, gone: side.gone, name: path.Dir(name) + ": " + what, form: d.form})
		}
	}
	slices.SortFunc(out, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// Declares reports whether the lines of a file declare something for others.
func (f *File) Declares() bool { return len(f.exports) > 0 }

// Programs are the patterns of the files that make a directory that of a program.
var Programs = []string{"**/main.go", "**/main.rs"}

// DropPrograms forgets what files declare that belong to a program: below a
// directory of the tree that holds one of Programs, where nobody imports it.
func DropPrograms(files []File, tree []string) {
	programs := map[string]bool{}
	for _, name := range tree {
		if base := path.Base(name); base == "main.go" || base == "main.rs" {
			programs[path.Dir(name)+path.Ext(name)] = true
		}
	}
	for i := range files {
		for dir := path.Dir(files[i].Path); ; dir = path.Dir(dir) {
			if programs[dir+path.Ext(files[i].Path)] {
				files[i].exports = nil
			}
			if dir == "." {
				break
			}
		}
	}
}
