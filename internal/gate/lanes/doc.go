// Package lanes finds which lane a change claims, which one fits what it does, and what the
// lane asks of it.
package lanes
