package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/policy"
)

// notePolicy notes that a commit edits the configuration. A merge edits it if it
// has another one than each of its parents: otherwise it takes over what was
// edited, and noted, elsewhere. What is about to be committed is compared with
// HEAD alone, whose configuration is the trusted one. In a whole history the
// configurations of its own are no change.
func (s *scope) notePolicy(n Commit, changes [][]Change) {
	if s.whole {
		return
	}
	if n.ID == Index {
		changes = changes[:1]
	}
	var edit Change
	for _, edge := range changes {
		at := slices.IndexFunc(edge, func(c Change) bool { return c.Path == policy.File })
		if at < 0 {
			return
		}
		edit = edge[at]
	}
	s.policyChange = edit
}

// judgePolicy judges the configuration beside what it was applied to. Where a whole
// history was judged, a waiver that excused nothing is of no use.
func judgePolicy(r *run, _ context.Context) error {
	v := &PolicyState{
		Place: Place{Commit: r.scope.tip.ID}, policy: r.src.policy,
		changed: r.scope.policyChange, mismatched: r.src.mismatched, unions: r.scope.unions,
	}
	for i, w := range r.src.policy.Waivers {
		switch {
		case w.Expired(r.src.now):
			v.expired = append(v.expired, w)
		case r.scope.whole && !r.out.used[i]:
			v.unused = append(v.unused, w)
		}
	}
	r.out.judge(v)
	return nil
}
