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
	// Path is the file's path from the root of the tree.
	Path string
	Data []byte
}

// MergeSetting is a file's merge attribute, and where it is set.
type MergeSetting struct {
	// Value is VALUE in "merge=VALUE"; empty in any other form.
	Value string
	// File and Line (from 1) are where the attribute is set; "" and 0 if it is not.
	File string
	Line int
}

// MergeAttribute returns the merge attribute of the file at name. files are the
// .gitattributes files in git's order: those nearer to the file come later, and
// override earlier ones. As in git, only the root's file defines macros.
func MergeAttribute(files []Attributes, name string) MergeSetting {
	setting := MergeSetting{}
	macros := map[string]string{"binary": "-merge"}
	for _, f := range files {
		dir := path.Dir(f.Path)
		below, inside := name, true
		if dir != "." {
			below, inside = strings.CutPrefix(name, dir+"/")
		}
		if !inside {
			continue
		}
		number := 0
		for line := range strings.Lines(string(f.Data)) {
			number++
			pattern, attributes := splitLine(line)
			if macro, ok := strings.CutPrefix(pattern, "[attr]"); ok {
				if dir == "." {
					macros[macro] = strings.Join(attributes, " ")
				}
				continue
			}
			if !attributeMatches(pattern, below) || slices.ContainsFunc(attributes, isMalformed) {
				continue
			}
			for _, a := range attributes {
				for _, word := range append([]string{a}, strings.Fields(macros[a])...) {
					if value, isMerge := parseMergeAttribute(word); isMerge {
						setting = MergeSetting{Value: value, File: f.Path, Line: number}
					}
				}
			}
		}
	}
	return setting
}

// attributeName matches what git accepts as an attribute.
var attributeName = expression.Of(`^[-!]?[A-Za-z0-9_.][-A-Za-z0-9_.]*(=|$)`)

// isMalformed reports whether git does not accept a word as an attribute, and so
// ignores its line.
func isMalformed(word string) bool { return !attributeName().MatchString(word) }

// parseMergeAttribute returns an attribute's value. isMerge is true if the
// attribute is merge, in any form (merge, -merge, !merge, merge=VALUE).
func parseMergeAttribute(word string) (value string, isMerge bool) {
	name, value, _ := strings.Cut(word, "=")
	return value, strings.TrimLeft(name, "-!") == "merge"
}

// splitLine splits a line into its pattern and its attributes. The pattern of an
// empty line or a comment is empty.
func splitLine(line string) (pattern string, attributes []string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", nil
	}
	if line[0] == '"' {
		quoted, err := strconv.QuotedPrefix(line)
		if err == nil {
			if pattern, err = strconv.Unquote(quoted); err == nil {
				return pattern, strings.Fields(line[len(quoted):])
			}
		}
	}
	fields := strings.Fields(line)
	return fields[0], fields[1:]
}

// attributeMatches reports whether a pattern matches a path relative to the
// directory of the pattern's file. The rules are those of gitignore(5), except
// that a pattern for a directory matches no file, and no pattern is negative.
func attributeMatches(pattern, name string) bool {
	if pattern == "" || pattern[0] == '!' || strings.HasSuffix(pattern, "/") {
		return false
	}
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(strings.TrimPrefix(pattern, "/"))
	ok, err := doublestar.Match(pattern, name)
	return err == nil && ok
}
