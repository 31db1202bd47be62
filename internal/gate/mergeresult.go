package gate

import (
	"context"
	"maps"

	"github.com/small-gate/small-gate/internal/small"
)

// RangeInto judges a range as Range does, and then merge, which a CI system has
// made of head and base: first the edges of every commit that only merge has, as
// those of any commit are judged, then its snapshot. Two changes, each of them
// sound, can be unsound together, and what was made need not be what git would
// make. What is told of head already is not told again.
func RangeInto(ctx context.Context, h History, base, head, merge string, opts Options) *Report {
	j := newJudgement(h, opts)
	j.tip, j.report.Examined.Base, j.report.Examined.Head, j.report.Examined.Merge = head, base, head, merge
	j.trust(base)
	if merge != head {
		j.earlier = &earlierFindings{times: map[findingKey]int{}}
	}
	err := j.rangeOf(ctx, base, head)
	if err == nil && merge != head {
		err = j.mergeResult(ctx, base, head, merge)
	}
	return j.finish(err)
}

// mergeResult judges what was made of a head that was judged before. The head's
// commits, workspaces and logs stay what was examined.
func (j *judgement) mergeResult(ctx context.Context, base, head, merge string) error {
	commits, err := j.history.Commits(ctx, []string{merge}, []string{base, head})
	if err != nil {
		return err
	}
	landed, err := j.history.Changes(ctx, []Edge{{Parent: base, Child: merge}})
	if err != nil {
		return err
	}
	touched, workflows := j.touched, j.changedWorkflows
	for _, c := range landed[0] {
		if j.isWorkflowOrRecord(c.Path) {
			workflows[c.Path] = true
		}
		if dir, in := small.WorkspaceOf(c.Path); in && j.judges(c.Path) {
			touched[dir] = true
		}
	}
	// From here on the merge is the tip. Of what the target alone has changed the
	// edges tell what the merge does to it; its snapshot is not this change's.
	examined, ledgers := j.report.Examined, j.report.Ledgers
	j.tip, j.atTips, j.policyChange = merge, map[string]*Workspace{}, Change{}
	j.touched, j.changedWorkflows = map[string]bool{}, map[string]bool{}
	j.unions = nil
	if err := j.untold(func() error { return j.walkAll(ctx, commits) }); err != nil {
		return err
	}
	j.touched, j.changedWorkflows = touched, workflows
	err = j.untold(func() error {
		if err := j.snapshot(ctx, j.history, merge, sortedKeys(touched)); err != nil {
			return err
		}
		if err := j.workflows(ctx, j.history, merge, workflows); err != nil {
			return err
		}
		j.judgePolicy(false)
		return nil
	})
	j.report.Examined, j.report.Ledgers = examined, ledgers
	j.report.NoWorkspace = j.report.NoWorkspace && len(touched) == 0
	return err
}

// untold judges on and leaves out of the findings those that were told before.
func (j *judgement) untold(judge func() error) error {
	j.earlier.left = maps.Clone(j.earlier.times)
	err := judge()
	j.earlier.left = nil
	return err
}

// earlierFindings counts findings by fingerprint and severity: an error is not left
// out because there was a warning of the same.
type earlierFindings struct {
	times map[findingKey]int
	// left is what may be left out from here on; nil while nothing is.
	left map[findingKey]int
}

type findingKey struct {
	fingerprint [8]byte // its beginning
	severity    Severity
}

// has notes a finding, and reports whether it was reported earlier and is to be
// left out now.
func (e *earlierFindings) has(f *Finding) bool {
	if e == nil {
		return false
	}
	sum := f.sum()
	key := findingKey{[8]byte(sum[:8]), f.Severity}
	for _, k := range []findingKey{key, {key.fingerprint, SeverityError}} {
		if e.left[k] > 0 {
			e.left[k]--
			return true
		}
	}
	e.times[key]++
	return false
}
