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

// FileName is the artifact's file name inside the .small directory.
func (a Artifact) FileName() string { return string(a) + fileSuffix }

// Path is the artifact's slash-separated path in the workspace dir ("" or "."
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

// SplitPath takes a slash-separated path apart at its last ".small" element.
// It returns the workspace directory ("" for the root of the tree) and the
// name below ".small" ("" for the directory itself). ok is false when no
// element of the path is ".small".
//
// The last element counts, so that a workspace kept inside another one's
// .small directory is not mistaken for the outer one's content.
func SplitPath(path string) (dir, name string, ok bool) {
	at := strings.LastIndex("/"+path+"/", "/"+Dir+"/") // which is where the element begins in path
	if at < 0 {
		return "", "", false
	}
	return path[:max(at-1, 0)], path[min(at+len(Dir)+1, len(path)):], true
}

// splitAtLast takes a path apart at the last of its elements of one kind.
func splitAtLast(path string, is func(element string) bool) (before, element, behind string, ok bool) {
	parts := strings.Split(path, "/")
	for i, part := range slices.Backward(parts) {
		if is(part) {
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

func findArtifact(is func(file string) bool) (Artifact, bool) {
	i := slices.IndexFunc(Artifacts, func(a Artifact) bool { return is(a.FileName()) })
	if i < 0 {
		return "", false
	}
	return Artifacts[i], true
}
