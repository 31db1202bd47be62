// Package ledger knows append-only logs: their entries and heads, how two versions of a
// log relate, and what happened to each entry in between. It judges bytes and does
// no I/O. A progress file is read as a [Log]; [Compare] says how one became
// another, [Diverge] how the logs of two branches compare.
package ledger
