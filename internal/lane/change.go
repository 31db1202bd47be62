package lane

import (
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// File is one path that a change touches.
type File struct {
	// Path is slash-separated, from the repository's root.
	Path string
	// Added is true for a path that was not there, Deleted for one that is gone.
	Added, Deleted bool
	// Lines are how many lines only one of the two versions has: those that came
	// and those that went. A line that has moved is in both. Of what is not text,
	// or too large, they are guessed from its size.
	Lines int
	// Schema is true for SQL that defines something, or may do so; see
	// DefinesSchema.
	Schema bool
	// Object is the id of its content; of one that is gone, of what it had.
	Object string
	// Moved is true for a path that is gone because the same content stands at
	// another one now, whose File says the rest; see FindMoves.
	Moved bool
	// Submodule is true for a commit of another repository, before or after.
	Submodule bool
	// Before and After are what a file of Go offers to other packages. Looked is
	// true if all of After could be read.
	Before, After Surface
	Looked        bool
	// API are the names of After that are new in the package or declared
	// otherwise, Gone those of Before that the package lacks; see ComparePackages.
	API, Gone []string
	// OwnTests is true if the file holds tests of its own, as Rust's do.
	OwnTests bool
}

// FindMoves marks the files of a change that were moved and not changed: a path
// that is gone whose content stands at a new one. Together they are one file
// without lines, though both paths can give signals.
func FindMoves(files []File) {
	gone := map[string][]int{}
	for i := range files {
		if files[i].Deleted && files[i].Object != "" {
			gone[files[i].Object] = append(gone[files[i].Object], i)
		}
	}
	for i := range files {
		f := &files[i]
		if left := gone[f.Object]; f.Added && len(left) > 0 {
			gone[f.Object] = left[1:]
			files[left[0]].Moved, files[left[0]].Lines, f.Lines = true, 0, 0
		}
	}
}

// Counts reports whether a path counts as part of a change's work: the
// protocol's own files, the gate's configuration and the files that the
// configuration ignores, such as lock files, do not.
func Counts(name string, cfg *policy.Lanes) bool {
	if _, ok := small.WorkspaceOf(name); ok || name == policy.File {
		return false
	}
	return !policy.MatchPath(cfg.Ignore, name)
}

// codeExtensions are those of languages in which code has tests of its own.
var codeExtensions = map[string]bool{
	".c": true, ".cc": true, ".cpp": true, ".cxx": true, ".m": true, ".mm": true, ".go": true, ".rs": true, ".zig": true,
	".java": true, ".kt": true, ".kts": true, ".scala": true, ".groovy": true, ".clj": true, ".cs": true, ".fs": true, ".vb": true,
	".js": true, ".jsx": true, ".mjs": true, ".cjs": true, ".ts": true, ".tsx": true, ".mts": true, ".cts": true, ".vue": true, ".svelte": true,
	".py": true, ".rb": true, ".php": true, ".pl": true, ".pm": true, ".lua": true, ".swift": true, ".dart": true, ".r": true, ".jl": true,
	".ex": true, ".exs": true, ".erl": true, ".hs": true, ".ml": true, ".nim": true, ".sh": true, ".bash": true, ".ps1": true,
}

// wantsTests reports whether a file is code whose tests matter: it counts, is
// still there, and is no test itself.
func wantsTests(f *File, cfg *policy.Lanes) bool {
	return !f.Deleted && isCode(f.Path) && Counts(f.Path, cfg) && !cfg.IsTest(f.Path)
}

// isCode reports whether a file is code that tests can be asked for.
func isCode(name string) bool { return codeExtensions[strings.ToLower(path.Ext(name))] }
