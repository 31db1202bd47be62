// Package process holds the rules about how work is done: the families lane, workflow and
// config.
package process
