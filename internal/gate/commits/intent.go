package commits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// MeaningChange is a change in the meaning of intent or constraints. Comments, quotes and the like have none.
type MeaningChange struct {
	Artifact small.Artifact
	Pos      small.Pos
	// Does says what was changed, as a part of a message.
	Does    string
	Changes []ledger.FieldChange
	// Key identifies the change by what the file said before and after.
	Key string
}

// ChangesOfHumanFiles returns the changes in the meaning of intent and constraints that differ from every parent. Creating a file does not count.
func (w *Work) ChangesOfHumanFiles(ctx context.Context) ([]MeaningChange, error) {
	var out []MeaningChange
	for _, a := range []small.Artifact{small.Intent, small.Constraints} {
		if !w.Differs(a.Path(w.Dir)) {
			continue
		}
		change, err := w.findMeaningChange(ctx, a)
		if err != nil {
			return nil, err
		}
		if change != nil {
			out = append(out, *change)
		}
	}
	return out, nil
}

func (w *Work) findMeaningChange(ctx context.Context, a small.Artifact) (*MeaningChange, error) {
	path := a.Path(w.Dir)
	file, err := w.fileAt(ctx, path)
	if err != nil || file.Unmerged {
		return nil, err
	}
	var had []int // the indexes of the parents that have the file
	for i, edge := range w.changes {
		c, _ := history.ChangeAt(edge, path)
		if file.Mode == "" && c.Old.Mode != "" && wasMoved(edge, c.Old, path) {
			return nil, nil
		}
		if c.Old.Mode != "" {
			had = append(had, i)
		}
	}
	if len(had) == 0 {
		return nil, nil // this commit creates it
	}
	before, after, err := w.Documents(ctx, path)
	if err != nil {
		return nil, err
	}
	var olds []*small.Value
	for _, i := range had {
		olds = append(olds, before[i])
	}
	change := compareMeaning(a, olds, after, file.Mode == "")
	if change != nil {
		change.Key = meaningKey(olds[0]) + " " + meaningKey(after)
	}
	return change, nil
}

func meaningKey(v *small.Value) string {
	if v == nil {
		return "nothing"
	}
	return small.EntryDigest(v).String()
}

// wasMoved reports whether a deleted file was added without a change under the same name in another workspace.
func wasMoved(changes []history.Change, old history.File, path string) bool {
	_, name, _ := small.SplitPath(path)
	return slices.ContainsFunc(changes, func(c history.Change) bool {
		_, there, _ := small.SplitPath(c.Path)
		return c.Old.Mode == "" && c.New.Object == old.Object && there == name
	})
}

// compareMeaning compares a document with its versions in the parents, by their meaning. It returns nil if the document means the same as one of
// them or, in a merge, combines them. A version that cannot be read is nil.
func compareMeaning(a small.Artifact, olds []*small.Value, after *small.Value, gone bool) *MeaningChange {
	c := &MeaningChange{Artifact: a}
	switch {
	case gone:
		c.Does = "deletes it"
		return c
	case after == nil:
		if slices.Contains(olds, nil) {
			return nil
		}
		c.Does = "leaves it unreadable"
		return c
	}
	for _, old := range olds {
		if old != nil && old.Canonical() == after.Canonical() {
			return nil
		}
	}
	if len(olds) > 1 && combinesParents(olds, after) {
		return nil
	}
	old := olds[0]
	if old == nil {
		c.Does = "replaces a version of it that could not be read"
		return c
	}
	c.Changes = ledger.FieldChanges(old, after)
	var fields []string
	for _, change := range c.Changes {
		fields = append(fields, change.Field)
	}
	c.Does = "changes " + strings.Join(fields, ", ")
	if len(c.Changes) > 0 {
		c.Pos = ledger.KeyPos(after, c.Changes[0].Field)
	}
	return c
}

// combinesParents reports whether each statement of a merge's document is in some parent, and each statement that all parents have is in the
// document.
func combinesParents(olds []*small.Value, after *small.Value) bool {
	now := map[string]bool{}
	addStatements("", after, now)
	some, all := map[string]bool{}, map[string]int{}
	readable := 0
	for _, old := range olds {
		if old == nil {
			continue
		}
		readable++
		said := map[string]bool{}
		addStatements("", old, said)
		for s := range said {
			some[s] = true
			all[s]++
		}
	}
	for s := range now {
		if !some[s] {
			return false
		}
	}
	for s, n := range all {
		if n == readable && !now[s] {
			return false
		}
	}
	return true
}

// addStatements adds a document's statements to the set into: each member of a mapping, and each whole item of a list. It ignores the order of
// lists: if both sides changed a list, there is no order that the merge ought to have.
func addStatements(at string, v *small.Value, into map[string]bool) {
	switch v.Kind {
	case small.Map:
		for _, f := range v.Fields {
			addStatements(at+"\x00"+f.Key, f.Value, into)
		}
	case small.List:
		for _, item := range v.Items {
			into[at+"\x00[]"+item.Canonical()] = true
		}
	default:
		into[at+"\x00"+v.Canonical()] = true
	}
}

// ReplayStale is replay/stale: the meaning of intent or constraints has changed, and the replay id has not.
var ReplayStale = rule.New("replay/stale", finding.SeverityWarning, finding.StageHistory, rule.Reading(checkReplayStale))

func checkReplayStale(ctx context.Context, w *Work, r *rule.Reporter) error {
	changed, err := findStaleChanges(ctx, w)
	if err != nil || len(changed) == 0 {
		return err
	}
	first := changed[0]
	what, verb := first.Words(), "has"
	if len(changed) > 1 {
		what, verb = what+" and "+changed[1].Words(), "have"
	}
	fix := "who changed it decides: if the work so far counts, nothing is to be done; if a new run begins, small-hook replay-id --write" + remedy.InDirectory(small.Handoff.Path(w.Dir)) + " gives the run an id of its own"
	over, err := w.logSays(ctx, (*ledger.Ledger).RunOver)
	if err != nil {
		return err
	}
	if over {
		fix = remedy.BeginRun(w.Dir, w.Commit, "")
	}
	r.Add(finding.Finding{
		Path: first.Artifact.Path(w.Dir), Line: first.Pos.Line, Column: first.Pos.Column, Subject: first.Key,
		Message: fmt.Sprintf("%s %s changed in meaning, but %s keeps the same replay id", what, verb, small.Handoff.Path(w.Dir)),
		Fix:     fix,
	})
	return nil
}

// findStaleChanges returns the changes in the meaning of intent and constraints if the replay id stayed the same and its run has begun. Deletions and
// files that cannot be read are left out.
func findStaleChanges(ctx context.Context, w *Work) ([]MeaningChange, error) {
	changes, err := w.ChangesOfHumanFiles(ctx)
	known := slices.DeleteFunc(changes, func(c MeaningChange) bool { return len(c.Changes) == 0 })
	if err != nil || len(known) == 0 {
		return nil, err
	}
	if same, err := w.keepsReplayID(ctx); err != nil || !same {
		return nil, err
	}
	if begun, err := w.logSays(ctx, (*ledger.Ledger).HasRun); err != nil || !begun {
		return nil, err
	}
	return known, nil
}

// Words names what was changed, for a message.
func (c MeaningChange) Words() string {
	if c.Artifact == small.Intent {
		return "the intent"
	}
	return "the list of constraints"
}
