package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// MergeCheck predicts what a merge of theirs into ours will come to, by the two
// tips and where they parted, and judges no commit. What a side did to the log's
// common past is told of that side: git takes it over without a word where the
// other side did nothing. Where one tip descends from the other there is no
// fork, and only that is told.
func MergeCheck(ctx context.Context, h History, ours, theirs, oursName, theirsName string, opts Options) *Report {
	j := newJudgement(h, opts)
	j.predicts = true
	j.tip, j.report.Examined.Base, j.report.Examined.Head = theirs, ours, theirs
	j.trust(ours)
	return j.finish(j.mergeCheck(ctx, Tip{ID: ours, Name: oursName}, Tip{ID: theirs, Name: theirsName}))
}

func (j *judgement) mergeCheck(ctx context.Context, ours, theirs Tip) error {
	bases, err := j.history.MergeBases(ctx, ours.ID, theirs.ID)
	if err != nil {
		return err
	}
	for _, side := range []Tip{ours, theirs} {
		for _, base := range bases {
			if err := j.sinceParting(ctx, base, side); err != nil {
				return err
			}
		}
	}
	if slices.Contains(bases, ours.ID) || slices.Contains(bases, theirs.ID) {
		return nil
	}
	return j.tips(ctx, ours.ID, theirs.ID, ours.Name, theirs.Name)
}

// sinceParting compares the logs of a merge base with those of one side.
func (j *judgement) sinceParting(ctx context.Context, base string, side Tip) error {
	if base == side.ID {
		return nil
	}
	changes, err := j.history.Changes(ctx, []Edge{{Parent: base, Child: side.ID}})
	if err != nil {
		return err
	}
	s, err := j.replacement(ctx, node{id: side.ID, parents: []string{base}}, changes, nil)
	if err != nil {
		return err
	}
	for _, c := range changes[0] {
		if !j.isLog(c.Path) || c.Old.Mode == "" {
			continue
		}
		told := len(j.report.Findings)
		if err := j.replacedLog(ctx, c, s, true, nil); err != nil {
			return err
		}
		for i := range j.report.Findings[told:] {
			f := &j.report.Findings[told+i]
			f.Message = fmt.Sprintf("on %s, %s", side.Name, f.Message)
			if f.ofLog() {
				f.Fix = fmt.Sprintf("before any merge, put back on %s what is there in %s (git show %s shows it), and append what is new after it",
					side.Name, short(base), shellQuote(short(base)+":"+c.Path))
			}
		}
	}
	return nil
}

// toMerge says which branch is to be merged: of a range one stands on the head,
// of a prediction on the first of the two.
func (j *judgement) toMerge(target, head Tip) string {
	if !j.predicts {
		return "git merge " + shellQuote(target.Name)
	}
	name := head.Name
	if strings.HasPrefix(name, "HEAD") || strings.HasPrefix(name, "@") {
		name = short(head.ID) // HEAD is another commit where one stands on the other branch
	}
	return "git merge " + shellQuote(name)
}

// withoutEdited reports whether two tips are one writer's work but for the
// edits that are told already, whichever side made them: without the entries
// that were changed, moved, lost or put in between, one holds the other.
func (t *tipsView) withoutEdited(explained map[small.Digest]bool, equal equivalence) bool {
	if len(explained) == 0 {
		return false
	}
	edited := equal.classes(explained)
	rest := func(l *small.Ledger) []small.Digest {
		return slices.DeleteFunc(digestsOf(l), func(d small.Digest) bool { return edited[equal.class(d)] })
	}
	target, head := rest(t.target), rest(t.head)
	a, b := equal.view(target, head)
	there := relate(a.digests, b.digests)
	a, b = equal.view(head, target)
	back := relate(a.digests, b.digests)
	return there == identical || there == extended || back == extended
}
