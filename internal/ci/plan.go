// Package ci finds out from what a CI system says where this runs and what is
// to be compared. It reads an environment and the bytes of an event, and asks
// neither a repository nor the network: what of its plan is there is for others
// to see.
package ci

// Platform is a CI system.
type Platform string

// The platforms that are told apart. Forgejo and Gitea set GitHub's variables
// too; Other is whatever has only the inputs to go by.
const (
	GitHub  Platform = "GitHub Actions"
	Forgejo Platform = "Forgejo Actions"
	Gitea   Platform = "Gitea Actions"
	GitLab  Platform = "GitLab CI"
	Other   Platform = "explicit inputs"
)

// checkout are the lines of a workflow that bring the whole history, with the
// version of actions/checkout that a platform has.
func checkout(version string) string {
	return "- uses: actions/checkout@" + version + "\n  with:\n    fetch-depth: 0"
}

// Deep is what to write into the job's description so that the whole history is
// there, or else to type.
func (p Platform) Deep() string {
	switch p {
	case GitHub:
		return checkout("v6")
	case Forgejo, Gitea:
		return checkout("v4")
	case GitLab:
		return "variables:\n  GIT_DEPTH: \"0\""
	}
	return "git fetch --unshallow"
}

// Checkout says what to do where there is no repository at all, and the lines of
// the job's description for it; nothing where nobody knows.
func (p Platform) Checkout() (what, lines string) {
	switch p {
	case GitHub, Forgejo, Gitea:
		return "put actions/checkout before this step", p.Deep()
	case GitLab:
		return "GIT_STRATEGY must not be none", "variables:\n  GIT_STRATEGY: fetch\n  GIT_DEPTH: \"0\""
	}
	return "", ""
}

// Kind is a way to judge.
type Kind string

const (
	// Change judges every commit that the head has and the base lacks, then
	// the two tips, then the merge result where there is one.
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
	// Fetch are what git fetch can be asked for, one after the other, until
	// Revision is there: an id, or a refspec. Empty where asking is of no use.
	Fetch []string
	// Made says of a point of Plan.Merge that the platform itself made it for
	// this run: what it is, if no merge of the head, must not go unsaid.
	Made bool
	// Branch says that this is a ref by the platform's name for it, which counts
	// only if it is one of the platform's repository: see Plan.Repository.
	Branch bool
	// Stale says that what is here can be older than the remote's: it is fetched
	// once more.
	Stale bool
}

// Plan is what is to be judged. Of the points of one list, the first that is
// there counts; one that is not and can be fetched is fetched before the next
// one is looked at.
type Plan struct {
	Platform Platform
	// Event is the platform's own name of what happened.
	Event string
	// Subject says in words what it is about: "pull request 7 into main". It
	// may hold names of branches, which are untrusted text.
	Subject string
	Kind    Kind
	// Reason says why there is nothing to judge.
	Reason string
	// Ref is the full name of the ref that was pushed or is looked at.
	Ref string
	// Source is the name of the branch that a change comes from; empty where the
	// platform does not say. It is untrusted text.
	Source string
	// Base are what is compared with: the target's tip, or the ref's tip before
	// the push. A push without any is one of a new ref.
	Base []Point
	// Head are what is judged.
	Head []Point
	// Merge are where the platform's merge of the head into the target may be.
	// One counts if its second parent is the head; its first parent is then the
	// base, rather than one of Base. One that was Made counts too if it descends
	// from the base, as in a merge train that squashes or fast-forwards.
	Merge []Point
	// Default is the default branch, for a push and a history; empty where the
	// platform does not name it, and the clone has to be asked. OnDefault says that Ref is that branch: then
	// its own tip before the push is whom the policy is taken from.
	Default   []Point
	OnDefault bool
	// Compare has a pushed branch compared with the default branch, as a
	// warning.
	Compare bool
	// Forced says that the platform calls the push a forced one.
	Forced bool
	// Labels are the pull request's labels that begin with "lane:", which claim a
	// lane for it. They are untrusted text.
	Labels []string
	// Notes say what of the event went unheeded, for people. They may hold
	// untrusted text.
	Notes []string
	// Repository is the full name (owner/name) of the repository whose branches
	// count, where the platform says so: a clone's remote can be a fork. It is
	// untrusted text.
	Repository string
	// Project is the full name of the repository that was cloned, where the
	// platform says so: for a merge request from a fork it is the fork. It is
	// untrusted text.
	Project string
	// Target is the name of the branch that a merge request is to be merged into.
	// It is untrusted text.
	Target string
	// Open says that a branch by its name which has all of the change need not be
	// the target's, or not any more: the change is not merged yet, or nobody says
	// whose branch it is.
	Open bool
	// Guarded is true where a stranger's change is looked at with the rights of
	// the target's workflow (pull_request_target): nothing that is configured
	// is run, also not to fetch.
	Guarded bool
}

// Inputs are what the caller says and a platform does not.
type Inputs struct {
	// Base and Head are revisions to compare, instead of the platform's.
	Base, Head string
}
