// Package commits holds the rules about what commits and branches did: the families
// append-only, divergence, ownership, lease and replay, and what happened to the
// records of jobs.
package commits
