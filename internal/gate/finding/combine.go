package finding

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

const policySeparator = "; "

// Combine makes one report of several from one command, such as a push of several refs. The worst verdict counts; what
// was examined is added up; every policy is named; base, head, branch and merge are kept only if there is one report.
func Combine(reports []*Report) *Report {
	if len(reports) == 1 {
		return reports[0]
	}
	out := *reports[0]
	out.Findings, out.Waived, out.More, out.Ledgers = nil, nil, Counts{}, nil
	out.Hidden, out.Uncommitted = nil, 0
	out.Examined.Commits, out.Examined.Workspaces, out.Examined.Logs, out.Examined.Workflows = 0, 0, 0, 0
	out.Examined.Base, out.Examined.Head, out.Examined.Branch, out.Examined.Merge, out.Examined.Notes = "", "", "", "", nil
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
		out.Examined.Logs += r.Examined.Logs
		out.Examined.Workflows += r.Examined.Workflows
		for _, note := range r.Examined.Notes {
			if !slices.Contains(out.Examined.Notes, note) {
				out.Examined.Notes = append(out.Examined.Notes, note)
			}
		}
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
		if isWorse(r.Verdict, out.Verdict) {
			out.Verdict, out.Failure = r.Verdict, r.Failure
		}
	}
	out.Examined.Policy = strings.Join(policies, policySeparator)
	if listing > 1 {
		out.bound()
	}
	return &out
}

func isWorse(a, b Verdict) bool {
	rank := map[Verdict]int{Pass: 0, Fail: 1, Error: 2}
	return rank[a] > rank[b]
}

// AddFloor combines two reports on one change: own is under the repository's configuration, floor under a floor. The worse verdict counts.
// Findings that only the floor makes say so, with its name.
func AddFloor(own, floor *Report, name string) *Report {
	second := *floor
	second.Findings, second.Uncommitted = slices.Clone(floor.Findings), 0 // own has counted the same entries
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

// AddInClone adds to each fix with commands that they are typed in a clone: a bare repository has no work tree.
func (r *Report) AddInClone() {
	for i := range r.Findings {
		if f := &r.Findings[i]; strings.Contains(f.Fix, "`") {
			f.Fix = "In a clone, whose result is then pushed: " + f.Fix
		}
	}
}

// RunFixesIn makes the commands of all fixes run in the work tree with this root, wherever they are typed.
func (r *Report) RunFixesIn(root string) {
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
