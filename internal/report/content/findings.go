package content

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
)

// BySeverity sorts findings by severity, the gravest first, and otherwise keeps their order.
func BySeverity(findings []finding.Finding) []*finding.Finding {
	out := make([]*finding.Finding, len(findings))
	for i := range findings {
		out[i] = &findings[i]
	}
	slices.SortStableFunc(out, func(a, b *finding.Finding) int {
		switch {
		case a.Severity.Exceeds(b.Severity):
			return -1
		case b.Severity.Exceeds(a.Severity):
			return 1
		}
		return 0
	})
	return out
}

// GroupBy groups findings by key, in the order of the first ones.
func GroupBy[K comparable](findings []*finding.Finding, key func(*finding.Finding) K) [][]*finding.Finding {
	var out [][]*finding.Finding
	at := map[K]int{}
	for _, f := range findings {
		n, known := at[key(f)]
		if !known {
			n = len(out)
			at[key(f)] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], f)
	}
	return out
}

// Groups groups findings of the same rule, commit and file. If there are many warnings of a rule in a file, as after a rebase, they form one group for
// all commits. Errors come first, because not everything may be shown.
func Groups(findings []finding.Finding) [][]*finding.Finding {
	type key struct {
		severity                   finding.Severity
		rule, path, commit, parent string
	}
	warnings := map[[2]string]int{}
	for i := range findings {
		if findings[i].Severity == finding.SeverityWarning {
			warnings[[2]string{findings[i].Rule, findings[i].Path}]++
		}
	}
	return GroupBy(BySeverity(findings), func(f *finding.Finding) key {
		if f.Severity == finding.SeverityWarning && warnings[[2]string{f.Rule, f.Path}] > maxInGroup {
			return key{f.Severity, f.Rule, f.Path, "", ""}
		}
		return key{f.Severity, f.Rule, f.Path, f.Commit, f.Parent}
	})
}

// OfOneCommit reports whether the findings of a group are all in one commit, or in none.
func OfOneCommit(group []*finding.Finding) bool {
	return !slices.ContainsFunc(group, func(f *finding.Finding) bool { return f.Commit != group[0].Commit })
}

// MostShown returns the largest number of findings of a group that are shown; it is one if they are in several commits.
func MostShown(group []*finding.Finding) int {
	if !OfOneCommit(group) {
		return 1
	}
	return min(len(group), maxInGroup)
}

// Shown returns how many findings of each group are shown, MaxFindings at most: first one of each rule, so that many of one rule do not
// hide another, then as many as MostShown allows, group by group.
func Shown(groups [][]*finding.Finding) []int {
	shown, known, room := make([]int, len(groups)), map[string]bool{}, MaxFindings
	for i, group := range groups {
		if rule := group[0].Rule; !known[rule] && room > 0 {
			known[rule] = true
			shown[i] = 1
			room--
		}
	}
	for i, group := range groups {
		more := max(0, min(MostShown(group)-shown[i], room))
		shown[i] += more
		room -= more
	}
	return shown
}

// ByRule counts all findings by rule; empty if all of them are shown.
func ByRule(findings []finding.Finding) string {
	if len(findings) <= MaxFindings {
		return ""
	}
	return CountRules(BySeverity(findings))
}

// Heading returns the first message of a group and the number of further ones. show shortens and escapes the message.
func Heading(group []*finding.Finding, show func(string) string) string {
	words := show(group[0].Message)
	if n := len(group) - 1; n > 0 {
		words += fmt.Sprintf(" (and %d more)", n)
	}
	return words
}

// CountRules names the rules of findings, and how often each is broken.
func CountRules(findings []*finding.Finding) string {
	groups := GroupBy(findings, func(f *finding.Finding) string { return f.Rule })
	var parts []string
	for i, group := range groups {
		if i == maxRules {
			parts = append(parts, wording.Count(len(groups)-i, "more rule"))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", Name(group[0].Rule), len(group)))
	}
	return strings.Join(parts, ", ")
}

// Identities gives each finding the name by which a platform recognizes it in another run: its fingerprint. Several findings may have the same
// fingerprint, because one edit can be found in two commits; platforms would show only one of them, so the later ones get a number.
func Identities(lists ...[]finding.Finding) map[*finding.Finding]string {
	out := map[*finding.Finding]string{}
	seen := map[string]int{}
	for _, list := range lists {
		for i := range list {
			name := list[i].Fingerprint()
			seen[name]++
			if n := seen[name]; n > 1 {
				name += ":" + strconv.Itoa(n)
			}
			out[&list[i]] = name
		}
	}
	return out
}

// Places says where a platform that shows the head's files shows a finding.
type Places struct {
	report *finding.Report
	// entries maps paths and timestamps of the logs' entries to their lines; nil until it is needed.
	entries map[[2]string]lineRange
}

// lineRange is the lines of an entry; to is exclusive.
type lineRange struct{ from, to int }

// PlacesOf returns the places of a report's findings.
func PlacesOf(r *finding.Report) *Places { return &Places{report: r} }

// index fills entries.
func (p *Places) index() {
	p.entries = map[[2]string]lineRange{}
	for _, l := range p.report.Ledgers {
		for i, e := range l.Log {
			lines := lineRange{e.Line, math.MaxInt}
			if i+1 < len(l.Log) {
				lines.to = l.Log[i+1].Line
			}
			if _, known := p.entries[[2]string{l.Path, e.Timestamp}]; !known {
				p.entries[[2]string{l.Path, e.Timestamp}] = lines
			}
		}
	}
}

// Path returns the path itself or, if it is empty, that of the first judged log, to be shown instead.
func (p *Places) Path(path string) string {
	for _, l := range p.report.Ledgers {
		path = cmp.Or(path, l.Path)
	}
	return cmp.Or(path, ".small")
}

// Line returns a finding's line in the file as of the head. The finding has the line as of its own commit, and the entry may have moved since. The
// timestamp, which is unique in a log, identifies the entry; if the head does not have it, Line returns the line as it is.
func (p *Places) Line(f *finding.Finding) int {
	if f.Commit == "" || f.Commit == p.report.Examined.Head {
		return f.Line
	}
	if p.entries == nil {
		p.index()
	}
	for _, e := range []*finding.EntryRef{f.EntryAfter, f.Entry} {
		if e == nil || e.Timestamp == "" {
			continue
		}
		lines, there := p.entries[[2]string{f.Path, e.Timestamp}]
		if !there {
			continue
		}
		within := f.Line - e.Line // the line within its entry
		if e.Line > 0 && within > 0 && lines.from+within < lines.to && f.EditTo != "" {
			return lines.from + within
		}
		return lines.from
	}
	return f.Line
}
