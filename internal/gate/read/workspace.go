package read

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Workspace is one workspace as of one tree, read and parsed.
type Workspace struct {
	rule.Place
	// Dir is the directory that holds .small, "" for the root.
	Dir string
	// Situation says which commit brought an entry and who has that commit. For the zero digest it says so of the tree that is judged.
	Situation func(entry small.Digest) remedy.Situation
	// SituationOfCopy is Situation for an entry that the log has twice: it is about the commit that brought the copy.
	SituationOfCopy func(entry small.Digest) remedy.Situation
	// Files are all files below .small and lookalikes of it, in order of path, and after them the workspaces inside .small, as directories.
	Files []history.File
	// Twins are the paths that differ only in case from Dir or a directory above it.
	Twins []string
	// Kinds are the accepted workspace kinds.
	Kinds []string

	Artifacts map[small.Artifact]*Artifact
	// Baseline is how many leading entries of the ledger a baseline accepts.
	Baseline int
	// DeletedFix is the fix for a missing log that a commit of this change deleted, if nobody else has that commit; otherwise it is empty.
	DeletedFix string
	// EntriesBefore is how many leading entries the log had before the change that is judged: all of them if a whole history is judged, -1 if there
	// is no history.
	EntriesBefore int
	// Strict is true in strict mode, in which some warnings are errors.
	Strict bool
	// Proofs are the digests of the commands of which the log has only summaries, by the paths of their files; only in strict mode.
	Proofs map[string]string
}

// Artifact is one of the protocol's files in a workspace.
type Artifact struct {
	Path   string
	Object string
	// Doc is nil if the file is missing or cannot be read, and for a log that Side read.
	Doc *small.Document
	// Log is set for the progress file only; nil if that cannot be read as a ledger.
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

// Path returns an artifact's path from the root.
func (w *Workspace) Path(a small.Artifact) string { return a.Path(w.Dir) }

// HandoffRun returns the replay id that the handoff names.
func (w *Workspace) HandoffRun() (string, bool) {
	return w.Doc(small.Handoff).Get("replayId").Get("value").Str()
}

// PlanTasks returns the ids of the plan's tasks.
func (w *Workspace) PlanTasks() map[string]bool {
	ids := map[string]bool{}
	for _, task := range w.Tasks() {
		if task.HasID {
			ids[task.ID] = true
		}
	}
	return ids
}

// NotAFile describes the problem that a path is not an ordinary file, or that .small is not a directory.
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
	case history.ModePlain, history.ModeProgram:
		what = "is an ordinary file"
	case history.ModeDirectory:
		what = "is a directory"
	}
	return &small.Problem{Kind: small.ProblemNotAFile, Message: "the path " + what + "; " + expected + " is expected", Hint: hint}
}

// Tasks returns the tasks of the workspace's plan, in order.
func (w *Workspace) Tasks() []Task { return TasksIn(w.Doc(small.Plan)) }

// EachCanonical visits every value of the canonical artifacts, except for the entries that a baseline accepts.
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

// CurrentRun returns the replay id of a workspace's run, from the workspace file or, if that names none, from the handoff.
func CurrentRun(w *Workspace) (string, bool) {
	if run, ok := w.Doc(small.Workspace).Get("run").Get("replay_id").Str(); ok {
		return run, true
	}
	return w.HandoffRun()
}

// Ledger returns the workspace's ledger; an empty one if there is none.
func (w *Workspace) Ledger() *ledger.Ledger {
	if art := w.Artifacts[small.Progress]; art != nil && art.Log != nil {
		return art.Log.Ledger
	}
	return ledger.NewLedger(nil)
}

// HasLedger reports whether the progress file could be read. If not, one rule reports that, and the rules that look for entries report
// nothing.
func (w *Workspace) HasLedger() bool {
	art := w.Artifacts[small.Progress]
	return art != nil && art.Log != nil
}

// HasEntry reports whether any entry of a task fulfils a condition. The workspace must have a ledger (see HasLedger), and not be read by Side.
func (w *Workspace) HasEntry(task string, fulfils func(*small.Value) bool) bool {
	items := w.List(small.Progress, "entries")
	for i, e := range w.Artifacts[small.Progress].Log.Entries {
		if e.TaskID == task && e.TaskID != "" && fulfils(items[i]) {
			return true
		}
	}
	return false
}

// Task is one task of a plan. ID and Status have no white space around them, as in an entry.
type Task struct {
	*small.Value
	ID, Status string
	// HasID is true if the task has an id that is a string.
	HasID bool
}

// TasksIn returns the tasks of a plan, in order.
func TasksIn(plan *small.Value) []Task {
	list := plan.Get("tasks")
	if list == nil || list.Kind != small.List {
		return nil
	}
	out := make([]Task, len(list.Items))
	for i, item := range list.Items {
		out[i] = Task{Value: item}
		out[i].ID, out[i].HasID = item.Get("id").Trimmed()
		out[i].Status, _ = item.Get("status").Trimmed()
	}
	return out
}

// Is reports whether the task has one of some statuses. As in the protocol, case does not matter.
func (t Task) Is(statuses ...string) bool {
	return slices.ContainsFunc(statuses, func(want string) bool { return strings.EqualFold(t.Status, want) })
}

// TasksOf returns a plan's tasks by id, and the ids in order. If tasks share an id, the first one counts.
func TasksOf(plan *small.Value) (map[string]*Task, []string) {
	tasks := map[string]*Task{}
	var order []string
	for _, t := range TasksIn(plan) {
		if t.HasID && tasks[t.ID] == nil {
			tasks[t.ID] = &t
			order = append(order, t.ID)
		}
	}
	return tasks, order
}

// Node is one value of a document.
type Node struct {
	// Subject is where the value is, such as "entries.3.status"; empty for the root.
	Subject string
	// Keys are the keys of the mappings around the value and its own, outermost first.
	Keys  []string
	Field *small.Field // nil for list elements and the root
	Value *small.Value
}

// Visit visits every value of a document, depth first, in file order.
func Visit(root *small.Value, visit func(Node)) {
	var step func(Node)
	step = func(p Node) {
		visit(p)
		prefix := p.Subject
		if prefix != "" {
			prefix += "."
		}
		for i, item := range p.Value.Items {
			step(Node{Subject: fmt.Sprintf("%s%d", prefix, i), Keys: p.Keys, Value: item})
		}
		for i := range p.Value.Fields {
			f := &p.Value.Fields[i]
			keys := slices.Concat(p.Keys, []string{f.Key})
			step(Node{Subject: prefix + f.Key, Keys: keys, Field: f, Value: f.Value})
		}
	}
	if root != nil {
		step(Node{Value: root})
	}
}

// EntryIndex returns the entry's index in a subject such as "entries.3.status".
func EntryIndex(subject string) (int, bool) {
	var i int
	if _, err := fmt.Sscanf(subject, "entries.%d", &i); err != nil {
		return 0, false
	}
	return i, true
}

// The kinds of workspaces in the protocol.
const (
	KindRepoRoot = "repo-root"
	KindExamples = "examples"
)

// DescribeSubject names a subject for people, who count from 1: "tasks.2.title" is `"title" of task 3`.
func DescribeSubject(subject string) string { return describeParts(strings.Split(subject, ".")) }

func describeParts(parts []string) string {
	last := len(parts) - 1
	name := fmt.Sprintf("%q", parts[last])
	if last == 0 {
		return name
	}
	above := parts[:last]
	i, err := strconv.Atoi(parts[last])
	if err != nil {
		return name + " of " + describeParts(above)
	}
	if singular := map[string]string{"entries": "entry", "tasks": "task", "constraints": "constraint"}[parts[0]]; last == 1 && singular != "" {
		return fmt.Sprintf("%s %d", singular, i+1)
	}
	return fmt.Sprintf("item %d of %s", i+1, describeParts(above))
}

// PutBack returns the fix that restores a file of the workspace: to HEAD's version or, if a commit is judged, to the version before the last
// commit that changed it.
func (w *Workspace) PutBack(path string) string {
	at := wording.TopPath(path)
	if w.Commit == "" || history.Uncommitted(w.Commit) {
		return wording.Commands("git restore --source=HEAD --staged --worktree -- " + at)
	}
	return wording.Commands(fmt.Sprintf(`git restore --source="$(git rev-list -n 1 HEAD -- %[1]s)^" --staged --worktree -- %[1]s`, at),
		"git commit -m "+wording.ShellQuote("Put back "+path)+" -- "+at)
}

// PutBackMissing returns the fix that restores an artifact that is missing. The log is restored with all its entries.
func (w *Workspace) PutBackMissing(a small.Artifact) string {
	const created = "; or create it, if there was none"
	path := w.Path(a)
	switch {
	case a != small.Progress:
		return w.PutBack(path) + created
	case w.DeletedFix != "":
		return w.DeletedFix
	}
	commands := []string{"small-hook restore" + remedy.InDirectory(path)}
	if w.Commit != "" && !history.Uncommitted(w.Commit) {
		commands = append(commands, `git commit -m "Restore the log" -- `+wording.TopPath(path))
	}
	return wording.Commands(commands...) + created
}

// RecordAgain returns the fix for an entry that must be recorded again, later than the entry before it. The fix undoes the change that brought the entry.
func (w *Workspace) RecordAgain(entry int) string {
	log := w.Path(small.Progress)
	return w.situationOf(entry).Undo(log, []string{"small-hook restore" + remedy.InDirectory(log)})
}

// DropRepeated returns the fix for an entry that the log has twice. If a merge brought the entry and is not committed yet, the fix combines the logs of
// both sides again.
func (w *Workspace) DropRepeated(entry int) string {
	log, s := w.Path(small.Progress), w.SituationOfCopy(w.Ledger().Entries[entry].Digest)
	if s.Merge {
		return remedy.Reconcile
	}
	return s.Undo(log, []string{"small-hook restore" + remedy.InDirectory(log)})
}

func (w *Workspace) situationOf(entry int) remedy.Situation {
	var digest small.Digest
	if log := w.Ledger(); entry < log.Len() {
		digest = log.Entries[entry].Digest
	}
	return w.Situation(digest)
}

// Committed reports whether an entry is known to be in a commit.
func (w *Workspace) Committed(entry int) bool {
	return entry < w.EntriesBefore || !history.Uncommitted(w.situationOf(entry).Commit)
}

// IfShared is added to a fix for an entry of which it is not known whether it is committed, and so whether others may have it.
const IfShared = "; if others have the entry, it is never edited"

// Correct returns the fix for something wrong in an artifact. subject says where it is, how says what to correct. An entry is corrected only
// while nobody else has it; otherwise the fix is to accept the entry as it is.
func (w *Workspace) Correct(a small.Artifact, subject, how string) string {
	i, isEntry := EntryIndex(subject)
	if a != small.Progress || !isEntry {
		return how
	}
	s := w.situationOf(i)
	switch uncommitted := history.Uncommitted(s.Commit); {
	case uncommitted && w.EntriesBefore < 0:
		how += IfShared
		if s.NoBaseline {
			return how
		}
		return how + ": a person accepts the log as it is now (small-hook baseline)"
	case uncommitted && i < w.EntriesBefore:
		s.Commit = ""
	}
	return s.Correct(how, w.Path(small.Progress))
}
