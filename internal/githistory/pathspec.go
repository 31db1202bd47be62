package githistory

import (
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// What of a tree matters is decided here alone.
const (
	smallDir   = small.Dir
	policyFile = ".small-gate.yml"
)

// anySmall matches .small, its lookalikes, and a few names that have nothing to
// do with it: who asks git with it leaves out what is not OfInterest.
const anySmall = ".*[mM][aA][lL][lL]*"

// smallPathspecs match everything below a .small directory at any depth, and
// .small itself where it is something else (a file, a symlink, a submodule);
// the same of its lookalikes.
var smallPathspecs = []string{
	":(top,glob)**/" + anySmall + "/**",
	":(top,glob)**/" + anySmall,
}

// changePathspecs match what Changes reports: the same, the policy file, and
// what is watched beside them.
func changePathspecs(w *Watch) []string {
	return slices.Concat([]string{literal(policyFile)}, smallPathspecs, w.pathspecs())
}

// everything matches every path, also where git runs in a directory below the
// root.
const everything = ":(top)"

// workspacePathspecs match the .small of one workspace directory, and its
// lookalikes; "" and "." are the root.
func workspacePathspecs(dir string) []string {
	prefix := ":(top,glob)"
	if dir = path.Clean(dir); dir != "." {
		prefix += globSpecial.Replace(dir) + "/"
	}
	return []string{prefix + anySmall + "/**", prefix + anySmall}
}

// pathspecsIn match the .small of some workspace directories, or of all without
// any.
func pathspecsIn(dirs []string) []string {
	if len(dirs) == 0 {
		return smallPathspecs
	}
	var out []string
	for _, dir := range dirs {
		out = append(out, workspacePathspecs(dir)...)
	}
	return out
}

// globSpecial takes away the meaning that characters have in a pattern.
var globSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// literal matches a path from the root and everything below it, whatever
// characters it has.
func literal(name string) string { return ":(top,literal)" + name }

// OfInterest reports whether a file is one that Changes always reports: those of
// changePathspecs but for what is watched.
func OfInterest(name string) bool { return name == policyFile || InSmall(name) }

// InSmall reports whether a path is .small or a lookalike of it, at any depth,
// or below one.
func InSmall(name string) bool {
	_, ok := small.WorkspaceOf(name)
	return ok
}

// InWorkspaces reports whether a path is InWorkspace of one of some directories;
// of any without one.
func InWorkspaces(name string, dirs []string) bool {
	if len(dirs) == 0 {
		return InSmall(name)
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return InWorkspace(name, dir) })
}

// InWorkspace reports whether a path is the .small of one workspace directory
// ("" or "." for the root) or a lookalike of that, or below one.
func InWorkspace(name, dir string) bool {
	if dir = path.Clean(dir); dir != "." {
		var below bool
		if name, below = strings.CutPrefix(name, dir+"/"); !below {
			return false
		}
	}
	first, _, _ := strings.Cut(name, "/")
	return first == smallDir || small.Lookalike(first, smallDir)
}
