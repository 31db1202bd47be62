package small

import (
	"path"
	"strings"
)

// Lookalike reports whether name is not real, but a name by which some file
// systems find real: they ignore the case of letters (macOS, Windows), or dots
// and spaces at the end (Windows). Where git checks such a name out, it becomes
// the same file as the real one, or takes its place.
func Lookalike(name, real string) bool {
	return name != real && strings.EqualFold(strings.TrimRight(name, ". "), real)
}

// SplitLookalike takes a slash-separated path apart at its last element that is
// a lookalike of ".small". It returns the directory that holds the element ("" for
// the root of the tree) and the element. ok is false if there is none, and if
// an element of the path is ".small" itself: in that case the path is a part of
// that directory, whatever its other elements look like.
func SplitLookalike(path string) (dir, element string, ok bool) {
	if _, _, real := SplitPath(path); real {
		return "", "", false
	}
	dir, element, _, ok = splitAtLast(path, func(element string) bool { return Lookalike(element, Dir) })
	return dir, element, ok
}

// WorkspaceOf returns the workspace directory that a path belongs to ("" for
// the root of the tree), whether it is in .small or in a lookalike of it. ok
// is false for a path that has nothing to do with a workspace.
func WorkspaceOf(path string) (dir string, ok bool) {
	if !strings.HasPrefix(path, ".") && !strings.Contains(path, "/.") {
		return "", false // the answer for most paths of most trees
	}
	if dir, _, ok = SplitPath(path); ok {
		return dir, true
	}
	dir, _, ok = SplitLookalike(path)
	return dir, ok
}

// Twin returns the beginning of p that differs from another path only in the case of its last element's letters; ok is false if there
// is none. Letters outside of ASCII that fold to k or s do not count as these.
func Twin(p, of string) (twin string, ok bool) {
	dir, name := path.Split(of)
	rest, below := strings.CutPrefix(p, dir)
	rest, _, _ = strings.Cut(rest, "/")
	return dir + rest, below && rest != name && len(rest) == len(name) && strings.EqualFold(rest, name)
}

// Twins finds, among some paths, those that a path is a twin of, without looking at each of them.
type Twins map[string][]string

// NewTwins takes the paths.
func NewTwins(of []string) Twins {
	t := Twins{}
	for _, p := range of {
		dir, name := path.Split(p)
		t[dir+fold(name)] = append(t[dir+fold(name)], p)
	}
	return t
}

// Of lists those paths: p, or what it lies below, is a [Twin] of each.
func (t Twins) Of(p string) (of []string) {
	for end := range len(p) + 1 {
		if len(t) == 0 || end < len(p) && p[end] != '/' {
			continue
		}
		dir, name := path.Split(p[:end])
		for _, candidate := range t[dir+fold(name)] {
			if _, twin := Twin(p, candidate); twin {
				of = append(of, candidate)
			}
		}
	}
	return of
}

// fold is the same for names that [strings.EqualFold] takes for equal.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// ArtifactLike returns the artifact that name, a path below a .small directory,
// is a lookalike of.
func ArtifactLike(name string) (Artifact, bool) {
	return findArtifact(func(file string) bool { return Lookalike(name, file) })
}
