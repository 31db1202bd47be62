package finding

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

const policySeparator = "; "

// Combine makes one report of several from one command, such as a push of several refs. The worst verdict counts; what
// was examined is added up; every policy is named; base, head and branch are kept only if there is one report.
func Combine(reports []*Report) *Report {
	if len(reports) == 1 {
		return reports[0]
	}
	out := *reports[0]
	out.Findings, out.Waived, out.More, out.Ledgers = nil, nil, Counts{}, nil
	out.Hidden, out.Uncommitted = nil, 0
	out.Examined.Commits, out.Examined.Workspaces, out.Examined.Workflows = 0, 0, 0
	out.Examined.Base, out.Examined.Head, out.Examined.Branch = "", "", ""
	out.Commits = nil
	out.Observe = true
	type ledgerKey struct {
		path string
		head small.Digest
	}
	seen := map[ledgerKey]bool{}
	var policies []string
	listing := 0 // how many reports have findings; those of one are sorted already
	for _, r := range reports {
		if len(r.Findings)+len(r.Waived) > 0 {
			listing++
		}
		out.More = out.More.plus(r.More)
		out.Findings = append(out.Findings, r.Findings...)
		out.Waived = append(out.Waived, r.Waived...)
		out.Examined.Commits += r.Examined.Commits
		out.Examined.Workspaces += r.Examined.Workspaces
		out.Examined.Workflows += r.Examined.Workflows
		for _, l := range r.Ledgers {
			if key := (ledgerKey{l.Path, l.Head}); !seen[key] {
				seen[key] = true
				out.Ledgers = append(out.Ledgers, l)
			}
		}
		out.Commits = append(out.Commits, r.Commits...)
		if out.Lane == nil {
			out.Lane = r.Lane
		}
		for name := range strings.SplitSeq(r.Examined.Policy, policySeparator) {
			if !slices.Contains(policies, name) {
				policies = append(policies, name)
			}
		}
		out.Observe = out.Observe && (r.Observe || r.Verdict == Pass)
		out.Strict = out.Strict || r.Strict
		out.Uncommitted += r.Uncommitted
		for _, h := range r.Hidden {
			if !slices.ContainsFunc(out.Hidden, func(o HiddenLog) bool { return o.Path == h.Path && o.Root == h.Root }) {
				out.Hidden = append(out.Hidden, h)
			}
		}
		if worse(r.Verdict, out.Verdict) {
			out.Verdict, out.Failure = r.Verdict, r.Failure
		}
	}
	out.Examined.Policy = strings.Join(policies, policySeparator)
	if listing > 1 {
		out.bound()
	}
	return &out
}

func worse(a, b Verdict) bool {
	rank := map[Verdict]int{Pass: 0, Fail: 1, Error: 2}
	return rank[a] > rank[b]
}

// AddFloor adds the report under a floor to the report on the same change under the repository's policy. The worse verdict counts. Findings
// that only the floor raises say so, with its name.
func AddFloor(own, floor *Report, name string) *Report {
	second := *floor
	second.Findings, second.Uncommitted = slices.Clone(floor.Findings), 0 // own counts the same entries
	for i := range second.Findings {
		f := &second.Findings[i]
		if !slices.ContainsFunc(own.Findings, func(g Finding) bool {
			return g.Rule == f.Rule && g.Commit == f.Commit && g.Message == f.Message && g.Fingerprint() == f.Fingerprint()
		}) {
			f.Message += "; " + name + " demands it, whatever the repository's configuration says"
		}
	}
	out := Combine([]*Report{own, &second})
	out.Examined = own.Examined
	out.Examined.Floor = name
	return out
}

// SayFixInClone says of the fixes of a report that their commands need a work tree, which a bare repository has not.
func (r *Report) SayFixInClone() {
	for i := range r.Findings {
		if f := &r.Findings[i]; strings.Contains(f.Fix, "`") {
			f.Fix = "In a clone, whose result is then pushed: " + f.Fix
		}
	}
}

// InTree has the fixes of a report done in the work tree with a root, wherever they are typed.
func (r *Report) InTree(root string) {
	for i := range r.Findings {
		r.Findings[i].Fix = wording.RunIn(root, r.Findings[i].Fix)
	}
	for i := range r.Hidden {
		r.Hidden[i].Root = root
	}
	if r.Failure != nil {
		f := *r.Failure // it may be shared
		f.Remedy = wording.RunIn(root, f.Remedy)
		r.Failure = &f
	}
}
