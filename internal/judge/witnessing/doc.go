// Package witnessing runs a witness: it reads the witness's state, judges a repository's refs by it, and writes the new state.
package witnessing
