// Package walk follows logs from commit to commit and compares them between branches: the
// passes that make subjects of edges, tips, forks and commits.
package walk
