// Package edit holds the commands that change a workspace, a log or the configuration, or publish: each under the locks of the workspaces
// that it writes to.
package edit
