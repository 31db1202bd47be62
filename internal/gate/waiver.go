package gate

import "github.com/small-gate/small-gate/internal/policy"

// waiver finds the waiver that excuses a finding: the same edit of the same log,
// under the rule or one that says the same of it. Of an edit that several waivers
// excuse, one after the other, it is the last.
func (j *judgement) waiver(f Finding) *policy.Waiver {
	if f.EditFrom == "" && f.EditTo == "" {
		return nil
	}
	for i := range j.opts.Policy.Waivers {
		w := &j.opts.Policy.Waivers[i]
		if j.applies(w, f) && sameRule(w.Rule, f.Rule) && digestText(w.From) == f.EditFrom && digestText(w.To) == f.EditTo {
			j.used[i] = true
			return w
		}
	}
	if !modifying[f.Rule] && !losing[f.Rule] {
		return nil
	}
	chain := j.waiverChain(f, f.EditFrom, map[string]bool{})
	for _, i := range chain {
		j.used[i] = true
	}
	if len(chain) == 0 {
		return nil
	}
	return &j.opts.Policy.Waivers[chain[len(chain)-1]]
}

// waiverChain finds waivers that lead from one version of an entry to what a
// finding says became of it, one after the other: their numbers, none if there
// are none. seen are the versions from which it has looked.
func (j *judgement) waiverChain(f Finding, from string, seen map[string]bool) []int {
	seen[from] = true
	for i := range j.opts.Policy.Waivers {
		w := &j.opts.Policy.Waivers[i]
		if !j.applies(w, f) || !modifying[w.Rule] && !losing[w.Rule] || digestText(w.From) != from {
			continue
		}
		to := digestText(w.To)
		if to == f.EditTo {
			return []int{i}
		}
		if w.To == nil || seen[to] {
			continue
		}
		if rest := j.waiverChain(f, to, seen); rest != nil {
			return append([]int{i}, rest...)
		}
	}
	return nil
}

// applies reports whether a waiver is one of a finding's log, and holds.
func (j *judgement) applies(w *policy.Waiver, f Finding) bool {
	return (w.Path == f.Path || w.Path == f.was) && !w.Expired(j.opts.Now)
}

func sameRule(a, b string) bool {
	return a == b || modifying[a] && modifying[b] || losing[a] && losing[b]
}
