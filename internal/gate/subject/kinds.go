package subject

// The kinds of workspace that the protocol knows.
const (
	KindRepoRoot = "repo-root"
	KindExamples = "examples"
)
