package history

import (
	"path"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Filter says which files of a tree are meant; the zero Filter means none.
type Filter struct {
	// All means every file.
	All bool
	// Workspaces means what small.WorkspaceOf recognizes: .small and its lookalikes at
	// any depth, and everything below.
	Workspaces bool
	// Dirs, if there are any, limit that to the .small of these directories; "" and
	// "." are the root.
	Dirs []string
	// Patterns mean files by their paths, written as in the configuration.
	Patterns []string
	// Twins mean the twins of these paths, as small.Twin finds them, and everything below.
	Twins []string
}

// Workspaces are the files of all workspaces, or of those in some directories.
func Workspaces(dirs ...string) Filter { return Filter{Workspaces: true, Dirs: dirs} }

// Twins are the twins of some directories and of those above them, and their files.
func Twins(dirs ...string) Filter {
	var f Filter
	known := map[string]bool{"": true, ".": true}
	for _, dir := range dirs {
		for ; !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			f.Twins = append(f.Twins, dir)
		}
	}
	return f
}

// Matching are the files whose paths match one of some patterns.
func Matching(patterns ...string) Filter { return Filter{Patterns: patterns} }

// At are the files at some paths.
func At(paths ...string) Filter {
	var f Filter
	for _, p := range paths {
		f.Patterns = append(f.Patterns, policy.LiteralPattern(p))
	}
	return f
}

// Judged are the files whose changes are judged under a configuration: its own
// file among them.
func Judged(p *policy.Policy) Filter {
	return Filter{Workspaces: true, Patterns: append([]string{policy.File}, p.Watched()...)}
}

// Attributes are the files in which git looks for attributes of the files of
// workspaces: in each one's .small, beside it, and above.
func Attributes(dirs []string) Filter {
	var paths []string
	known := map[string]bool{}
	for _, dir := range dirs {
		for at := path.Clean(small.InDir(dir, "")); !known[at]; at = path.Dir(at) {
			known[at] = true
			paths = append(paths, path.Join(at, policy.AttributesFile))
		}
	}
	return At(paths...)
}
