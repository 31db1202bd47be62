package run

import (
	"cmp"
	"context"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// Options are what a judgement depends on besides the content.
type Options struct {
	// Mode is the command's name, for the report.
	Mode string
	// Strict turns strict rules on; the policy can do so too.
	Strict bool
	// Kinds are the accepted workspace kinds; nil accepts all.
	Kinds []string
	// Now is compared with new timestamps and the last days of waivers.
	Now time.Time
	// MaxFileSize in bytes overrides the policy's limit; 0 leaves it.
	MaxFileSize int64
	// Policy is the trusted configuration; nil means built-in defaults.
	Policy *policy.Policy
	// Floor is the configuration below which Policy may not go, if there is one: no remedy names what it forbids.
	Floor *policy.Floor
	// Trusted is the commit whose logs say which baselines are active: the one that the configuration comes from.
	// Empty stands for what is compared with (the base, the old tip, HEAD), or a whole history's head.
	Trusted string
	// Agent is the id of the agent who is about to commit the index; empty for a person.
	Agent string
	// Message is what git has prepared as the message of the index's commit: it joins the messages of squashed commits.
	Message string
	// Branch is the branch that is judged, without refs/heads/, if known: the checked-out or the pushed one.
	Branch string
	// Switch is the branch that is judged, if another one is checked out: its commits can be rewritten only there.
	Switch string
	// Replay is true if git makes the index's commit again, in a rebase or a cherry-pick. Its owner and its lane stay as they were.
	Replay bool
	// Heads are further commits that the commit of the index follows, if its logs are not compared with HEAD
	// alone.
	Heads []string
	// Cache bounds, in bytes, the logs that are kept in memory; 0 means 64 MiB.
	Cache int
	// Compared is what the caller has compared already, under this policy.
	Compared history.Compared
	// Each judges the snapshot of every commit, not only the tip's.
	Each bool
	// Find, if set, says which findings are wanted: others are counted and not listed.
	Find func(*finding.Finding) bool
	// Evidence has the report show the evidence of the entries at the tip, which only some formats draw.
	Evidence bool
	// FailOnWarning makes a report with warnings fail, as one with errors does.
	FailOnWarning bool
	// Lane is the lane that the caller claims, in any case; empty for none.
	Lane string
	// LaneFrom says how it was claimed; empty stands for lane.FromCaller.
	LaneFrom lane.Source
	// Labels are those of the pull request that begin with lane.LabelPrefix.
	Labels []string
	// BranchClaim is what the branch's commits claim, if that was looked up: the index is a step of the same
	// change.
	BranchClaim lane.Claim
	// Part is true if the checked tree is a directory of a larger one: what a record names above it cannot be seen
	// and is not reported.
	Part bool
	// Standings finds out how far commits have got. It is called once, for the first remedy that depends on it; if it is nil, no other clone has
	// any commit.
	Standings func() (history.Standings, error)
	// Branches, if set, finds the default branch, and the target of what is judged unless that is compared with a base. It is called once,
	// and only for logs that are judged by steps and for merges.
	Branches func(ctx context.Context) (history.Branches, error)
	// SamePatch, if set, finds the commit among some that makes the same patch as another outside workspaces; empty for none.
	SamePatch func(ctx context.Context, commit string, among []string) (string, error)
	// Reach, if set, looks for a commit by its id, or the beginning of it.
	Reach func(ctx context.Context, id string, heads []string) (history.Reach, error)
	// Lasting limits the judgement to what stays wrong for good: errors about what became of logs' entries.
	Lasting bool
	// Reported, if set, are the edits that an earlier judgement has reported; this one adds its own.
	Reported finding.ReportedEdits
	// Progress, if set, is called while commits are judged.
	Progress func(done, total int)
}

func (o Options) strict() bool { return o.Strict || o.Policy.Strict }

// Caller is the source of the caller's claim of a lane.
func (o Options) Caller() lane.Source {
	return cmp.Or(o.LaneFrom, lane.FromCaller)
}

// Limits bounds what is read of one file.
func (o Options) Limits() small.Limits {
	if o.MaxFileSize > 0 {
		return small.Limits{MaxFileSize: o.MaxFileSize}
	}
	return small.Limits{MaxFileSize: o.Policy.MaxFileSize}
}

func (o Options) basis() read.Basis {
	return read.Basis{Policy: o.Policy, Kinds: o.Kinds, Now: o.Now, Limits: o.Limits(), Trusted: o.Trusted, Compared: o.Compared, Cache: o.Cache}
}

// WithDefaults fills in what a caller may leave out.
func (o Options) WithDefaults() Options {
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	if o.Kinds == nil {
		o.Kinds = []string{read.KindRepoRoot, read.KindExamples}
	}
	return o
}
