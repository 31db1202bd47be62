// Package snapshots judges workspaces as of one tree: passes that make a subject of each.
package snapshots
