package run

import (
	"cmp"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
)

// sharedEffects are the effects of edits that a waiver allows no matter under which rule they are reported.
const sharedEffects = ledger.EntryChanged | ledger.EntryLost | ledger.EntryInserted | ledger.LogEnded

// findWaiver finds the waiver that allows the edit of a finding: it names the same edit of the same log, and the finding's rule or one that
// reports the same effect. If a chain of waivers allows the edit, it returns the last one.
func (c *Collector) findWaiver(of *rule.Rule, f finding.Finding) *policy.Waiver {
	if f.EditFrom == "" && f.EditTo == "" {
		return nil
	}
	effect := of.Edit
	if f.Moved {
		effect = 0
	}
	for _, i := range c.waiversFrom(f.EditFrom) {
		w := &c.policy.Waivers[i]
		if c.appliesTo(w, f) && (w.Rule == of.ID || w.Edit.Has(effect&sharedEffects)) && ledger.DigestText(w.To) == f.EditTo {
			c.usedWaivers[i] = true
			return w
		}
	}
	if !effect.Has(ledger.EntryChanged | ledger.EntryLost) {
		return nil
	}
	chain := c.findWaiverChain(f, f.EditFrom, map[string]bool{})
	for _, i := range chain {
		c.usedWaivers[i] = true
	}
	if len(chain) == 0 {
		return nil
	}
	return &c.policy.Waivers[chain[len(chain)-1]]
}

// waiversFrom returns the indexes of the waivers whose From, as text, is this one; "" stands for none.
func (c *Collector) waiversFrom(from string) []int {
	if c.waiversByFrom == nil {
		c.waiversByFrom = map[string][]int{}
		for i := range c.policy.Waivers {
			text := ledger.DigestText(c.policy.Waivers[i].From)
			c.waiversByFrom[text] = append(c.waiversByFrom[text], i)
		}
	}
	return c.waiversByFrom[from]
}

// findApproval finds the waiver that approves the rewrite of a whole log.
func (c *Collector) findApproval(place rule.Place) *policy.Waiver {
	for i := range c.policy.Waivers {
		w := &c.policy.Waivers[i]
		if w.OfLog && w.Path == place.Allowed && w.From != nil && *w.From == place.From && w.To != nil && *w.To == place.To && !w.Expired(c.now) {
			c.usedWaivers[i] = true
			return w
		}
	}
	return nil
}

// findWaiverChain finds waivers that, one after the other, let the version from of an entry become what the finding says became of it. It returns
// their indexes. seen holds the versions that were tried already.
func (c *Collector) findWaiverChain(f finding.Finding, from string, seen map[string]bool) []int {
	seen[from] = true
	for _, i := range c.waiversFrom(from) {
		w := &c.policy.Waivers[i]
		if !c.appliesTo(w, f) || !w.Edit.Has(ledger.EntryChanged|ledger.EntryLost) {
			continue
		}
		to := ledger.DigestText(w.To)
		if to == f.EditTo {
			return []int{i}
		}
		if w.To == nil || seen[to] {
			continue
		}
		if rest := c.findWaiverChain(f, to, seen); rest != nil {
			return append([]int{i}, rest...)
		}
	}
	return nil
}

// appliesTo reports whether a waiver is for a finding's log and has not expired.
func (c *Collector) appliesTo(w *policy.Waiver, f finding.Finding) bool {
	return (w.Path == f.Path || w.Path == f.OldPath) && !w.Expired(c.now)
}

// ExplainProposed changes the findings that a proposed configuration would allow, by a baseline, by a waiver of the edit, or by approving the rewrite
// of the log: they then say that it does not count yet. approves reports whether it approves the rewrite that a finding is about. fix returns the
// remedy for a commit and a log; if that is empty, the finding keeps its own.
func (c *Collector) ExplainProposed(proposed *policy.Policy, approves func(finding.Finding) (bool, error), fix func(commit, path string) string) error {
	byProposed := &Collector{policy: proposed, now: c.now, usedWaivers: map[int]bool{}}
	for i := range c.Report.Findings {
		f := &c.Report.Findings[i]
		if f.Fix == remedy.CommittedBefore && proposed.BaselineFor(f.Path) != nil && c.policy.BaselineFor(f.Path) == nil {
			f.Message += "; the baseline in this change counts once the target branch has it"
			f.Fix = "have a person bring the baseline to the target branch first, in a change of its own without new work"
			continue
		}
		at := slices.IndexFunc(c.Rules, func(r rule.Rule) bool { return r.ID == f.Rule })
		if at < 0 {
			continue
		}
		allowed := byProposed.findWaiver(&c.Rules[at], *f) != nil
		if !allowed && c.Rules[at].Edit.Has(sharedEffects) {
			var err error
			if allowed, err = approves(*f); err != nil {
				return err
			}
		}
		if !allowed {
			continue
		}
		f.Message += "; the waiver in this change counts once the target branch has it: push it first"
		f.Fix = cmp.Or(fix(cmp.Or(f.Commit, history.Index), f.Path), f.Fix)
	}
	return nil
}
