package ledger

import (
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

type tipsOutcome int

// The outcomes.
const (
	Linear       tipsOutcome = iota // one continues the other, or the order is made explicit
	Unreconciled                    // one is a subsequence of the other, and no entry makes that explicit
	Diverged                        // each has entries that the other lacks
)

// Divergence tells how the logs of two branches compare. The head is to be merged into the target.
type Divergence struct {
	Target, Head *Ledger
	Outcome      tipsOutcome
	// Inserted are the entries that one branch put before older ones of the other.
	Inserted []Entry
	// InsertedByTarget is true if the target inserted them, not the head.
	InsertedByTarget bool
	// TargetOnly and HeadOnly are the entries that only the target or only the head has.
	TargetOnly, HeadOnly []Entry
}

// Diverge compares the logs of two branches. They do not diverge if either may become the other. reported are entries whose edits were found
// on the edges of the range: differences that only they cause do not count.
func Diverge(target, head *Ledger, equal Equivalence, reported map[small.Digest]bool) *Divergence {
	equal.Older = true
	target, head = equal.ApplyRewrite(target, head), equal.ApplyRewrite(head, target)
	t := &Divergence{Target: target, Head: head}
	toHead := Relate(target, head, equal)
	toTarget := Relate(head, target, equal)
	if toHead.Allowed() || toTarget.Allowed() {
		return t
	}
	switch {
	case toHead.Relation == Interleaved:
		t.Outcome = Unreconciled
		t.Inserted = Pick(head, toHead.inserted)
	case toTarget.Relation == Interleaved:
		if t.headHasTargetExcept(reported, equal) {
			return t // the head lost the entries that it lacks, which is reported already
		}
		t.Outcome = Unreconciled
		t.Inserted, t.InsertedByTarget = Pick(target, toTarget.inserted), true
	default:
		t.TargetOnly = Only(target, head, equal)
		t.HeadOnly = Only(head, target, equal)
		if t.headHasTargetExcept(reported, equal) {
			return t
		}
		t.Outcome = Diverged
	}
	return t
}

// headHasTargetExcept reports whether the target is part of the head, without the entries whose edits are already reported. Then only one
// branch has written.
func (t *Divergence) headHasTargetExcept(reported map[small.Digest]bool, equal Equivalence) bool {
	if len(reported) == 0 {
		return false
	}
	old := equal.classesOf(reported)
	var rest []small.Digest
	for _, e := range t.Target.Entries {
		if !old[equal.Class(e.Digest)] {
			rest = append(rest, e.Digest)
		}
	}
	target, head := equal.normalize(rest, DigestsOf(t.Head))
	return Subsequence(target.digests, head.digests) != nil
}

// Transition is the step from one log to another.
type Transition struct {
	Relation   relation
	inserted   []int
	reconciled bool
}

// Allowed reports whether the second log equals or extends the first, or makes its insertions explicit.
func (r Transition) Allowed() bool {
	return r.Relation == identical || r.Relation == Extended || r.Relation == Interleaved && r.reconciled
}

// Relate tells how p became c. It does not check whether c became p.
func Relate(p, c *Ledger, equal Equivalence) Transition {
	if c.Extends(p) {
		return Transition{Relation: Extended}
	}
	p = equal.ApplyRewrite(p, c)
	pd, cd := equal.normalize(DigestsOf(p), DigestsOf(c))
	r := Transition{}
	var indexes []int
	if r.Relation, indexes = relateDigests(pd.digests, cd.digests); r.Relation == Interleaved {
		var reconcileEntry int
		r.inserted, reconcileEntry = findInsertions(p, c, cd, indexes)
		r.reconciled = reconcileEntry >= 0
	}
	return r
}

// Only lists the entries that a has and b lacks, with waivers applied: each entry of b cancels one equal entry of a.
func Only(a, b *Ledger, equal Equivalence) []Entry {
	there := map[small.Digest]int{}
	for _, e := range b.Entries {
		there[equal.Class(e.Digest)]++
	}
	var out []Entry
	for _, e := range a.Entries {
		class := equal.Class(e.Digest)
		if there[class] > 0 {
			there[class]--
			continue
		}
		if !equal.Dropped[e.Digest] && !equal.Accepted[e.Digest] {
			out = append(out, e)
		}
	}
	return out
}

// LinearWithout reports whether either log continues the other, without the entries whose edits are already reported.
func (t *Divergence) LinearWithout(reported map[small.Digest]bool, equal Equivalence) bool {
	if len(reported) == 0 {
		return false
	}
	classes := equal.classesOf(reported)
	rest := func(l *Ledger) []small.Digest {
		return slices.DeleteFunc(DigestsOf(l), func(d small.Digest) bool { return classes[equal.Class(d)] })
	}
	within := func(p, c []small.Digest) bool {
		parent, child := equal.normalize(p, c)
		relation, _ := relateDigests(parent.digests, child.digests)
		return relation == identical || relation == Extended
	}
	target, head := rest(t.Target), rest(t.Head)
	return within(target, head) || within(head, target)
}
