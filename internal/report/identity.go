package report

import (
	"strconv"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// identities gives each finding of a report the name under which a platform
// knows it again: its fingerprint. Where several have the same, since one edit
// can be found in two commits, the later ones get a number behind it, as
// platforms show only one of equal names.
func identities(lists ...[]finding.Finding) map[*finding.Finding]string {
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

// bySeverity lists findings with those first that block, in their order.
func bySeverity(findings []finding.Finding) []*finding.Finding {
	out := make([]*finding.Finding, 0, len(findings))
	for _, blocking := range []bool{true, false} {
		for i := range findings {
			if (findings[i].Severity == finding.SeverityError) == blocking {
				out = append(out, &findings[i])
			}
		}
	}
	return out
}

// filePath is the file that a finding is shown in, for formats that demand
// one: its own, else the first log that was looked at.
func filePath(r *finding.Report, f *finding.Finding) string {
	if f.Path != "" {
		return f.Path
	}
	for i := range r.Ledgers {
		if r.Ledgers[i].Path != "" {
			return r.Ledgers[i].Path
		}
	}
	return ".small"
}

// earlier returns the version of an entry that a finding compares with: that
// of the parent, where there is one.
func earlier(f *finding.Finding) *finding.EntryRef {
	if f.Entry == nil || f.EntryAfter == nil && f.EditFrom != f.Entry.Digest.String() {
		return nil
	}
	return f.Entry
}
