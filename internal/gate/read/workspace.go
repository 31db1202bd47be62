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
	// Situation says who has the commit that brought an entry, or the tree itself for the zero digest.
	Situation func(entry small.Digest) remedy.Situation
	// Files are all files below .small and lookalikes of it, in order of path.
	Files []history.File
	// Twins are paths that differ from a directory at or above Dir only in case.
	Twins []string
	// Kinds are the accepted workspace kinds.
	Kinds []string

	Artifacts map[small.Artifact]*Artifact
	// Baseline is how many leading entries of the ledger are accepted.
	Baseline int
	// Deleted is the fix for a log that was deleted by a commit of this change which nobody else has; empty if there is none.
	Deleted string
	// Settled is how many leading entries were there before what is judged; -1 if that is not known.
	Settled int
	// Strict turns some warnings into errors.
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

// NotAFile is the problem of a path that is not an ordinary file.
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

// Tasks are the tasks of the workspace's plan.
func (w *Workspace) Tasks() []Task { return TasksIn(w.Doc(small.Plan)) }

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

// Task is one task of a plan. ID and Status are trimmed, as an entry's are.
type Task struct {
	*small.Value
	ID, Status string
	// Named is true if the id is a string.
	Named bool
}

// TasksIn are the tasks of a plan, in order.
func TasksIn(plan *small.Value) []Task {
	list := plan.Get("tasks")
	if list == nil || list.Kind != small.List {
		return nil
	}
	out := make([]Task, len(list.Items))
	for i, item := range list.Items {
		out[i] = Task{Value: item}
		out[i].ID, out[i].Named = item.Get("id").Trimmed()
		out[i].Status, _ = item.Get("status").Trimmed()
	}
	return out
}

// Is compares the status as the protocol does: without regard to case.
func (t Task) Is(statuses ...string) bool {
	return slices.ContainsFunc(statuses, func(want string) bool { return strings.EqualFold(t.Status, want) })
}

// TasksOf are a plan's tasks by id, and the ids in order.
func TasksOf(plan *small.Value) (map[string]*Task, []string) {
	tasks := map[string]*Task{}
	var order []string
	for _, t := range TasksIn(plan) {
		if t.Named && tasks[t.ID] == nil {
			tasks[t.ID] = &t
			order = append(order, t.ID)
		}
	}
	return tasks, order
}

// Node is one member or element of a document.
type Node struct {
	Subject string
	// Keys are the mapping keys that lead here, outermost first.
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

// EntryIndex reads the entry's index out of a subject such as "entries.3.status".
func EntryIndex(subject string) (int, bool) {
	var i int
	if _, err := fmt.Sscanf(subject, "entries.%d", &i); err != nil {
		return 0, false
	}
	return i, true
}

// The kinds of workspace that the protocol knows.
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

// PutBack is the fix that brings back a file of the workspace as it was before the index, or the last commit that touched it, changed it.
func (w *Workspace) PutBack(path string) string {
	at := wording.TopPath(path)
	if w.Commit == "" || history.Uncommitted(w.Commit) {
		return wording.Commands("git restore --source=HEAD --staged --worktree -- " + at)
	}
	return wording.Commands(fmt.Sprintf(`git restore --source="$(git rev-list -n 1 HEAD -- %[1]s)^" --staged --worktree -- %[1]s`, at),
		"git commit -m "+wording.ShellQuote("Put back "+path))
}

// PutBackMissing is the fix that brings back an artifact that is gone. The log comes back with what was recorded in it.
func (w *Workspace) PutBackMissing(a small.Artifact) string {
	const created = "; or create it, if there was none"
	path := w.Path(a)
	switch {
	case a != small.Progress:
		return w.PutBack(path) + created
	case w.Deleted != "":
		return w.Deleted
	}
	commands := []string{"small-hook restore" + remedy.InDirectory(path)}
	if w.Commit != "" && !history.Uncommitted(w.Commit) {
		commands = append(commands, `git commit -m "Restore the log"`)
	}
	return wording.Commands(commands...) + created
}

// RecordAgain is the fix that records an entry again, later than the one before it, together with everything that was recorded with it.
func (w *Workspace) RecordAgain(entry int) string {
	log := w.Path(small.Progress)
	return w.situationOf(entry).Undo(log, []string{"small-hook restore" + remedy.InDirectory(log)})
}

// DropRepeated is the fix for an entry that stands in the log a second time. In a merge that is not committed yet, the two sides' logs are
// combined again.
func (w *Workspace) DropRepeated(entry int) string {
	if w.situationOf(entry).Merge {
		return remedy.Reconcile
	}
	return w.RecordAgain(entry)
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
	return entry < w.Settled || !history.Uncommitted(w.situationOf(entry).Commit)
}

// IfShared begins what a fix says about an entry that others may have, where it is not known whether it is committed.
const IfShared = "; if others have the entry, it is never edited"

// Correct is the fix for something wrong in an artifact; subject names it, and how is the correction. A committed entry is not edited:
// others' entries are accepted as they are. Only in a commit that nobody else has can it be corrected.
func (w *Workspace) Correct(a small.Artifact, subject, how string) string {
	i, isEntry := EntryIndex(subject)
	if a != small.Progress || !isEntry {
		return how
	}
	s := w.situationOf(i)
	switch uncommitted := history.Uncommitted(s.Commit); {
	case uncommitted && w.Settled < 0:
		how += IfShared
		if s.NoBaseline {
			return how
		}
		return how + ": a person accepts the log as it is now (small-hook baseline)"
	case uncommitted && i < w.Settled:
		s.Commit = ""
	}
	return s.Correct(how, w.Path(small.Progress))
}
