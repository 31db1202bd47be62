// Package combine assembles the text of a log from the texts of entries: it merges the logs of several sides, appends new entries, and puts
// lost ones back. It works on bytes and does no I/O. The gate accepts its results.
package combine
