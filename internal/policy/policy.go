// Package policy holds what a repository may set about its own gate:
// configuration, waivers and the baseline. It works on bytes and values and
// does no I/O; where the bytes come from, and that it is a trusted place, is
// the caller's concern.
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

// The modes. Observe reports, but turns exit status 1 into 0; never 2, and the
// verdict stays fail.
const (
	Enforce Mode = "enforce"
	Observe Mode = "observe"
)

// Scope says which entries an amend may still fix.
type Scope string

// The scopes: an entry is fixed once committed, or once a remote-tracking
// branch holds it.
const (
	Committed Scope = "committed"
	Published Scope = "published"
)

// Policy is one configuration, defaults filled in. The zero Policy is not
// valid; Default makes one.
type Policy struct {
	// Source says where it was read, for the report: a revision, a file, or
	// "built-in defaults".
	Source string
	// OutsideRepo is true if it is not a file of the judged repository: the caller named it.
	OutsideRepo bool
	Strict      bool
	Mode        Mode
	// Include and Exclude are glob patterns (with **) for the paths of
	// workspaces' .small directories.
	Include, Exclude []string
	// Rules gives levels to rule ids; absent ones keep their own.
	Rules map[string]Level
	Scope Scope
	// AgentAuthors are glob patterns for author names and addresses of agents.
	AgentAuthors []string
	// AgentTrailers maps a commit trailer's name to glob patterns of values
	// that name agents.
	AgentTrailers map[string][]string
	// Robots are glob patterns for author names and addresses of programs that make changes and keep no log.
	Robots []string
	// Extensions are the keys that entries may have besides the protocol's.
	Extensions []string
	Waivers    []Waiver
	Baselines  []Baseline
	// MaxFileSize in bytes; 0 means the built-in limit.
	MaxFileSize int64
	// Logs are the stanzas of logs, of which the first that matches a path counts. The protocol's own logs need none.
	Logs []Log
	// Sections are the settings of families, by the keys that the configuration has.
	Sections map[string]Settings
}

// Waiver excuses exactly one edit or, if OfLog, one rewrite of a log as a whole.
type Waiver struct {
	// OfLog is true for the approval of a rewrite as a whole: it has no rule, and From and To are ledger heads (docs/logs.md, "A rewrite as a
	// whole").
	OfLog bool
	// Rule is empty if OfLog.
	Rule string
	// Edit is what the rule's findings say was done to the log.
	Edit ledger.EditEffect
	// Path of the log, slash-separated from the repository's root; of a log of files, one file.
	Path string
	// From and To are the digests of the entry before and after; To is nil for
	// a deletion, From is nil for an insertion. For append-only/log-deleted
	// From is the ledger's head.
	From, To *small.Digest
	Reason   string
	// Until is the last day (UTC) on which the waiver holds; zero means
	// without end.
	Until time.Time
	// Pos is where the stanza is in the configuration.
	Pos small.Pos
}

// Expired reports whether the waiver's last day has passed at now.
func (w Waiver) Expired(now time.Time) bool {
	return !w.Until.IsZero() && !now.Before(w.Until.AddDate(0, 0, 1))
}

// Baseline accepts the first entries of a log as they are.
type Baseline struct {
	Path    string
	Entries int
	Head    small.Digest
	Reason  string
	Pos     small.Pos
}

// BuiltIn is the Source of a policy that was read from nowhere.
const BuiltIn = "built-in defaults"

// Default is the policy of a repository without a configuration.
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

// Lasting is the policy for what was accepted earlier: waivers do not expire, and further baselines of a proposed
// configuration, nil for none, count too; added are those.
func (p *Policy) Lasting(proposed *Policy) (lasting *Policy, added []Baseline) {
	out := *p
	out.Waivers, out.Baselines = slices.Clone(p.Waivers), slices.Clone(p.Baselines)
	for i := range out.Waivers {
		out.Waivers[i].Until = time.Time{}
	}
	if proposed != nil {
		added = p.lacks(proposed)
		out.Baselines = append(out.Baselines, added...)
	}
	return &out, added
}

// WithAccepted is the policy with what another one accepts: its waivers, which count instead of own ones for the same edits, and its baselines.
func (p *Policy) WithAccepted(other *Policy) *Policy {
	out := *p
	out.Waivers = slices.Clone(other.Waivers)
	for _, own := range p.Waivers {
		if !slices.ContainsFunc(other.Waivers, func(w Waiver) bool { return w.edit() == own.edit() }) {
			out.Waivers = append(out.Waivers, own)
		}
	}
	out.Baselines = append(slices.Clip(p.Baselines), p.lacks(other)...)
	return &out
}

// HasBaselinesOf reports whether the policy has all baselines of another one.
func (p *Policy) HasBaselinesOf(other *Policy) bool { return len(p.lacks(other)) == 0 }

// lacks are another policy's baselines that this one does not have.
func (p *Policy) lacks(other *Policy) (lacking []Baseline) {
	for _, b := range other.Baselines {
		same := func(own Baseline) bool { return own.Path == b.Path && own.Entries == b.Entries && own.Head == b.Head }
		if !slices.ContainsFunc(p.Baselines, same) {
			lacking = append(lacking, b)
		}
	}
	return lacking
}

// BaselineFor returns the baseline of a log, nil if there is none. If several
// are for one path, the last counts.
func (p *Policy) BaselineFor(path string) *Baseline {
	for i := len(p.Baselines) - 1; i >= 0; i-- {
		if p.Baselines[i].Path == path {
			return &p.Baselines[i]
		}
	}
	return nil
}

// Rejects reports whether a finding of a rule rejects a change, if the rule's own severity is an error.
func (p *Policy) Rejects(rule string) bool {
	level, set := p.Rules[rule]
	return p.Mode == Enforce && (!set || level == Error)
}

// RejectsDuplicates reports whether a change is rejected that adds an entry to a log of the configuration although an equal one is there.
func (p *Policy) RejectsDuplicates(log *Log) bool {
	level, set := p.Rules["divergence/duplicate-entry"]
	return level == Error || !set && len(log.Identity.Only) > 0
}

// edit is a key for the edit of a waiver.
func (w Waiver) edit() string {
	return w.Rule + "\x00" + w.Path + "\x00" + ledger.DigestText(w.From) + "\x00" + ledger.DigestText(w.To)
}
