package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// baselineFor returns the baseline of a log if it is in force: the tip of what
// is judged begins with it. A baseline that the tip does not have would excuse
// everything, since no edge would begin with it; it is ignored, and
// config/baseline-mismatch says so.
func (j *judgement) baselineFor(ctx context.Context, path string) (*policy.Baseline, error) {
	b := j.opts.Policy.BaselineFor(path)
	if b == nil {
		return nil, nil
	}
	inForce, known := j.baselines[path]
	if !known {
		log, err := j.atTip(ctx, path)
		if err != nil {
			return nil, err
		}
		inForce = log.readable() && beginsWith(log.log.Ledger, b)
		j.baselines[path] = inForce
		if log != nil && !inForce {
			j.mismatched = append(j.mismatched, b)
		}
	}
	if !inForce {
		return nil, nil
	}
	return b, nil
}

// atTip reads a log as of the tip of what is judged, nil if it has none there.
func (j *judgement) atTip(ctx context.Context, path string) (*ledgerFile, error) {
	dir, _, _ := small.SplitPath(path)
	files, err := j.history.Files(ctx, j.tip, dir)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, func(f File) bool { return f.Path == path })
	if i < 0 {
		return nil, nil
	}
	return j.ledgers.read(ctx, files[i], nil)
}

// beforeBaseline reports whether an edge lies before the point where the gate
// was adopted: the parent's log does not begin with the baseline. What leads
// to the baseline is accepted as it is; from there on everything is judged.
func (j *judgement) beforeBaseline(ctx context.Context, path string, parents ...*ledgerFile) (bool, error) {
	b, err := j.baselineFor(ctx, path)
	if err != nil || b == nil {
		return false, err
	}
	for _, p := range parents {
		if p.readable() && beginsWith(p.log.Ledger, b) {
			return false, nil
		}
	}
	return true, nil
}

// afterBaseline leaves out, of the places of new entries, those that the
// baseline accepts. In a log that does not begin with the baseline yet, that
// is all of them.
func (j *judgement) afterBaseline(ctx context.Context, path string, child *ledgerFile, fresh, intruders []int) ([]int, []int, error) {
	b, err := j.baselineFor(ctx, path)
	if err != nil || b == nil {
		return fresh, intruders, err
	}
	if !beginsWith(child.log.Ledger, b) {
		return nil, nil, nil
	}
	accepted := func(place int) bool { return place < b.Entries }
	return slices.DeleteFunc(fresh, accepted), slices.DeleteFunc(intruders, accepted), nil
}
