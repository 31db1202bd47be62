package githistory

import (
	"path"
	"strings"
)

// What of a tree matters is decided here alone.
const (
	smallDir   = ".small"
	policyFile = ".small-gate.yml"
)

// smallPathspecs match everything below a .small directory at any depth, and
// .small itself where it is something else (a file, a symlink, a submodule).
var smallPathspecs = []string{
	":(top,glob)**/" + smallDir + "/**",
	":(top,glob)**/" + smallDir,
}

// changePathspecs match what Changes reports: the same and the policy file.
var changePathspecs = append([]string{literal(policyFile)}, smallPathspecs...)

// workspacePathspec matches the .small of one workspace directory; "" and "."
// are the root.
func workspacePathspec(dir string) string { return literal(WorkspacePath(dir)) }

// literal matches a path from the root and everything below it, whatever
// characters it has.
func literal(name string) string { return ":(top,literal)" + name }

// OfInterest reports whether a file is one that Changes reports: the same
// paths that changePathspecs match, for readers that look by themselves.
func OfInterest(name string) bool { return name == policyFile || InSmall(name) }

// InSmall reports whether a path is .small, at any depth, or below one: the
// same paths that smallPathspecs match.
func InSmall(name string) bool {
	if !strings.Contains(name, smallDir) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == smallDir {
			return true
		}
	}
	return false
}

// WorkspacePath is the .small of a workspace directory, "" or "." for the
// root's.
func WorkspacePath(dir string) string { return path.Join(dir, smallDir) }
