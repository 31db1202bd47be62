// Package ci finds out from a CI system where this runs and what to compare. It reads an environment and the bytes of an event, and asks
// neither a repository nor the network: others check whether the plan's commits exist.
package ci

import (
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Kind is a way to judge.
type Kind string

const (
	// Change judges every commit that the head has and the base lacks, then the two tips, then the merge result if there is one.
	Change Kind = "range"
	// Push judges the move of one ref, from the base to the head.
	Push Kind = "push"
	// History judges every commit of the head's history.
	History Kind = "audit"
	// Nothing judges nothing, for example because a branch was deleted.
	Nothing Kind = "nothing"
)

// Point is one way to name a commit.
type Point struct {
	// Revision is a full object id, a ref's full name, or what the caller gave.
	Revision string
	// Words describe its origin for people.
	Words string
	// Fetch are the ids or refspecs to fetch with git, in order, until Revision exists; empty if fetching cannot help.
	Fetch []string
	// Made says that the CI system made this commit of Plan.Merge for this run. The report says so if it then does not count: see Plan.Merge.
	Made bool
	// Branch says that this names a branch, which counts only in the right repository: see Plan.Repository.
	Branch bool
	// Stale says that the clone's branch may be older than the remote's: it is fetched again.
	Stale bool
}

// Plan is what to judge. In a list of points, the first that exists in the clone counts; a missing one is fetched, if possible, before the
// next is tried. Texts from the event are untrusted.
type Plan struct {
	System *System
	// Event is the system's own name of the event.
	Event string
	// Subject describes what is judged: "pull request 7 into main". It may contain names of branches.
	Subject string
	Kind    Kind
	// Reason says why there is nothing to judge.
	Reason string
	// Ref is the full name of the ref that was pushed or is judged.
	Ref string
	// Source is the name of a change's own branch; empty if the system does not give it.
	Source string
	// Base is what to compare with: the target's tip, or the ref's tip before the push. It is empty for the push of a new ref.
	Base []Point
	// Head is what to judge.
	Head []Point
	// Merge is where the CI system's merge of the head and the target may be. A commit counts if one of its two parents is the head; the other
	// one then replaces Base. One that is Made also counts if it descends from the base, as in a merge train that squashes or fast-forwards.
	Merge []Point
	// Default is the default branch, for a push and a history; if the system does not name it, the clone is asked. OnDefault says that Ref
	// is that branch: then the policy is from its own tip before the push.
	Default   []Point
	OnDefault bool
	// NoBefore says that there is no old tip of the ref to compare with: it is unknown, or the ref is new. Then the commits that the default
	// branch lacks are judged; if there are none, the whole history.
	NoBefore bool
	// WithDefault says that a pushed branch is also compared with the default branch. What that finds is a warning.
	WithDefault bool
	// Labels are the labels of the pull request that begin with "lane:": they claim a lane for it.
	Labels []string
	// Notes say which parts of the event were ignored, for people.
	Notes []string
	// Four names of repositories differ where a fork is involved. Repository is the full name (owner/name) of the repository whose branches
	// count, if known: a clone's remote can be a fork.
	Repository string
	// Project is the full name of the cloned repository, if known: for a merge request from a fork it is the fork.
	Project string
	// Name is what reports call the repository in which the job runs, and CommitLink is the address of a commit's page there without the id at
	// its end; each is empty if unknown.
	Name, CommitLink string
	// Fork is the full name, or the owner, of the repository with a change's own branch, if known: a clone's remote can be that one.
	Fork string
	// Target is the name of the branch that a merge request is for; only GitLab's remedy for a wrong origin needs it.
	Target string
	// SuspectBase says that a branch with the base's name that has all of the change may be the fork's, unless the remote's address says otherwise. It
	// is true while the change is not merged, and if the base's repository is unknown.
	SuspectBase bool
	// Guarded is true if a stranger's change runs with the rights of the target's workflow (pull_request_target). Then no program that git's
	// configuration names is run, not even to fetch.
	Guarded bool
}

// compareWithDefault plans for a pushed ref by the default branch: a branch is compared with it as well, and a tag judged by its policy, unless the
// push moves the default branch itself.
func (p *Plan) compareWithDefault(defaultBranch string) {
	p.OnDefault = defaultBranch != "" && p.Ref == "refs/heads/"+defaultBranch
	if p.OnDefault {
		return
	}
	p.Default = defaultBranchPoints(defaultBranch)
	p.WithDefault = strings.HasPrefix(p.Ref, "refs/heads/")
}

// planHistory plans to judge the whole history of Ref, by the policy of the default branch.
func (p *Plan) planHistory(defaultBranch string) {
	p.Kind = History
	p.Subject = "the whole history of " + wording.Clip(p.Ref)
	if p.Ref == "" {
		p.Subject = "the whole history"
	}
	name, isBranch := strings.CutPrefix(p.Ref, "refs/heads/")
	p.OnDefault = isBranch && name == defaultBranch
	if !p.OnDefault {
		p.Default = defaultBranchPoints(defaultBranch)
	}
}
