package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/small-gate/small-gate/internal/base/expression"
)

// AttributesFile is the name of git's files of attributes (gitattributes(5)).
const AttributesFile = ".gitattributes"

// Attributes is one of these files in a tree.
type Attributes struct {
	// Path is the file's path, from the root of the tree.
	Path string
	Data []byte
}

// MergeSetting is what attributes say about one file, and where.
type MergeSetting struct {
	// Value is the value in "merge=VALUE", empty for anything else.
	Value string
	// File and Line, from 1, are where it is said.
	File string
	Line int
}

// MergeAttribute is what files of attributes say about merging the file at
// name. A later one of the files overrides an earlier one: those nearer to
// the file come last. As in git, macros are taken only from the root's file.
func MergeAttribute(files []Attributes, name string) MergeSetting {
	said := MergeSetting{}
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
			pattern, attributes := cutPattern(line)
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
					if value, about := mergeWord(word); about {
						said = MergeSetting{Value: value, File: f.Path, Line: number}
					}
				}
			}
		}
	}
	return said
}

// attributeName is what git accepts as the name of an attribute.
var attributeName = expression.Of(`^[-!]?[A-Za-z0-9_.][-A-Za-z0-9_.]*(=|$)`)

// isMalformed reports whether a word is not an attribute, so that git ignores
// its line.
func isMalformed(word string) bool { return !attributeName().MatchString(word) }

// mergeWord reads one attribute; about is true if it is merge in any form.
func mergeWord(word string) (value string, about bool) {
	name, value, _ := strings.Cut(word, "=")
	return value, strings.TrimLeft(name, "-!") == "merge"
}

// cutPattern splits a line into its pattern, empty for none, and its
// attributes.
func cutPattern(line string) (pattern string, attributes []string) {
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

// attributeMatches reports whether a pattern matches a path, which is relative
// to the pattern's file. The rules are those of gitignore(5); a pattern for a
// directory matches no file, and there are no negative patterns.
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
