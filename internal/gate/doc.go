// Package gate decides. It holds the rules, the relation of two ledgers, and
// the walk over a history's edges, and turns snapshots and edges into a
// report.
//
// The package does no I/O and knows no git: it says what it needs of a history
// in the History interface, which internal/githistory fulfils. The same
// judgement therefore serves a hook, a server and a CI run.
package gate
