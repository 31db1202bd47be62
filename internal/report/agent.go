package report

import "github.com/small-gate/small-gate/internal/gate/finding"

// ForAgent is what an agent reads of a report, in at most limit bytes.
func ForAgent(r *finding.Report, limit int) string {
	return ""
}
