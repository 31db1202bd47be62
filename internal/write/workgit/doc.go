// Package workgit runs git in a work tree, for its files and its index.
package workgit
