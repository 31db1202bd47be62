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
	// API are the names that are new in what a file offers to other packages,
	// where that was looked at; see NewNames. Looked says so.
	API    []string
	Looked bool
	// OwnTests is true if the file holds tests of its own, as Rust's do.
	OwnTests bool
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
	return !f.Deleted && isCode(f.Path) && Counts(f.Path, cfg) && !policy.MatchPath(cfg.Tests, f.Path)
}

// isCode reports whether a file is code that tests can be asked for.
func isCode(name string) bool { return codeExtensions[strings.ToLower(path.Ext(name))] }
