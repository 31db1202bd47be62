// Package read makes ledgers and workspaces of the files of a history, each object once:
// the versions of a log that a later one has to go on from, logs that moved, and
// what waivers and baselines accept.
package read
