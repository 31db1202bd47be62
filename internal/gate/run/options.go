package run

import (
	"cmp"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
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
	// Trusted is the commit whose logs say which baselines are active: the one that the configuration comes from.
	// Empty stands for what is compared with (the base, the old tip, HEAD), or a whole history's head.
	Trusted string
	// Agent is the id of the agent who is about to commit the index; empty for a person.
	Agent string
	// Message is what git has prepared as the message of the index's commit: it joins those of what is squashed.
	Message string
	// Branch is the branch that is judged, without refs/heads/, if known: the checked-out or the pushed one.
	Branch string
	// Reverting is true if the commit of the index ends a revert.
	Reverting bool
	// Heads are further commits that the commit of the index follows, if its logs are not compared with HEAD
	// alone.
	Heads []string
	// Each judges the snapshot of every commit, not the tip's alone.
	Each bool
	// Find, if set, says which findings are wanted: others are counted and not listed.
	Find func(*finding.Finding) bool
	// FailOnWarning makes a report with warnings fail, as one with errors does.
	FailOnWarning bool
	// Lane is the lane that the caller claims, in any case; empty for none.
	Lane string
	// LaneFrom says how; empty stands for lane.FromCaller.
	LaneFrom lane.Source
	// Labels are those of the pull request that begin with lane.LabelPrefix.
	Labels []string
	// BranchClaim is what the branch's commits claim, if that was looked up: the index is a step of the same
	// change.
	BranchClaim lane.Claim
	// Part is true if the checked tree is a directory of a larger one: what a record names above it cannot be seen
	// and is not reported.
	Part bool
	// Standing says how far a commit has got, which the remedies of findings depend on; if it is nil, no other clone has any.
	Standing func(commit string) (history.Standing, error)
	// Remote says where commits are pushed to; if it is nil, nothing is known of that.
	Remote func() (history.Remote, error)
	// Lasting limits the judgement to what stays wrong for good: errors about what became of logs' entries.
	Lasting bool
	// Reported, if set, are the edits that an earlier judgement has reported, and takes those of this one.
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
	return read.Basis{Policy: o.Policy, Kinds: o.Kinds, Now: o.Now, Limits: o.Limits(), Trusted: o.Trusted}
}

// WithDefaults fills in what a caller may leave out.
func (o Options) WithDefaults() Options {
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	if o.Kinds == nil {
		o.Kinds = []string{subject.KindRepoRoot, subject.KindExamples}
	}
	return o
}
