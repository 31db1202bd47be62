// Package subject holds the things that rules judge: a workspace, what a commit did to a
// log, a log on two branches, a change and its lane, a workflow file, the
// configuration. Passes make them; rules only read them.
package subject
