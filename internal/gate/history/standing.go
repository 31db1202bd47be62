package history

// Standing says how far a commit has got. What others have is never rewritten.
type Standing int

// The standings, from the least to the furthest.
const (
	// Own is a commit that no other clone has.
	Own Standing = iota
	// Tagged is one that, of all that others may have, only a tag has: nobody knows whether that was pushed.
	Tagged
	// Published is one on a branch that may be replaced: by a forced push that takes a rewrite back.
	Published
	// Landed is one on the default branch.
	Landed
)

// Remote is what is known of where commits are pushed to.
type Remote struct {
	// None is true if there is no sign of any remote.
	None bool
	// Target is the name of the branch there whose configuration counts; empty if it is not known.
	Target string
}
