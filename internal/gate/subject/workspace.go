package subject

import (
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Workspace is one workspace as of one tree, read and parsed.
type Workspace struct {
	rule.Place
	// Dir is the directory that holds .small, "" for the root.
	Dir string
	// Situation is where the commit stands by which an entry came; that of the tree itself for the zero digest.
	Situation func(entry small.Digest) Situation
	// Files are all files below .small and lookalikes of it, in order of path.
	Files []history.File
	// Twins are paths that differ from a directory at or above Dir in nothing but case.
	Twins []string
	// Kinds are the accepted workspace kinds.
	Kinds []string

	Artifacts map[small.Artifact]*Artifact
	// Baseline is how many leading entries of the ledger are accepted.
	Baseline int
	// Settled is how many leading entries were there before what is judged; -1 if that is not known.
	Settled int
	// Strict makes errors of some warnings.
	Strict bool
}

// Artifact is one protocol file of a snapshot.
type Artifact struct {
	Path   string
	Object string
	// Doc is nil if the file is missing or cannot be read.
	Doc *small.Document
	// Log is the progress file's ledger.
	Log      *ledger.Log
	Problems []small.Problem
}

// Doc returns an artifact's document; nil if there is none.
func (w *Workspace) Doc(a small.Artifact) *small.Value {
	if art := w.Artifacts[a]; art != nil && art.Doc != nil {
		return art.Doc.Root
	}
	return nil
}

// List returns the list under a key of an artifact; nil if there is none.
func (w *Workspace) List(a small.Artifact, key string) []*small.Value {
	if v := w.Doc(a).Get(key); v != nil && v.Kind == small.List {
		return v.Items
	}
	return nil
}

// Entries returns the progress entries after the baseline, with the index of the first.
func (w *Workspace) Entries() (items []*small.Value, first int) {
	items = w.List(small.Progress, "entries")
	first = min(w.Baseline, len(items))
	return items[first:], first
}

// Path is an artifact's path from the root.
func (w *Workspace) Path(a small.Artifact) string { return a.Path(w.Dir) }

// HandoffRun is the replay id in the handoff.
func (w *Workspace) HandoffRun() (string, bool) {
	return w.Doc(small.Handoff).Get("replayId").Get("value").Str()
}

// PlanTasks returns the ids of the plan's tasks.
func (w *Workspace) PlanTasks() map[string]bool {
	ids := map[string]bool{}
	for _, task := range w.Tasks() {
		if task.Named {
			ids[task.ID] = true
		}
	}
	return ids
}

// NotAFile is the problem of a path that is no ordinary file.
func NotAFile(f history.File) *small.Problem {
	expected, hint := "an ordinary file", "replace it with a file that has the content itself"
	if _, name, in := small.SplitPath(f.Path); in && name == "" {
		expected, hint = "a directory", "replace it with the directory itself"
	}
	what := "is a pipe, a socket or a device"
	switch f.Mode {
	case history.ModeLink:
		what = "is a symbolic link"
	case history.ModeSubmodule:
		what = "is a submodule"
	case "100644", "100755":
		what = "is an ordinary file"
	case history.ModeDirectory:
		what = "is a directory"
	}
	return &small.Problem{Kind: small.ProblemNotAFile, Message: "the path " + what + "; " + expected + " is expected", Hint: hint}
}

// Tasks are the tasks of the workspace's plan.
func (w *Workspace) Tasks() []Task { return tasksIn(w.Doc(small.Plan)) }

// EachCanonical visits the canonical artifacts, without entries under the baseline.
func (w *Workspace) EachCanonical(visit func(small.Artifact, Node)) {
	for _, a := range small.Artifacts {
		if !a.Canonical() {
			continue
		}
		Visit(w.Doc(a), func(p Node) {
			if i, ok := EntryIndex(p.Subject); a == small.Progress && ok && i < w.Baseline {
				return
			}
			visit(a, p)
		})
	}
}

// CurrentRun is the run of a workspace according to the workspace file, or else the handoff.
func CurrentRun(w *Workspace) (string, bool) {
	if run, ok := w.Doc(small.Workspace).Get("run").Get("replay_id").Str(); ok {
		return run, true
	}
	return w.HandoffRun()
}

// Ledger is the workspace's ledger; an empty one if there is none.
func (w *Workspace) Ledger() *ledger.Ledger {
	if art := w.Artifacts[small.Progress]; art != nil && art.Log != nil {
		return art.Log.Ledger
	}
	return ledger.NewLedger(nil)
}

// HasLedger reports whether the progress file could be read. If not, another rule reports it, and those that look
// for entries are silent.
func (w *Workspace) HasLedger() bool {
	art := w.Artifacts[small.Progress]
	return art != nil && art.Log != nil
}

// HasEntry reports whether an entry of a task fulfils a condition. There must be a ledger.
func (w *Workspace) HasEntry(task string, fulfils func(*small.Value) bool) bool {
	items := w.List(small.Progress, "entries")
	for i, e := range w.Artifacts[small.Progress].Log.Entries {
		if e.TaskID == task && e.TaskID != "" && fulfils(items[i]) {
			return true
		}
	}
	return false
}
