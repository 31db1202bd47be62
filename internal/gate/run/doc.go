// Package run is one judgement: its options, the part of a repository that it looks at,
// and the collector, in which every rule judges every subject.
package run
