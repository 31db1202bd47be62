package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/base/expression"
)

// AttributesFile is the name of the files that hold git's attributes (gitattributes(5)).
const AttributesFile = ".gitattributes"

// Attributes is one .gitattributes file of a tree.
type Attributes struct {
	path, dir string
	lines     []attributeLine
	// macros holds the attributes that each macro stands for. As in git, only the root's file defines macros.
	macros map[string][]string
}

// attributeLine is a line that gives attributes to the files that match a pattern. number counts from 1.
type attributeLine struct {
	number     int
	pattern    string
	byBase     bool // the pattern is compared with the last part of a path
	attributes []string
}

// MergeSetting is a file's merge attribute, and where it is set.
type MergeSetting struct {
	// Value is VALUE in "merge=VALUE"; empty in any other form.
	Value string
	// File and Line (from 1) are where the attribute is set; "" and 0 if it is not.
	File string
	Line int
}

// maxAttributeLine is the length in bytes from which on git ignores a line.
const maxAttributeLine = 2048

// ParseAttributes reads the .gitattributes file at a path from the root of a tree.
func ParseAttributes(name string, data []byte) Attributes {
	f := Attributes{path: name, dir: path.Dir(name), macros: map[string][]string{}}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		number++
		pattern, attributes := splitLine(line)
		if len(line) > maxAttributeLine || slices.ContainsFunc(attributes, isMalformed) {
			continue
		}
		if macro, ok := strings.CutPrefix(pattern, "[attr]"); ok && macro != "" {
			if f.dir == "." {
				f.macros[macro] = attributes
			}
			continue
		}
		if pattern == "" || pattern[0] == '!' || strings.HasSuffix(pattern, "/") { // a pattern for a directory matches no file, and none is negative
			continue
		}
		byBase := !strings.Contains(pattern, "/")
		pattern = attributePattern.Replace(strings.TrimPrefix(pattern, "/"))
		f.lines = append(f.lines, attributeLine{number, pattern, byBase, attributes})
	}
	return f
}

// attributePattern escapes what is special to doublestar and not to git.
var attributePattern = strings.NewReplacer("{", `\{`, "}", `\}`)

// MergeAttribute returns the merge attribute of the file at name. files are the
// .gitattributes files in git's order: those nearer to the file come later, and
// override earlier ones.
func MergeAttribute(files []Attributes, name string) MergeSetting {
	macros := map[string][]string{"binary": {"-diff", "-merge", "-text"}}
	for _, f := range files {
		for macro, attributes := range f.macros {
			macros[macro] = attributes
		}
	}
	given := map[string]bool{} // the attributes that a later line has given or taken
	for _, f := range slices.Backward(files) {
		below, inside := name, true
		if f.dir != "." {
			below, inside = strings.CutPrefix(name, f.dir+"/")
		}
		if !inside {
			continue
		}
		for _, line := range slices.Backward(f.lines) {
			if !line.matches(below) {
				continue
			}
			if value, found := findMerge(line.attributes, macros, given); found {
				return MergeSetting{Value: value, File: f.path, Line: line.number}
			}
		}
	}
	return MergeSetting{}
}

// NamedForMerge returns the paths that lines with the merge attribute name without wildcards, relative to the file's directory. A path that begins with
// **/ is a file's name, in any directory.
func (f Attributes) NamedForMerge() (paths []string) {
	for i := range f.lines {
		l := &f.lines[i]
		value, _ := findMerge(l.attributes, f.macros, map[string]bool{})
		if value == "" || strings.ContainsAny(l.pattern, `*?[\`) {
			continue
		}
		name := l.pattern
		if l.byBase {
			name = "**/" + name
		}
		paths = append(paths, name)
	}
	return paths
}

// findMerge looks for the merge attribute among attributes, of which the last counts, and those that set macros stand for. It notes all of them in
// given, and ignores those that are there already: a macro that was taken from a file stands for nothing.
func findMerge(attributes []string, macros map[string][]string, given map[string]bool) (value string, found bool) {
	for _, a := range slices.Backward(attributes) {
		name, value, hasValue := strings.Cut(a, "=")
		bare := strings.TrimLeft(name, "-!")
		if given[bare] {
			continue
		}
		given[bare] = true
		isSet := name == bare && !hasValue
		switch {
		case bare == "merge" && name != bare:
			return "", true
		case bare == "merge":
			return value, true
		case isSet:
			if value, found := findMerge(macros[bare], macros, given); found {
				return value, true
			}
		}
	}
	return "", false
}

// attributeName matches what git accepts as an attribute.
var attributeName = expression.Of(`^[-!]?[A-Za-z0-9_.][-A-Za-z0-9_.]*(=|$)`)

// isMalformed reports whether git does not accept a word as an attribute, and so
// ignores its line.
func isMalformed(word string) bool { return !attributeName().MatchString(word) }

// isAttributeBlank reports whether git separates a line's words by a character.
func isAttributeBlank(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }

// splitLine splits a line into its pattern and its attributes. The pattern of an
// empty line or a comment is empty.
func splitLine(line string) (pattern string, attributes []string) {
	line = strings.TrimFunc(line, isAttributeBlank)
	if line == "" || line[0] == '#' {
		return "", nil
	}
	if line[0] == '"' {
		quoted, err := strconv.QuotedPrefix(line)
		if err == nil {
			if pattern, err = strconv.Unquote(quoted); err == nil {
				return pattern, strings.FieldsFunc(line[len(quoted):], isAttributeBlank)
			}
		}
	}
	fields := strings.FieldsFunc(line, isAttributeBlank)
	return fields[0], fields[1:]
}

// matches reports whether the line is for the file at a path relative to the
// directory of the line's file. The rules are those of gitignore(5).
func (l *attributeLine) matches(name string) bool {
	if l.byBase {
		name = path.Base(name)
	}
	ok, err := doublestar.Match(l.pattern, name)
	return err == nil && ok
}
