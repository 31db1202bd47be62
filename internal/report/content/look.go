package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// Task returns an entry's task; a switch has none.
func Task(e *finding.Recorded) string {
	if e.Noun != "" {
		return "(" + e.Noun + ")"
	}
	return NameOr(e.TaskID, "no task_id")
}

// Owner names the person or agent who made an entry.
func Owner(e *finding.Recorded) string { return NameOr(e.By.Name(), "nobody known") }

// OwnerInFull also says by what sign the entry is an agent's, and who made the commit.
func OwnerInFull(e *finding.Recorded) string {
	out := Owner(e)
	if e.By.How != "" {
		out += " (an agent: " + Text(e.By.How) + ")"
	}
	if e.By.Agent != "" && e.By.Author != "" {
		out += ", committed by " + Name(e.By.Author)
	}
	return out
}

// LookCommit returns the abbreviated id of the commit that added an entry.
func LookCommit(e *finding.Recorded) string {
	if e.Commit.ID == "" {
		return "uncommitted"
	}
	return Abbreviate(e.Commit.ID)
}

// LookCommitInFull also describes the commit.
func LookCommitInFull(e *finding.Recorded) string {
	if e.Commit.ID == "" {
		return "not committed yet"
	}
	day, _, _ := strings.Cut(e.Commit.Date, "T")
	return strings.TrimSpace(strings.Join([]string{Name(e.Commit.ID), Name(day), Name(e.Commit.Subject)}, " "))
}
