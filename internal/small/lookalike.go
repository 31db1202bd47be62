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
// the root of the tree) and the element. ok is false where there is none, and
// where an element of the path is ".small" itself: then the path is a part of
// that directory, whatever its other elements look like.
func SplitLookalike(path string) (dir, element string, ok bool) {
	if _, _, real := SplitPath(path); real {
		return "", "", false
	}
	parts := strings.Split(path, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if Lookalike(parts[i], Dir) {
			return strings.Join(parts[:i], "/"), parts[i], true
		}
	}
	return "", "", false
}

// WorkspaceOf returns the workspace directory that a path belongs to ("" for
// the root of the tree), whether it lies in .small or in a lookalike of it. ok
// is false for a path that no workspace has to do with.
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

// Twin returns the front of a path that differs from another path in nothing but the case of its last element's letters; ok is false
// where there is none. Letters that have a twin outside of ASCII (k, s) are none of these.
func Twin(p, of string) (twin string, ok bool) {
	dir, name := path.Split(of)
	rest, below := strings.CutPrefix(p, dir)
	rest, _, _ = strings.Cut(rest, "/")
	return dir + rest, below && rest != name && len(rest) == len(name) && strings.EqualFold(rest, name)
}

// ArtifactLike returns the artifact of which name, a path below a .small
// directory, is a lookalike.
func ArtifactLike(name string) (Artifact, bool) {
	for _, a := range Artifacts {
		if Lookalike(name, a.FileName()) {
			return a, true
		}
	}
	return "", false
}
