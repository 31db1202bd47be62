// Package workgit runs git in a work tree to read and change its files and its index.
package workgit
