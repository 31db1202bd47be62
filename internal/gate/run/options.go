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

// Options is everything besides the repository's content on which a judgement depends.
type Options struct {
	// Mode is the command's name, for the report.
	Mode string
	// Strict turns strict mode on; the configuration can do so, too.
	Strict bool
	// Kinds are the accepted workspace kinds; nil accepts all.
	Kinds []string
	// Now is compared with new timestamps and the last days of waivers.
	Now time.Time
	// MaxFileSize overrides the configured limit, in bytes; 0 does not.
	MaxFileSize int64
	// Policy is the trusted configuration; nil means the built-in defaults.
	Policy *policy.Policy
	// Floor is the configuration below which Policy may not go; nil if there is none. No remedy suggests what it forbids.
	Floor *policy.Floor
	// Trusted is the commit that the configuration comes from; its logs decide which baselines are active. If it is empty, the commit before
	// what is judged is taken (the base, the old tip, HEAD), or the head of a whole history.
	Trusted string
	// Agent is the id of the agent that is about to commit the index; empty for a person.
	Agent string
	// Message is the message that git has prepared for the commit of the index. After a squash it has the messages of all squashed commits.
	Message string
	// Branch is the branch that is judged, without refs/heads/: the one that is checked out or pushed; empty if it is not known.
	Branch string
	// Replay is true if the commit of the index repeats an existing commit, in a rebase or a cherry-pick. It keeps that commit's owner and lane.
	Replay bool
	// Heads are commits that the commit of the index follows, besides those with which its logs are compared: HEAD, if the logs are compared
	// with published commits.
	Heads []string
	// Cache is how many bytes of logs may stay in memory; 0 means 64 MiB.
	Cache int
	// Compared holds edges whose changes the caller has already read, with the filter of this configuration.
	Compared history.Compared
	// EachCommit is true if the files of every commit are judged, not only those of the tip.
	EachCommit bool
	// Find, if set, says which findings the report lists. It counts the others.
	Find func(*finding.Finding) bool
	// Evidence has the report show the evidence of the entries at the tip, which only some formats print.
	Evidence bool
	// FailOnWarning makes the verdict of a report with warnings a failure, as errors do.
	FailOnWarning bool
	// Lane is the lane that the caller claims, in any case; empty for none.
	Lane string
	// LaneFrom says how the caller claims the lane; empty stands for lane.FromCaller.
	LaneFrom lane.Source
	// Labels are the labels of the pull request that begin with lane.LabelPrefix.
	Labels []string
	// BranchClaim is the lane that the commits of the branch claim, if it was looked up. It holds for the index too, which belongs to the same
	// change.
	BranchClaim lane.Claim
	// PartOfTree is true if the directory that is checked is a part of a larger tree. Files outside it that a record names cannot be seen, and are
	// not reported as missing.
	PartOfTree bool
	// Standings finds out how far commits have got. It is called once, for the first remedy that depends on it. Nil means that no other clone
	// has any commit.
	Standings func() (history.Standings, error)
	// Branches, if set, finds the default branch and the branch that will receive what is judged; a base with which it is compared replaces the
	// latter. It is called once, and only for merges and for logs that are judged by steps.
	Branches func(ctx context.Context) (history.Branches, error)
	// SamePatch, if set, finds, among some commits, one that makes the same patch as another commit, apart from files of workspaces; empty if
	// there is none.
	SamePatch func(ctx context.Context, commit string, among []string) (string, error)
	// Reach, if set, looks for a commit by its id or the beginning of that.
	Reach func(ctx context.Context, id string, heads []string) (history.Reach, error)
	// OnlyLastingErrors limits the report to what later commits cannot mend: errors about lost or rewritten entries of logs.
	OnlyLastingErrors bool
	// Reported, if set, holds the edits that an earlier judgement has reported. This judgement adds its own.
	Reported finding.ReportedEdits
	// Progress, if set, is called while commits are judged.
	Progress func(done, total int)
}

func (o Options) strict() bool { return o.Strict || o.Policy.Strict }

// Caller returns how the caller claims a lane.
func (o Options) Caller() lane.Source {
	return cmp.Or(o.LaneFrom, lane.FromCaller)
}

// Limits returns how much is read of one file.
func (o Options) Limits() small.Limits {
	if o.MaxFileSize > 0 {
		return small.Limits{MaxFileSize: o.MaxFileSize}
	}
	return small.Limits{MaxFileSize: o.Policy.MaxFileSize}
}

func (o Options) basis() read.Basis {
	return read.Basis{Policy: o.Policy, Kinds: o.Kinds, Now: o.Now, Limits: o.Limits(), Trusted: o.Trusted, Compared: o.Compared, Cache: o.Cache}
}

// WithDefaults sets the options that a caller may leave out.
func (o Options) WithDefaults() Options {
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	if o.Kinds == nil {
		o.Kinds = []string{read.KindRepoRoot, read.KindExamples}
	}
	return o
}
