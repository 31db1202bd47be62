// Package splice puts the texts of logs together, entry by entry as they are written: it merges the logs of several sides, appends new
// entries, and puts old ones back. It works on bytes and does no I/O. What it makes, the gate accepts.
package splice
