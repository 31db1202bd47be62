// Package agent judges the work trees in which an agent works, at each event of its harness.
package agent
