package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// Tree is the part of a History that one snapshot is read from. A directory
// of files fulfils it too.
type Tree interface {
	// Files lists what lies below the .small directories of a revision, as
	// History.Files does.
	Files(ctx context.Context, revision string, dirs ...string) ([]File, error)
	// Glob lists files by their paths, as History.Glob does.
	Glob(ctx context.Context, revision string, patterns ...string) ([]File, error)
	// Blob reads one object, as History.Blob does.
	Blob(ctx context.Context, object string, limit int64) (Blob, error)
}

// Workspace is one workspace as of one tree: a snapshot, read and parsed.
type Workspace struct {
	Place
	// Dir is the directory that holds .small, "" for the root.
	Dir string
	// Files are all files below .small and below lookalikes of it, in order of
	// path.
	Files []File
	// Kinds are the workspace kinds that are accepted here.
	Kinds []string

	artifacts map[small.Artifact]*artifact
	// baseline is how many leading entries of the ledger are accepted as they
	// are.
	baseline int
}

// artifact is one protocol file of a snapshot.
type artifact struct {
	path string
	// object is the id of the file's blob.
	object string
	// doc is nil if the file is missing or cannot be read as a document.
	doc *small.Document
	// log is the progress file's ledger.
	log      *small.Log
	problems []small.Problem
}

// doc returns an artifact's document, nil if there is none.
func (w *Workspace) doc(a small.Artifact) *small.Value {
	if art := w.artifacts[a]; art != nil && art.doc != nil {
		return art.doc.Root
	}
	return nil
}

// list returns the list under a key of an artifact; nil where there is none.
func (w *Workspace) list(a small.Artifact, key string) []*small.Value {
	if v := w.doc(a).Get(key); v != nil && v.Kind == small.List {
		return v.Items
	}
	return nil
}

// entries returns the progress entries that are judged, with the index of the
// first: those under the baseline are skipped.
func (w *Workspace) entries() (items []*small.Value, first int) {
	items = w.list(small.Progress, "entries")
	first = min(w.baseline, len(items))
	return items[first:], first
}

// path is an artifact's path from the root.
func (w *Workspace) path(a small.Artifact) string { return a.Path(w.Dir) }

// handoffRun is the replay id that the handoff names.
func (w *Workspace) handoffRun() (string, bool) {
	return w.doc(small.Handoff).Get("replayId").Get("value").Str()
}

// planTasks returns the ids of the plan's tasks.
func (w *Workspace) planTasks() map[string]bool {
	ids := map[string]bool{}
	for _, task := range w.tasks() {
		if task.named {
			ids[task.id] = true
		}
	}
	return ids
}

// groupByWorkspace sorts the files of a tree into workspaces, in order of
// directory.
func groupByWorkspace(files []File) (dirs []string, byDir map[string][]File) {
	byDir = map[string][]File{}
	for _, f := range files {
		dir, ok := small.WorkspaceOf(f.Path)
		if !ok {
			continue
		}
		if outer, _, nested := small.SplitPath(dir); nested && f.Mode == modeDirectory && f.Path == small.InDir(dir, "") {
			dir = outer // an empty .small in a .small is no workspace
		}
		if _, known := byDir[dir]; !known {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], f)
	}
	for _, dir := range dirs {
		// A workspace in another one's .small is a directory there.
		if outer, _, nested := small.SplitPath(dir); nested && byDir[outer] != nil {
			byDir[outer] = append(byDir[outer], File{Path: small.InDir(dir, ""), Mode: modeDirectory})
		}
	}
	slices.Sort(dirs)
	return dirs, byDir
}

// readFile reads a file of a tree. A path that is no ordinary file, or one too
// large, is a problem.
func readFile(ctx context.Context, tree Tree, f File, limits small.Limits) ([]byte, *small.Problem, error) {
	if f.Unmerged {
		return nil, &small.Problem{
			Kind: small.ProblemYAML, Message: "the path has an unresolved merge conflict in the index",
			Hint: "resolve it, then `git add` the file",
		}, nil
	}
	if !f.Regular() {
		return nil, notAFile(f), nil
	}
	blob, err := tree.Blob(ctx, f.Object, limits.FileSize())
	if err != nil {
		return nil, nil, err
	}
	if blob.Size > limits.FileSize() {
		p := small.TooLarge(blob.Size, limits)
		return nil, &p, nil
	}
	return blob.Data, nil, nil
}

func notAFile(f File) *small.Problem {
	expected, hint := "an ordinary file", "replace it by a file with the content itself"
	if _, name, in := small.SplitPath(f.Path); in && name == "" {
		expected, hint = "a directory", "replace it by the directory itself"
	}
	what := "is a pipe, a socket or a device"
	switch f.Mode {
	case modeLink:
		what = "is a symbolic link"
	case modeSubmodule:
		what = "is a submodule"
	case "100644", "100755":
		what = "is an ordinary file"
	case modeDirectory:
		what = "is a directory"
	}
	return &small.Problem{Kind: small.ProblemNotAFile, Message: "the path " + what + "; " + expected + " is expected", Hint: hint}
}

// The modes of what is no ordinary file. Git records no directory for itself; one
// on disk may be empty.
const (
	modeDirectory = "040000"
	modeLink      = "120000"
	modeSubmodule = "160000"
)
