package reconcile

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// findSides finds the operation under way, and the sides to merge. A revert has no other side.
func (r *reconciliation) findSides(ctx context.Context) error {
	var err error
	if r.op, err = findOperation(ctx, r.repo, r.git); err != nil {
		return err
	}
	if err := r.findSidesInConflict(ctx, r.opts.Theirs); err != nil {
		return err
	}
	if r.opts.Theirs != "" {
		if err := r.op.useNamedSide(ctx, r.repo, r.opts.Theirs); err != nil {
			return err
		}
		if r.op.kind == "" {
			if r.out.NeedsForcedPush, err = r.git.IsDropped(ctx, r.op.ours.id, r.op.theirs[0].id); err != nil {
				return err
			}
		}
	}
	r.out.Finish = r.op.finish
	switch {
	case r.op.kind == state.Revert:
		return nil
	case len(r.op.theirs) == 0:
		return r.errNothingToReconcile(ctx)
	}
	return r.completeSides(ctx)
}

// completeSides finds the names, merge bases and configurations of the sides, and whose additions come first.
func (r *reconciliation) completeSides(ctx context.Context) error {
	err := r.op.findNamesAndBases(ctx, r.repo, r.git)
	if err == nil {
		err = r.readPolicies(ctx)
	}
	if err == nil {
		err = r.findOrder(ctx)
	}
	return err
}

// messageName returns a side's name in messages. In a rebase, HEAD is the new base, and one's own branch is the commits being applied.
func (r *reconciliation) messageName(s side) string {
	switch {
	case r.op.kind == state.Rebase && s.picked && s.id != WorkTreeID:
		return "your commit " + history.Short(s.id)
	case r.op.kind == state.Rebase && s.id == r.op.ours.id && s.name == r.op.ours.name && !r.inMemory: // a Combiner's caller has named the sides
		return "the new base"
	}
	return s.name
}

// readPolicies reads the configurations of the other sides, once. Their stanzas count for logs that the trusted configuration does not have.
func (r *reconciliation) readPolicies(ctx context.Context) error {
	if r.opts.PolicyOf == nil || r.otherPolicies != nil {
		return nil
	}
	all := r.opts.Policy
	for _, t := range r.op.theirs {
		if !t.isCommit() {
			continue
		}
		p, err := r.opts.PolicyOf(ctx, t.id, t.name)
		if err != nil {
			return err
		}
		r.otherPolicies, all = append(r.otherPolicies, p), all.WithLogsOf(p)
	}
	if len(all.Logs) == len(r.opts.Policy.Logs) {
		return nil
	}
	r.opts.Policy = all
	clear(r.files) // the lists lack the files of the added logs
	var err error
	if r.index != nil {
		r.index, err = r.listFiles(ctx, history.Index)
	}
	return err
}

// markPermittedLosses marks, in c, the sides whose version of a configured log may lack entries of the merge base: the side rotated the log, or
// contains the stanza's since commit.
func (r *reconciliation) markPermittedLosses(ctx context.Context, c *combine.Case) error {
	stanza := r.opts.Policy.LogFor(c.Path)
	if stanza == nil {
		return nil
	}
	versions := []*combine.Version{&c.Ours}
	for i := range c.Theirs {
		versions = append(versions, &c.Theirs[i])
	}
	for i, s := range r.op.sides() {
		_, versions[i].Rotated = r.rotated[s.id][c.Path]
		if !s.isCommit() || stanza.Since == "" {
			continue
		}
		bases, err := r.repo.MergeBases(ctx, s.id, stanza.Since)
		if err != nil {
			return err
		}
		if !slices.Contains(bases, stanza.Since) {
			continue
		}
		sinceVersion, err := r.logVersion(ctx, side{name: history.Short(stanza.Since), id: stanza.Since}, c.Path)
		if err != nil {
			return err
		}
		versions[i].Since = &sinceVersion
	}
	return nil
}
