package run

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
)

// waiver finds the waiver that excuses a finding: the same edit of the same log,
// under the rule or one that says the same of it. Of an edit that several waivers
// excuse, one after the other, it is the last.
func (c *collector) waiver(of *rule.Rule, f finding.Finding) *policy.Waiver {
	if f.EditFrom == "" && f.EditTo == "" {
		return nil
	}
	for i := range c.policy.Waivers {
		w := &c.policy.Waivers[i]
		if c.applies(w, f) && sameEdit(w, of) && ledger.DigestText(w.From) == f.EditFrom && ledger.DigestText(w.To) == f.EditTo {
			c.used[i] = true
			return w
		}
	}
	if !of.Edit.Has(ledger.EntryChanged | ledger.EntryLost) {
		return nil
	}
	chain := c.waiverChain(f, f.EditFrom, map[string]bool{})
	for _, i := range chain {
		c.used[i] = true
	}
	if len(chain) == 0 {
		return nil
	}
	return &c.policy.Waivers[chain[len(chain)-1]]
}

// waiverChain finds waivers that lead from one version of an entry to what a
// finding says became of it, one after the other: their numbers, none if there
// are none. seen are the versions from which it has looked.
func (c *collector) waiverChain(f finding.Finding, from string, seen map[string]bool) []int {
	seen[from] = true
	for i := range c.policy.Waivers {
		w := &c.policy.Waivers[i]
		if !c.applies(w, f) || !w.Edit.Has(ledger.EntryChanged|ledger.EntryLost) || ledger.DigestText(w.From) != from {
			continue
		}
		to := ledger.DigestText(w.To)
		if to == f.EditTo {
			return []int{i}
		}
		if w.To == nil || seen[to] {
			continue
		}
		if rest := c.waiverChain(f, to, seen); rest != nil {
			return append([]int{i}, rest...)
		}
	}
	return nil
}

// applies reports whether a waiver is one of a finding's log, and holds.
func (c *collector) applies(w *policy.Waiver, f finding.Finding) bool {
	return (w.Path == f.Path || w.Path == f.OldPath) && !w.Expired(c.now)
}

// sameEdit reports whether a waiver's rule is another or says the same of an entry.
func sameEdit(w *policy.Waiver, of *rule.Rule) bool {
	return w.Rule == of.ID || w.Edit.Has(of.Edit&(ledger.EntryChanged|ledger.EntryLost))
}
