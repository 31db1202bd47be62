package walk

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// humanChanges are the changes of meaning in intent and constraints that no parent brought. Creating a file is
// none.
func (w *commitReader) humanChanges(ctx context.Context) ([]subject.HumanChange, error) {
	var out []subject.HumanChange
	for _, a := range []small.Artifact{small.Intent, small.Constraints} {
		path := a.Path(w.dir)
		if !w.differs(path) {
			continue
		}
		change, err := w.humanChange(ctx, a, path)
		if err != nil {
			return nil, err
		}
		if change != nil {
			out = append(out, *change)
		}
	}
	return out, nil
}

func (w *commitReader) humanChange(ctx context.Context, a small.Artifact, path string) (*subject.HumanChange, error) {
	file, err := w.now(ctx, path)
	if err != nil || file.Unmerged {
		return nil, err
	}
	after, err := w.Source.Document(ctx, file)
	if err != nil {
		return nil, err
	}
	var olds []*small.Value
	for i := range w.changes {
		c, _ := w.change(i, path)
		if c.Old.Mode == "" {
			continue // this parent does not have it
		}
		if file.Mode == "" && movedFile(w.changes[i], c.Old, path) {
			return nil, nil
		}
		old, err := w.Source.Document(ctx, c.Old)
		if err != nil {
			return nil, err
		}
		olds = append(olds, old)
	}
	if len(olds) == 0 {
		return nil, nil // it is created
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

// movedFile reports whether a file that is gone came, unchanged, to the same place in another workspace.
func movedFile(changes []history.Change, old history.File, path string) bool {
	_, name, _ := small.SplitPath(path)
	return slices.ContainsFunc(changes, func(c history.Change) bool {
		_, there, _ := small.SplitPath(c.Path)
		return c.Old.Mode == "" && c.New.Object == old.Object && there == name
	})
}

// changeOfMeaning compares a document with its versions in the parents; nil if it means the same as one of them
// or, in a merge, only says what some parent says. A document that cannot be read means nothing.
func changeOfMeaning(a small.Artifact, olds []*small.Value, after *small.Value, gone bool) *subject.HumanChange {
	c := &subject.HumanChange{Artifact: a}
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

// combines reports whether all that a merge's document says is said by some parent, and all that every parent says
// by it.
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

// statements takes a document apart: members of mappings one by one, list items whole. The order of a list does
// not count: if both sides changed it, no order is right.
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
