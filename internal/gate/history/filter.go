package history

import (
	"path"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Filter selects files of a tree; the zero Filter selects none. A file is selected if any field selects it.
type Filter struct {
	// All selects every file.
	All bool
	// Workspaces selects what small.WorkspaceOf recognizes: .small and its lookalikes at
	// any depth, and everything below.
	Workspaces bool
	// Dirs, if there are any, limit Workspaces to the .small of these directories; "" and
	// "." are the root.
	Dirs []string
	// Patterns select files by their paths, written as in the configuration.
	Patterns []string
	// AnyCase lets Patterns also select paths that differ from matching ones only in case. The tree of a directory on disk ignores it.
	AnyCase bool
	// Twins select the twins of these paths, as small.Twin finds them, and everything below.
	Twins []string
}

// Workspaces selects the files of all workspaces, or of those in some directories.
func Workspaces(dirs ...string) Filter { return Filter{Workspaces: true, Dirs: dirs} }

// Twins selects the twins of some directories and of those above them, and their files.
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

// Matching selects the files whose paths match one of the patterns.
func Matching(patterns ...string) Filter { return Filter{Patterns: patterns} }

// At selects the files at some paths.
func At(paths ...string) Filter {
	var f Filter
	for _, p := range paths {
		f.Patterns = append(f.Patterns, policy.LiteralPattern(p))
	}
	return f
}

// Judged selects the files whose changes are judged under a configuration, and the
// configuration itself. If logs are configured, it also selects files whose paths
// differ only in case.
func Judged(p *policy.Policy) Filter {
	return Filter{Workspaces: true, Patterns: append([]string{policy.File}, p.Watched()...), AnyCase: len(p.Logs) > 0}
}

// Attributes selects the .gitattributes files that apply to the workspaces of some
// directories: in .small, beside it, and above.
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
