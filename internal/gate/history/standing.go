package history

// Standing says who may have a commit. Only the commits that nobody else has are rewritten without asking.
type Standing int

// The standings; those further down may be in more clones.
const (
	// Own is a commit that no other clone has.
	Own Standing = iota
	// Tagged is a commit that others may have only by a tag: nobody knows whether the tag was pushed.
	Tagged
	// Published is a commit on a published branch. A forced push may replace it to undo a rewrite.
	Published
	// Landed is a commit on the default branch.
	Landed
)

// Standings hold the standings of commits, and what is known about where they are pushed to. The zero Standings are those of a repository
// that nobody else has.
type Standings struct {
	// Of holds the standings of some commits; Rest is that of all others.
	Of     map[string]Standing
	Rest   Standing
	Remote Remote
	// Head is the commit that is checked out; empty if that is not known.
	Head string
	// Elsewhere is the judged branch if it is not checked out here.
	Elsewhere Elsewhere
}

// Elsewhere is a branch whose commits cannot be rewritten where HEAD is now. The zero value stands for none.
type Elsewhere struct {
	// Branch is the branch's short name.
	Branch string
	// WorkTree is the path of the other work tree in which the branch is checked out; empty if there is none.
	WorkTree string
}

// At returns the standing of a commit.
func (s Standings) At(commit string) Standing {
	if standing, known := s.Of[commit]; known {
		return standing
	}
	return s.Rest
}

// Remote is what is known about where commits are pushed to.
type Remote struct {
	// None is true if there is no sign of any remote.
	None bool
	// DefaultBranch is the name of the remote branch whose .small-gate.yml counts; empty if it is not known.
	DefaultBranch string
}

// Reach is what is known about a commit that somebody names.
type Reach struct {
	// Commit is its full id; empty if the clone does not have the commit, or if what was named is ambiguous.
	Commit string
	// Reached is true if it is reachable from a branch, a tag or a judged commit.
	Reached bool
	// Unknown is true if a shallow or partial clone cannot tell.
	Unknown bool
}
