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

// HumanChange is a change of meaning in intent or constraints.
type HumanChange struct {
	Artifact small.Artifact
	Pos      small.Pos
	// What says what changed, for a message.
	What    string
	Changes []ledger.FieldChange
	// Key identifies the change by the old and new content.
	Key string
}

// HumanChanges are the changes of meaning in intent and constraints that no parent brought. Creating a file does not count.
func (w *Work) HumanChanges(ctx context.Context) ([]HumanChange, error) {
	var out []HumanChange
	for _, a := range []small.Artifact{small.Intent, small.Constraints} {
		if !w.Differs(a.Path(w.Dir)) {
			continue
		}
		change, err := w.humanChange(ctx, a)
		if err != nil {
			return nil, err
		}
		if change != nil {
			out = append(out, *change)
		}
	}
	return out, nil
}

func (w *Work) humanChange(ctx context.Context, a small.Artifact) (*HumanChange, error) {
	path := a.Path(w.Dir)
	file, err := w.now(ctx, path)
	if err != nil || file.Unmerged {
		return nil, err
	}
	var had []int // the parents that have it
	for i, edge := range w.changes {
		c, _ := history.ChangeAt(edge, path)
		if file.Mode == "" && c.Old.Mode != "" && movedFile(edge, c.Old, path) {
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
	change := changeOfMeaning(a, olds, after, file.Mode == "")
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

// movedFile reports whether a deleted file was added, unchanged, at the same place in another workspace.
func movedFile(changes []history.Change, old history.File, path string) bool {
	_, name, _ := small.SplitPath(path)
	return slices.ContainsFunc(changes, func(c history.Change) bool {
		_, there, _ := small.SplitPath(c.Path)
		return c.Old.Mode == "" && c.New.Object == old.Object && there == name
	})
}

// changeOfMeaning compares a document with its versions in the parents; nil if it means the same as one of them
// or, in a merge, only says what some parent says. A document that cannot be read means nothing.
func changeOfMeaning(a small.Artifact, olds []*small.Value, after *small.Value, gone bool) *HumanChange {
	c := &HumanChange{Artifact: a}
	switch {
	case gone:
		c.What = "deletes it"
		return c
	case after == nil:
		if slices.Contains(olds, nil) {
			return nil
		}
		c.What = "leaves it unreadable"
		return c
	}
	for _, old := range olds {
		if old != nil && old.Canonical() == after.Canonical() {
			return nil
		}
	}
	if len(olds) > 1 && combines(olds, after) {
		return nil
	}
	old := olds[0]
	if old == nil {
		c.What = "replaces a version of it that could not be read"
		return c
	}
	c.Changes = ledger.FieldChanges(old, after)
	var fields []string
	for _, change := range c.Changes {
		fields = append(fields, change.Field)
	}
	c.What = "changes " + strings.Join(fields, ", ")
	if len(c.Changes) > 0 {
		c.Pos = ledger.KeyPos(after, c.Changes[0].Field)
	}
	return c
}

// combines reports whether some parent says everything that a merge's document says, and the document says everything that
// all parents say.
func combines(olds []*small.Value, after *small.Value) bool {
	now := map[string]bool{}
	statements("", after, now)
	some, all := map[string]bool{}, map[string]int{}
	readable := 0
	for _, old := range olds {
		if old == nil {
			continue
		}
		readable++
		said := map[string]bool{}
		statements("", old, said)
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

// statements takes a document apart: members of mappings one by one, list items whole. The order of a list is
// ignored: if both sides changed it, no order is right.
func statements(at string, v *small.Value, into map[string]bool) {
	switch v.Kind {
	case small.Map:
		for _, f := range v.Fields {
			statements(at+"\x00"+f.Key, f.Value, into)
		}
	case small.List:
		for _, item := range v.Items {
			into[at+"\x00[]"+item.Canonical()] = true
		}
	default:
		into[at+"\x00"+v.Canonical()] = true
	}
}

// ReplayStale is replay/stale: intent or constraints changed in meaning, and the replay id did not.
var ReplayStale = rule.New("replay/stale", finding.SeverityWarning, finding.StageHistory, rule.Reading(checkReplayStale))

func checkReplayStale(ctx context.Context, w *Work, r *rule.Reporter) error {
	changed, err := staleIntent(ctx, w)
	if err != nil || len(changed) == 0 {
		return err
	}
	first := changed[0]
	what, verb := first.Words(), "has"
	if len(changed) > 1 {
		what, verb = what+" and "+changed[1].Words(), "have"
	}
	fix := "who changed it decides: if the work so far counts, nothing is to be done; if a new run begins, small-hook replay-id --write gives it an id of its own"
	over, err := w.shows(ctx, (*ledger.Ledger).RunOver)
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

// staleIntent returns the changes of meaning in intent and constraints if the replay id stayed the same.
func staleIntent(ctx context.Context, w *Work) ([]HumanChange, error) {
	changes, err := w.HumanChanges(ctx)
	said := slices.DeleteFunc(changes, func(c HumanChange) bool { return len(c.Changes) == 0 })
	if err != nil || len(said) == 0 {
		return nil, err
	}
	if same, err := w.sameReplay(ctx); err != nil || !same {
		return nil, err
	}
	if begun, err := w.shows(ctx, (*ledger.Ledger).HasRun); err != nil || !begun {
		return nil, err
	}
	return said, nil
}

// Words name what was changed.
func (c HumanChange) Words() string {
	if c.Artifact == small.Intent {
		return "the intent"
	}
	return "the list of constraints"
}
