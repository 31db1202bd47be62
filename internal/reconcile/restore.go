package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
)

// restoring is one restoration of a log from commits.
type restoring struct {
	*Workspace
	repo Repository
	git  *workTree
	// unmerged is true if the log is in conflict in the index.
	unmerged bool
	// logs are those of the sides that have one.
	logs []*ledger.Ledger
}

// RestoreFrom restores the log from a commit, and in a merge from what is being merged too, with the entries that are new in the work
// tree after them, and stages it. An empty source is HEAD. Nothing is written if the log, here and in the index, has all that was
// committed, in order, and new entries have times that can stand. With discard, new entries are dropped.
func (w *Workspace) RestoreFrom(ctx context.Context, repo Repository, source string, discard bool, environ []string) (out Restored, err error) {
	out.Log = w.Log()
	r := &restoring{Workspace: w, repo: repo}
	if r.git, err = openWorkTree(w.Place, environ); err != nil {
		return out, err
	}
	if out.Next, err = r.next(ctx); err != nil {
		return out, err
	}
	old, err := r.committed(ctx, source)
	if err != nil || old == nil {
		return out, err
	}
	if out.File, err = w.moveLink(); err != nil {
		return out, err
	}
	link, next := out.File, out.Next
	if discard {
		out, err = w.replace(old)
	} else {
		out, err = w.Restore(old, r.accepts)
	}
	if err != nil {
		return out, err
	}
	out.Next = next
	out.File = cmp.Or(out.File, link)
	if out.Text == nil {
		staged, err := r.inIndex(ctx)
		if err != nil || staged {
			return out, err
		}
	}
	return out, r.stageLog(ctx, &out)
}

// underway are files in the git directory that say what git has not finished, and how to go on.
var underway = [][2]string{
	{"REVERT_HEAD", "git revert --continue"}, {"rebase-merge", "git rebase --continue"}, {"rebase-apply", "git rebase --continue"},
	{"CHERRY_PICK_HEAD", "git cherry-pick --continue"},
}

// next is what to type after the restoration. A log in conflict is left to reconcile: both sides' entries are wanted. Only a revert
// brings none.
func (r *restoring) next(ctx context.Context) (string, error) {
	next := "git commit"
	for _, u := range underway {
		there, err := exists(filepath.Join(r.Place.GitDir, u[0]))
		if err != nil {
			return "", err
		}
		if there {
			next = u[1]
			break
		}
	}
	conflicts, err := r.git.run(ctx, nil, "ls-files", "-u", "--", r.Log())
	r.unmerged = len(conflicts) > 0
	if err == nil && r.unmerged && next != underway[0][1] {
		err = &failure.Error{Message: r.Log() + " is in conflict: both sides' entries are wanted", Remedy: "`small-hook reconcile`"}
	}
	return next, err
}

// committed is the log of the sides as git would check it out; nil if none has one.
func (r *restoring) committed(ctx context.Context, source string) ([]byte, error) {
	op := &operation{}
	var err error
	if source == "" {
		if op.ours.id, err = r.repo.Head(ctx); err != nil || op.ours.id == "" {
			return nil, err
		}
		if err = op.merging(ctx, r.repo, r.git); err == nil {
			err = op.name(ctx, r.repo, r.git)
		}
	} else {
		op.ours.name = source
		op.ours.id, err = r.repo.Resolve(ctx, source)
	}
	if err != nil {
		return nil, err
	}
	c := splice.Case{Path: r.Log(), Now: r.Now, Limits: r.Limits, Comparer: read.NewLogComparer(r.Policy, r.Log(), r.Now)}
	if c.Ours, err = r.version(ctx, op.ours); err != nil {
		return nil, err
	}
	for _, t := range op.theirs {
		v, err := r.version(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, id := range t.parts {
			base, err := r.version(ctx, side{name: "the merge base", id: id})
			if err != nil {
				return nil, err
			}
			v.Bases = append(v.Bases, base)
		}
		c.Theirs = append(c.Theirs, v)
	}
	text := c.Ours.Data
	if len(c.Theirs) > 0 {
		resolved, err := c.Resolve()
		if err != nil {
			return nil, err
		}
		text = resolved.Text
	}
	if text == nil {
		return nil, nil
	}
	for _, v := range append([]splice.Version{c.Ours}, c.Theirs...) {
		if log, _ := ledger.ReadLog(v.Data, r.Limits); log != nil {
			r.logs = append(r.logs, log.Ledger)
		}
	}
	blob, err := r.git.store(ctx, text)
	if err != nil {
		return nil, err
	}
	return r.git.checkedOut(ctx, r.Log(), blob)
}

// version is a side's version of the log.
func (r *restoring) version(ctx context.Context, s side) (splice.Version, error) {
	data, _, err := githistory.ReadFile(ctx, r.repo, s.id, r.Log(), r.Limits.FileSize())
	return splice.Version{Name: s.name, ID: s.id, Data: data}, err
}

// accepts reports whether a log has what the sides have, and new entries with times that can stand.
func (r *restoring) accepts(_, child *ledger.Ledger) bool {
	for _, log := range r.logs {
		if !r.Accepts(log, child) || !splice.Timely(log, child, r.Now) {
			return false
		}
	}
	return true
}

// inIndex reports whether the index has such a log.
func (r *restoring) inIndex(ctx context.Context) (bool, error) {
	if r.unmerged {
		return false, nil
	}
	data, found, err := githistory.ReadFile(ctx, r.repo, history.Index, r.Log(), r.Limits.FileSize())
	if err != nil || !found {
		return false, err
	}
	log, _ := ledger.ReadLog(data, r.Limits)
	return log != nil && r.accepts(nil, log.Ledger), nil
}

// stageLog stages the log as it is in the work tree now.
func (r *restoring) stageLog(ctx context.Context, out *Restored) error {
	data, err := r.Read()
	if err != nil {
		return err
	}
	blob, err := r.git.storeFile(ctx, r.Log(), data)
	if err != nil {
		return err
	}
	if err := r.git.stage(ctx, []change{{path: r.Log(), mode: "100644", blob: blob}}); err != nil {
		return &failure.Error{
			Message: fmt.Sprintf("%s is restored, but could not be staged: %s", r.Log(), failure.Of(err).Message),
			Remedy:  "`small-hook restore`", Err: err,
		}
	}
	out.Staged = true
	return nil
}
