package history

// Standing says how far a commit has got. What others have is never rewritten.
type Standing int

// The standings, from the least to the furthest.
const (
	// Own is a commit that no other clone has.
	Own Standing = iota
	// Published is one on a branch that may be replaced: by a forced push that takes a rewrite back.
	Published
	// Landed is one on the default branch.
	Landed
)
