package githistory

import "path"

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
func workspacePathspec(dir string) string { return literal(path.Join(dir, smallDir)) }

// literal matches a path from the root and everything below it, whatever
// characters it has.
func literal(name string) string { return ":(top,literal)" + name }
