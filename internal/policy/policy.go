// Package policy holds what a repository may set about its own gate:
// configuration, waivers and baselines. It works on bytes and values and does no
// I/O: the caller reads the bytes, and makes sure that their place is trusted.
package policy

import (
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// File is the configuration's path in the repository's root.
const File = ".small-gate.yml"

// Level is the severity that the configuration gives a rule.
type Level string

// The levels of a rule.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Off     Level = "off"
)

// Mode says whether findings decide the exit status.
type Mode string

// The modes. Observe turns exit status 1 into 0. It leaves 2 as it is, and the
// report still has the verdict fail.
const (
	Enforce Mode = "enforce"
	Observe Mode = "observe"
)

// Scope says from when an entry is final, so that amending a commit must not change it.
type Scope string

// The scopes: an entry is final once it is committed, or once a remote-tracking
// branch has it.
const (
	Committed Scope = "committed"
	Published Scope = "published"
)

// Policy is one configuration with the defaults filled in. The zero Policy is
// not valid; Default returns a valid one.
type Policy struct {
	// Source says where the policy was read, for the report: a revision, a file,
	// or BuiltIn.
	Source string
	// OutsideRepo is true if the policy comes from a file that the caller named, not from the judged repository.
	OutsideRepo bool
	Strict      bool
	Mode        Mode
	// Include and Exclude are glob patterns (with **) for the paths of
	// workspaces' .small directories.
	Include, Exclude []string
	// Rules gives levels by rule id. A rule that is absent keeps its own severity.
	Rules map[string]Level
	Scope Scope
	// AgentAuthors are glob patterns for author names and addresses of agents.
	AgentAuthors []string
	// AgentTrailers maps the name of a commit trailer to glob patterns for the
	// values that name agents.
	AgentTrailers map[string][]string
	// Robots are glob patterns for author names and addresses of programs that make changes and keep no log.
	Robots []string
	// Extensions are the keys that entries may have in addition to the protocol's.
	Extensions []string
	Waivers    []Waiver
	Baselines  []Baseline
	// MaxFileSize is the size in bytes of the largest file that is read; 0 means the built-in limit.
	MaxFileSize int64
	// Logs are the stanzas of logs. The first that matches a path counts. The protocol's own logs need none.
	Logs []Log
	// Sections are the settings of rule families, by section key. It has only the keys that the configuration has.
	Sections map[string]Settings
}

// Waiver allows exactly one edit or, if OfLog, one rewrite of a log as a whole.
type Waiver struct {
	// OfLog is true if the waiver allows a rewrite as a whole. It then has no rule, and From and To are the ledger's heads before and after the
	// rewrite (docs/logs.md, "A rewrite as a whole").
	OfLog bool
	// Rule is the id of the rule whose finding is waived; empty if OfLog.
	Rule string
	// Edit is the effect on the log that the rule's findings report.
	Edit ledger.EditEffect
	// Path is the log's path from the repository's root, with slashes. In a log of files it is that of one file.
	Path string
	// From and To are the digests of the entry before and after the edit. To is
	// nil for a deletion, From for an insertion. For append-only/log-deleted
	// From is the ledger's head.
	From, To *small.Digest
	Reason   string
	// Until is the beginning (UTC) of the last day on which the waiver counts;
	// zero if it never expires.
	Until time.Time
	// Pos is where the stanza is in the configuration.
	Pos small.Pos
}

// Expired reports whether the waiver's last day is over at now.
func (w Waiver) Expired(now time.Time) bool {
	return !w.Until.IsZero() && !now.Before(w.Until.AddDate(0, 0, 1))
}

// Baseline accepts the first entries of a log as they are.
type Baseline struct {
	// Path is the log's path from the repository's root.
	Path string
	// Entries is the number of accepted entries, and Head the ledger's head after the last of them.
	Entries int
	Head    small.Digest
	Reason  string
	// Pos is where the stanza is in the configuration.
	Pos small.Pos
}

// BuiltIn is the Source of a policy that no configuration was read for.
const BuiltIn = "built-in defaults"

// Default returns the policy of a repository without a configuration.
func Default() *Policy {
	return &Policy{
		Source:        BuiltIn,
		Mode:          Enforce,
		Scope:         Committed,
		Include:       []string{"**"},
		Exclude:       []string{"**/testdata/**", "**/fixtures/**", "**/vendor/**", "**/node_modules/**"},
		Rules:         map[string]Level{},
		AgentAuthors:  []string{"*[[]bot]*"},
		AgentTrailers: map[string][]string{"Co-authored-by": {"Claude*", "Copilot*"}},
		Robots:        []string{"dependabot*", "renovate*", "github-actions*", "pre-commit-ci*", "release-please*", "allcontributors*"},
	}
}

// ForOldCommits returns the policy for judging commits that landed earlier: waivers do not expire, and the baselines that only a proposed
// configuration has count too (added). proposed is nil if there is none.
func (p *Policy) ForOldCommits(proposed *Policy) (old *Policy, added []Baseline) {
	out := *p
	out.Waivers, out.Baselines = slices.Clone(p.Waivers), slices.Clone(p.Baselines)
	for i := range out.Waivers {
		out.Waivers[i].Until = time.Time{}
	}
	if proposed != nil {
		added = p.missingBaselines(proposed)
		out.Baselines = append(out.Baselines, added...)
	}
	return &out, added
}

// WithAccepted returns the policy with the waivers and baselines of another one added. Where both waive the same edit, the other's waiver counts.
func (p *Policy) WithAccepted(other *Policy) *Policy {
	out := *p
	out.Waivers = slices.Clone(other.Waivers)
	waived := make(map[string]bool, len(other.Waivers))
	for _, w := range other.Waivers {
		waived[w.editKey()] = true
	}
	for _, own := range p.Waivers {
		if !waived[own.editKey()] {
			out.Waivers = append(out.Waivers, own)
		}
	}
	out.Baselines = append(slices.Clip(p.Baselines), p.missingBaselines(other)...)
	return &out
}

// HasAllBaselinesOf reports whether the policy has every baseline of another one.
func (p *Policy) HasAllBaselinesOf(other *Policy) bool { return len(p.missingBaselines(other)) == 0 }

// missingBaselines returns another policy's baselines that this one does not have.
func (p *Policy) missingBaselines(other *Policy) (missing []Baseline) {
	for _, b := range other.Baselines {
		same := func(own Baseline) bool { return own.Path == b.Path && own.Entries == b.Entries && own.Head == b.Head }
		if !slices.ContainsFunc(p.Baselines, same) {
			missing = append(missing, b)
		}
	}
	return missing
}

// BaselineFor returns the baseline of the log at a path; nil if there is none.
// If several are for one path, the last counts.
func (p *Policy) BaselineFor(path string) *Baseline {
	for i := len(p.Baselines) - 1; i >= 0; i-- {
		if p.Baselines[i].Path == path {
			return &p.Baselines[i]
		}
	}
	return nil
}

// Rejects reports whether a finding of a rule rejects a change. It is for rules whose own severity is error.
func (p *Policy) Rejects(rule string) bool {
	level, set := p.Rules[rule]
	return p.Mode == Enforce && (!set || level == Error)
}

// RejectsDuplicates reports whether it is an error, in any mode, to add an entry to a configured log that has an equal one. If the configuration
// gives the rule no level, it is one in logs whose identity has the key only.
func (p *Policy) RejectsDuplicates(log *Log) bool {
	level, set := p.Rules["divergence/duplicate-entry"]
	return level == Error || !set && len(log.Identity.Only) > 0
}

// editKey returns the same text for two waivers if and only if they waive the same edit.
func (w Waiver) editKey() string {
	return w.Rule + "\x00" + w.Path + "\x00" + ledger.DigestText(w.From) + "\x00" + ledger.DigestText(w.To)
}
