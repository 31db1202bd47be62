// Package workspace holds the rules about one workspace as of one tree: the families
// validate, lint and verify.
package workspace
