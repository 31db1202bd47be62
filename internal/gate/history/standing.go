package history

// Standing says how far a commit has got. What others have is never rewritten.
type Standing int

// The standings, from the least to the furthest.
const (
	// Own is a commit that no other clone has.
	Own Standing = iota
	// Tagged is one that others may have only by a tag: nobody knows whether that was pushed.
	Tagged
	// Published is one on a branch that a forced push may replace to take a rewrite back.
	Published
	// Landed is one on the default branch.
	Landed
)

// Standings say how far commits have got, and what is known about where they are pushed to. The zero Standings are those of a repository
// that nobody else has.
type Standings struct {
	// Of holds the standing of some commits, and Rest that of all others.
	Of     map[string]Standing
	Rest   Standing
	Remote Remote
	// Head is the commit that is checked out; empty if that is not known.
	Head string
}

// At is how far a commit has got.
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
	// Target is the name of the branch there whose configuration counts; empty if it is not known.
	Target string
}

// Reach is what is known about a commit that somebody names.
type Reach struct {
	// Commit is its full id, if it is here.
	Commit string
	// Reached is true if a branch, a tag or what is judged leads to it.
	Reached bool
	// Unknown is true if nobody can tell: a shallow or a partial clone hides commits.
	Unknown bool
}
