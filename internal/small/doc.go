// Package small reads the files of the SMALL protocol, version 1.0.0: the five
// canonical artifacts and the workspace file. It turns bytes into values that
// know their line and column, checks their shape against embedded JSON
// Schemas, and reduces a progress log to a ledger of entry digests.
//
// The package does no I/O and knows nothing of git: bytes go in, values and
// problems come out.
package small
