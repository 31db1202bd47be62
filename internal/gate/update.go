package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// Update is one ref that a push moves.
type Update struct {
	// Ref is the full name of the ref that is moved.
	Ref string
	// Old is the commit where the ref is now, empty for a new ref. New is the
	// commit where it will be.
	Old, New string
	// Known are commits that the receiving side has already: their history is
	// not judged again.
	Known []string
	// Again has the commits that Old has judged again, but for those that are
	// Known.
	Again bool
	// Governs is true if the policy is that of the ref's old tip: what the new
	// tip has comes into force with the push, wherever it was edited.
	Governs bool
	// Target is the default branch, where the ref is another branch: that will
	// be merged into it one day. The zero Tip compares with none.
	Target Tip
	// Name is how the ref's new tip is called in messages; empty for its id.
	Name string
}

// Tip is a commit and what to call it in messages.
type Tip struct{ ID, Name string }

// compareReplaced compares the old tip of a ref with the new one, unless the new one
// goes on from it.
func compareReplaced(r *run, ctx context.Context) error {
	u, w := r.scope.update, walker{r}
	if u.Old == "" || w.judgedSince(u) {
		return nil
	}
	return w.replaced(ctx, u, sameRemedy(fmt.Sprintf("published entries must not change: run `git merge %s`, then append", short(u.Old))))
}

// judgedSince reports whether the new tip goes on from the old one by commits that
// have all been judged: then the edges have said what became of each entry.
func (r walker) judgedSince(u Update) bool {
	if u.Old == "" || r.scope.tookAnother {
		return false
	}
	parents := map[string][]string{}
	for _, c := range r.scope.commits {
		parents[c.ID] = c.Parents
	}
	seen := map[string]bool{}
	for next := []string{u.New}; len(next) > 0; next = next[1:] {
		id := next[0]
		above, known := parents[id]
		switch {
		case seen[id] || id == u.Old:
		case !known:
			return false
		default:
			next = append(next, above...)
		}
		seen[id] = true
	}
	return seen[u.Old]
}

// compareTarget compares a branch with the one that it will be merged into.
// What it finds are warnings, whatever level the policy gives to the rules: a
// branch may have parted from the other in good order and the push of it be the
// way to say so. But where a pull request conflicts, no pull request's workflow
// may run, and then this is where it can be seen.
func compareTarget(r *run, ctx context.Context) error {
	u := r.scope.update
	if u.Target.ID == "" || u.Target.ID == u.New {
		return nil
	}
	changes, err := r.src.history.Changes(ctx, []Edge{{Parent: u.Target.ID, Child: u.New}})
	if err != nil || len(changes[0]) == 0 {
		return err
	}
	bases, err := r.src.history.MergeBases(ctx, u.Target.ID, u.New)
	if err != nil {
		return err
	}
	r.out.onlyWarns = true
	defer func() { r.out.onlyWarns = false }()
	if slices.Contains(bases, u.Target.ID) {
		// The branch goes on from the other. What it brings is judged, but not
		// what an earlier push of it brought.
		fix := fmt.Sprintf("put what %s has back as it is there, and append what is new after it", u.Target.Name)
		return walker{r}.replaced(ctx, Update{Old: u.Target.ID, New: u.New}, sameRemedy(fix))
	}
	return walker{r}.compare(ctx, u.Target, Tip{ID: u.New, Name: cmp.Or(u.Name, short(u.New))})
}

// replaced compares a ref's old tip with its new one: every old entry is in
// the new ledger, in order. Entries between older ones were judged on the
// edges, so a rebased branch passes. No commit did what is found that could be
// taken back: fix is what to do about it.
func (r walker) replaced(ctx context.Context, u Update, fix Remedies) error {
	changes, err := r.src.history.Changes(ctx, []Edge{{Parent: u.Old, Child: u.New}})
	if err != nil {
		return err
	}
	n := Commit{ID: u.New, Parents: []string{u.Old}}
	if u.Governs {
		r.scope.notePolicy(n, changes)
	}
	undone := r.undone(ctx, u)
	s, err := r.src.replacement(ctx, n, changes, undone)
	if err != nil {
		return err
	}
	s.remedies = fix
	for _, c := range changes[0] {
		if !r.src.isLog(c.Path) {
			continue
		}
		if err := r.replacedLog(ctx, c, s, false, undone); err != nil {
			return err
		}
	}
	return nil
}

// undoneFunc reports whether the difference between two versions of a log is that
// rewrites are taken back.
type undoneFunc func(before, now *small.Ledger) (bool, error)

// undone looks for what a branch rewrote when it is first asked.
func (r walker) undone(ctx context.Context, u Update) undoneFunc {
	find := sync.OnceValues(func() (*rewrites, error) { return r.rewritesOf(ctx, u) })
	return func(before, now *small.Ledger) (bool, error) {
		r, err := find()
		return err == nil && r.undone(before, now), err
	}
}

// replacement is the step from one commit to another that is not its child.
// Between the entries of a log that moved others may have come.
func (src *source) replacement(ctx context.Context, n Commit, changes [][]Change, undone undoneFunc) (*step, error) {
	m, err := src.moves(ctx, crossing{
		parent: n.Parents[0], changes: changes[0], merge: true, undone: undone,
		equal: func(from, to string, before, after *ledgerFile) (equivalence, error) {
			return src.equality(ctx, n.Parents, from, to, before, after)
		},
	})
	return &step{Commit: n, changes: changes, moves: []moves{m}}, err
}

// replacedLog compares one log of a commit with an earlier one that is not its
// parent's. insertions says whether entries between older ones are reported,
// where no entry makes them explicit. undone, if set, says which rewrites are
// taken back.
func (r walker) replacedLog(ctx context.Context, c Change, s *step, insertions bool, undone undoneFunc) error {
	logs, err := r.src.readBefore(ctx, s.Parents[0], c)
	if err != nil {
		return err
	}
	parent := parentLog{id: s.Parents[0]}
	parent.add(c.Path, logs...)
	now := c.New
	if to, moved := s.moves[0][c.Path]; moved {
		now = to
	}
	after, err := r.src.logs(c.Path).read(ctx, now, nil)
	if err != nil {
		return err
	}
	if !after.readable() {
		r.unreadable(s, c.Path, after, []parentLog{parent})
		return nil
	}
	for _, l := range parent.ledgers {
		e, err := r.compareLogs(ctx, s.Commit, now.Path, c.Path, l, after, []parentLog{parent}, 0)
		if err != nil {
			return err
		}
		if e == nil || e.relation != rewritten && !insertions {
			continue
		}
		if undone != nil && e.relation == rewritten {
			if is, err := undone(e.old, e.now); err != nil || is {
				if err != nil {
					return err
				}
				continue
			}
		}
		if !insertions || e.reconciled() {
			e.inserted = nil
			e.edits = slices.DeleteFunc(e.edits, func(x edit) bool { return x.kind == editInserted })
		}
		e.Parent, e.Branch, e.remedies = parent.id, s.branch, s.remedies
		r.judgeEdge(e, s.ID)
	}
	return nil
}
