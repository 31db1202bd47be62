package githistory

// Place says where a repository lies and of what kind it is.
type Place struct {
	// Top is the absolute path of the work tree's root, with symbolic links
	// resolved; empty if there is none (a bare repository).
	Top string
	// GitDir is the absolute path of the git directory, in a linked work tree
	// that work tree's own.
	GitDir string
	// CommonDir is the absolute path of the git directory that all work trees
	// share. It is GitDir unless this is a linked work tree.
	CommonDir string
	// Bare reports whether the repository has no work tree.
	Bare bool
	// Shallow reports whether the clone hides parents of some commits.
	Shallow bool
}

// Where is the place itself, for those who know a repository by its methods.
func (p Place) Where() Place { return p }
