package small

import (
	"slices"
	"strings"
)

// Dir is the name of the directory that makes its parent a workspace.
const Dir = ".small"

// Version is the protocol version that every artifact names in small_version.
const Version = "1.0.0"

// Artifact names one of the six protocol files, without the ".small.yml" part.
type Artifact string

// The six protocol files.
const (
	Intent      Artifact = "intent"
	Constraints Artifact = "constraints"
	Plan        Artifact = "plan"
	Progress    Artifact = "progress"
	Handoff     Artifact = "handoff"
	Workspace   Artifact = "workspace"
)

// Artifacts lists the six files in the order in which people read them.
// The first five are canonical; all six are required.
var Artifacts = []Artifact{Intent, Constraints, Plan, Progress, Handoff, Workspace}

const fileSuffix = ".small.yml"

// FileName returns the artifact's file name inside the .small directory.
func (a Artifact) FileName() string { return string(a) + fileSuffix }

// Path returns the artifact's slash-separated path in the workspace dir ("" or "."
// for the root of the tree).
func (a Artifact) Path(dir string) string { return InDir(dir, a.FileName()) }

// Canonical reports whether the artifact is one of the protocol's five
// canonical artifacts. The workspace file is metadata beside them.
func (a Artifact) Canonical() bool { return a != Workspace }

// InDir joins a workspace directory, ".small" and a name below it, with slashes.
func InDir(dir, name string) string {
	p := Dir
	if name != "" {
		p += "/" + name
	}
	if dir == "" || dir == "." {
		return p
	}
	return dir + "/" + p
}

// SplitPath splits a slash-separated path at its last ".small" element. It returns the workspace directory ("" for the
// root of the tree) and the name below ".small" ("" for the directory itself). ok is false if no element of the path
// is ".small".
//
// The last element counts, because a workspace may be kept inside another one's .small directory: its files belong to
// the inner one.
func SplitPath(path string) (dir, name string, ok bool) {
	at := strings.LastIndex("/"+path+"/", "/"+Dir+"/") // also the element's offset in path
	if at < 0 {
		return "", "", false
	}
	return path[:max(at-1, 0)], path[min(at+len(Dir)+1, len(path)):], true
}

// splitAtLast splits a path at its last element that matches.
func splitAtLast(path string, matches func(element string) bool) (before, element, behind string, ok bool) {
	parts := strings.Split(path, "/")
	for i, part := range slices.Backward(parts) {
		if matches(part) {
			return strings.Join(parts[:i], "/"), part, strings.Join(parts[i+1:], "/"), true
		}
	}
	return "", "", "", false
}

// ArtifactOf returns the artifact whose file name is name, a path below a
// .small directory.
func ArtifactOf(name string) (Artifact, bool) {
	return findArtifact(func(file string) bool { return file == name })
}

func findArtifact(matches func(file string) bool) (Artifact, bool) {
	i := slices.IndexFunc(Artifacts, func(a Artifact) bool { return matches(a.FileName()) })
	if i < 0 {
		return "", false
	}
	return Artifacts[i], true
}
