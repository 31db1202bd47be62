// Package ledger compares append-only logs.
package ledger
