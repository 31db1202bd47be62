// Package agent judges where an agent is at work, at an event of its harness.
package agent
