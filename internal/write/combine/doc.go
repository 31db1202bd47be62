// Package combine assembles the texts of logs from entries as they were written: it merges the logs of several sides, appends new entries,
// and puts old ones back. It works on bytes and does no I/O. The gate accepts its results.
package combine
