// Package gate judges: the index, a range of commits, a push, a whole history, a merge that
// is to come, or a directory. Each judgement is a list of passes over one run; its
// result is a report. The gate does no I/O of its own, does not look at the clock and
// knows no git: it is given a history to read from, and the same input gives the same
// report.
package gate
