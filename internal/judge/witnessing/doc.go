// Package witnessing looks at a repository for a witness: it reads the state, has the refs judged by it, and writes what it has seen.
package witnessing
