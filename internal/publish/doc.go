// Package publish brings a branch and its remote branch together and pushes: it drives the installed git, with the user's own hooks.
//
// One rule holds throughout: what is written down in the git directory before anything moves (see state) is enough to take all of it
// back. Whatever does not end in a push is taken back, except for a stop that a person has to resolve.
package publish
