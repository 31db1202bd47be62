// Package small reads the files of the SMALL protocol, version 1.0.0: the five canonical artifacts and the workspace
// file. It turns bytes into values that know their line and column, and computes the digest of each entry. Package
// schema checks the values.
//
// The package does no I/O and knows nothing about git: bytes go in, values and problems come out.
package small
