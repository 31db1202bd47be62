// Package history is what the gate asks of a repository: commits, what changed between
// two of them, files, and what commit messages say of agents and lanes.
package history
