// Package checkout runs git in a work tree: for its files and its index, and for what git has begun there and not finished.
package checkout
