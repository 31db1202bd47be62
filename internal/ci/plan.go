// Package ci finds out from what a CI system says where this runs and what to compare. It reads an environment and the bytes of
// an event, and asks neither a repository nor the network: whether what the plan names is there is for others to see.
package ci

import (
	"strings"

	"github.com/small-gate/small-gate/internal/wording"
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
	// Nothing has nothing to judge: a branch was deleted.
	Nothing Kind = "nothing"
)

// Point is one way to name a commit.
type Point struct {
	// Revision is a full object id, a ref's full name, or what the caller gave.
	Revision string
	// Words say where this is from, for people.
	Words string
	// Fetch are the ids or refspecs to ask git fetch for, in order, until Revision is there; empty if fetching is of no use.
	Fetch []string
	// Made says of a point of Plan.Merge that the system made it for this run: if it is no merge of the head, the report says
	// what it is.
	Made bool
	// Branch says that this is a branch by its name, which counts only in the right repository: see Plan.Repository.
	Branch bool
	// Stale says that the clone's branch can be older than the remote's: it is fetched once more.
	Stale bool
}

// Plan is what to judge. In a list of points, the first that is in the clone counts; one that is not is fetched, if that is
// possible, before the next one is looked at. Texts from the event are untrusted.
type Plan struct {
	System *System
	// Event is the system's own name of what happened.
	Event string
	// Subject says what it is about: "pull request 7 into main". It may hold names of branches.
	Subject string
	Kind    Kind
	// Reason says why there is nothing to judge.
	Reason string
	// Ref is the full name of the ref that was pushed or is looked at.
	Ref string
	// Source is the name of the branch that a change comes from; empty if the system does not say.
	Source string
	// Base is what to compare with: the target's tip, or the ref's tip before the push. The push of a new ref has none.
	Base []Point
	// Head is what to judge.
	Head []Point
	// Merge is where the system's merge of the head into the target may be. One counts if its second parent is the head; then its
	// first parent is the base instead of Base. One that was Made also counts if it descends from the base, as in a merge train
	// that squashes or fast-forwards.
	Merge []Point
	// Default is the default branch, for a push and a history; if the system does not name it, the clone is asked. OnDefault
	// says that Ref is that branch: then the policy is taken from its own tip before the push.
	Default   []Point
	OnDefault bool
	// NoBefore says that nothing says what the ref was before. What the default branch lacks is judged; if it lacks nothing, the
	// whole history.
	NoBefore bool
	// Compare has a pushed branch compared with the default branch, as a warning.
	Compare bool
	// Forced says that the system calls the push a forced one.
	Forced bool
	// Labels are those of the pull request that begin with "lane:": they claim a lane for it.
	Labels []string
	// Notes say what of the event was ignored, for people.
	Notes []string
	// Repository is the full name (owner/name) of the repository whose branches count, if the system says so: a clone's remote
	// can be a fork.
	Repository string
	// Project is the full name of the repository that was cloned, if the system says so: for a merge request from a fork it is
	// the fork.
	Project string
	// Name is what the repository is called where the job runs, and CommitLink the address of a commit's page there, up to the
	// id; each is empty if the system does not say so.
	Name, CommitLink string
	// Fork is the full name, or the owner, of the repository that the change comes from, if the system says so: a clone's remote can
	// be that one.
	Fork string
	// Target is the name of the branch that a merge request is for.
	Target string
	// Open says that the change is not merged yet, or that nobody says whose branch the base is: a branch of the base's name
	// that has all of the change may be the fork's, unless the remote's address says that it is not.
	Open bool
	// Guarded is true where a stranger's change runs with the rights of the target's workflow (pull_request_target): nothing
	// that is configured is run, not even to fetch.
	Guarded bool
}

// against sets what a push is compared with, apart from its own past.
func (p *Plan) against(defaultBranch string) {
	p.OnDefault = defaultBranch != "" && p.Ref == "refs/heads/"+defaultBranch
	if p.OnDefault {
		return
	}
	p.Default = defaultBranchPoints(defaultBranch)
	p.Compare = strings.HasPrefix(p.Ref, "refs/heads/")
}

// history sets whose policy a whole history is judged by.
func (p *Plan) history(defaultBranch string) {
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
