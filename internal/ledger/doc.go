// Package ledger reads append-only logs and compares their versions. It judges bytes and does no I/O. [ReadLog] reads a progress file as a
// [Log], [Form.Read] a configured log; [Compare] tells how one version became another, entry by entry; [Diverge] compares the logs of two
// branches.
package ledger
