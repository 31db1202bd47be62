package small

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lookalike reports whether name is not real, but some file systems take it for real: they ignore the case of letters
// (macOS, Windows), or dots and spaces at the end (Windows). If git checks name out there, it writes to the file of
// real, or replaces it.
func Lookalike(name, real string) bool {
	return name != real && strings.EqualFold(strings.TrimRight(name, ". "), real)
}

// SplitLookalike splits a slash-separated path at its last lookalike of ".small". It returns the directory that holds
// this element ("" for the root of the tree) and the element. ok is false if there is none, and if an element of the
// path is ".small": such a path belongs to the real directory.
func SplitLookalike(path string) (dir, element string, ok bool) {
	if _, _, real := SplitPath(path); real {
		return "", "", false
	}
	dir, element, _, ok = splitAtLast(path, func(element string) bool { return Lookalike(element, Dir) })
	return dir, element, ok
}

// WorkspaceOf returns the workspace directory of a path in .small or in a lookalike of it; "" is the root of the tree.
// ok is false for any other path.
func WorkspaceOf(path string) (dir string, ok bool) {
	if !strings.HasPrefix(path, ".") && !strings.Contains(path, "/.") {
		return "", false // a quick answer for most paths
	}
	if dir, _, ok = SplitPath(path); ok {
		return dir, true
	}
	dir, _, ok = SplitLookalike(path)
	return dir, ok
}

// Twin returns the beginning of path p that differs from path other only in the case of its last element: "a/B" if p
// is "a/B/c" and other is "a/b". ok is false if there is none. Letters outside of ASCII that fold to k or s do not
// count as these.
func Twin(p, other string) (twin string, ok bool) {
	dir, name := path.Split(other)
	rest, below := strings.CutPrefix(p, dir)
	rest, _, _ = strings.Cut(rest, "/")
	return dir + rest, below && rest != name && len(rest) == len(name) && equalFold(rest, name)
}

// equalFold is [strings.EqualFold], which takes any two bytes that are not UTF-8 for equal; here they differ.
func equalFold(a, b string) bool {
	return strings.EqualFold(a, b) && invalidBytes(a) == invalidBytes(b)
}

// invalidBytes returns the bytes of a text that are not UTF-8.
func invalidBytes(text string) (out string) {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			out += text[i : i+1]
		}
	}
	return out
}

// Twins is an index of paths, in which [Twins.Of] finds those that another path is a twin of.
type Twins map[string][]string

// NewTwins indexes paths.
func NewTwins(paths []string) Twins {
	t := Twins{}
	for _, p := range paths {
		dir, name := path.Split(p)
		t[dir+Fold(name)] = append(t[dir+Fold(name)], p)
	}
	return t
}

// Of lists the indexed paths whose [Twin] is p or a directory above p.
func (t Twins) Of(p string) (twins []string) {
	for end := range len(p) + 1 {
		if len(t) == 0 || end < len(p) && p[end] != '/' {
			continue
		}
		dir, name := path.Split(p[:end])
		for _, candidate := range t[dir+Fold(name)] {
			if _, twin := Twin(p, candidate); twin {
				twins = append(twins, candidate)
			}
		}
	}
	return twins
}

// Fold returns the same text for all texts that differ only in case: those that [strings.EqualFold] takes for equal and whose bytes that are not UTF-8
// are the same.
func Fold(text string) string {
	i := 0
	for i < len(text) && text[i] < utf8.RuneSelf && (text[i] < 'A' || text[i] > 'Z') {
		i++
	}
	if i == len(text) {
		return text
	}
	var out strings.Builder
	for i, r := range text {
		if r == utf8.RuneError {
			_, size := utf8.DecodeRuneInString(text[i:])
			out.WriteString(text[i : i+size])
		} else {
			out.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		}
	}
	return out.String()
}

// ArtifactLike is [ArtifactOf] for a name that is a [Lookalike] of the artifact's file name.
func ArtifactLike(name string) (Artifact, bool) {
	return findArtifact(func(file string) bool { return Lookalike(name, file) })
}
