package html

import (
	"strconv"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
)

// maxUnfolded is the number of findings of a group above which they are folded.
const maxUnfolded = 5

// numbered is a finding with its number on the page.
type numbered struct {
	*finding.Finding
	number int
	waived bool
}

func (f numbered) id() string { return "f" + strconv.Itoa(f.number) }

func (f numbered) class() string {
	if f.waived {
		return "waived"
	}
	return string(content.LevelOf(f.Finding))
}

// group is the findings of one rule in one file and commit.
type group struct {
	ID, Class, Severity, Rule, Page, Title, Where string
	// Commit is empty if the findings are in several commits, or in none. Compared is the commit with which it was compared.
	Commit, Compared content.Commit
	// Pending is true if the findings are in files that are not committed.
	Pending bool
	// Fix has the steps of the fix; SameFix is the id of an earlier group with the same fix.
	Fix     []content.Step
	SameFix string
	Why     []string
	// Fold, if set, folds the findings and says how many there are.
	Fold string
	// Single is true for a group of one finding, which needs no separate title.
	Single bool
	Count  int
}

// findings writes the groups of findings: errors, then warnings, then waived ones.
func (p *page) findings() error {
	explained := map[string]bool{}
	for _, list := range []struct {
		section
		findings []finding.Finding
		waived   bool
	}{{section{"findings", "Findings"}, p.report.Findings, false}, {section{"waived", "Waived"}, p.report.Waived, true}} {
		if len(list.findings) == 0 {
			continue
		}
		if err := p.write("section", list.section); err != nil {
			return err
		}
		for _, findings := range content.Groups(list.findings) {
			if err := p.group(findings, list.waived, explained); err != nil {
				return err
			}
		}
		if err := p.write("close", nil); err != nil {
			return err
		}
	}
	return nil
}

// group writes one group if there is room. explained are the rules that the page has explained already.
func (p *page) group(findings []*finding.Finding, waived bool, explained map[string]bool) error {
	room := maxFindings - len(p.shown)
	if room <= 0 {
		p.hiddenFindings += len(findings)
		return nil
	}
	g := p.groupOf(findings, waived)
	if rule, known := catalogue.Find(findings[0].Rule); known && !explained[rule.ID] {
		g.Why = content.Paragraphs(rule.Why)
	}
	if fits, err := p.fit("group", g); err != nil || !fits {
		p.hiddenFindings += len(findings)
		return err
	}
	if first, said := p.fixes[findings[0].Fix]; said && len(g.Fix) > 0 {
		g.SameFix = first
	} else {
		p.fixes[findings[0].Fix] = g.ID
	}
	p.groups = append(p.groups, g)
	explained[findings[0].Rule] = true
	for i, f := range findings {
		n := numbered{Finding: f, number: len(p.shown) + 1, waived: waived}
		fits := i < room
		if fits {
			var err error
			if fits, err = p.fit("finding", p.cardOf(n, &g, findings[0])); err != nil {
				return err
			}
		}
		if !fits {
			p.hiddenFindings++
			continue
		}
		p.shown = append(p.shown, n)
	}
	return p.write("group-end", g)
}

func (p *page) groupOf(findings []*finding.Finding, waived bool) group {
	first := numbered{Finding: findings[0], waived: waived}
	g := group{
		ID: "g" + strconv.Itoa(len(p.groups)+1), Class: first.class(), Severity: string(first.Severity), Rule: content.Name(first.Rule),
		Count: len(findings), Fix: content.Steps(first.Fix), Single: len(findings) == 1,
	}
	g.Title = content.UpperFirst(content.Heading(findings, func(message string) string {
		title, _ := titleOf(message)
		return title
	}))
	if _, known := catalogue.Find(first.Rule); known {
		g.Page = content.RulePage(first.Rule)
	}
	if first.Path != "" {
		g.Where = content.Path(first.Path)
	}
	if waived {
		g.Severity, g.Fix = "waived", nil
	}
	if len(findings) > maxUnfolded {
		g.Fold = wording.Count(len(findings), "finding")
	}
	if !content.OfOneCommit(findings) {
		return g
	}
	g.Commit, g.Compared = content.CommitOf(p.report, first.Commit), content.CommitOf(p.report, first.Parent)
	g.Pending = first.Commit == "" && first.Parent != ""
	return g
}
