// Package publish brings a branch and its remote branch together and pushes: it drives the installed git, with the user's own hooks.
//
// One rule holds throughout: what is written down in the git directory before anything moves (see state) is enough to take all of it
// back. An error takes it back; findings and refusals leave the commits that they name. A stop waits for a person. What somebody else has
// written or committed meanwhile is never lost.
package publish
