// Package edit holds the commands that change a workspace, a log or the configuration, and the command that pushes. A command that writes
// to workspaces or logs holds their locks.
package edit
