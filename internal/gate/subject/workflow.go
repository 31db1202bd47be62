package subject

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// WorkflowFile is one workflow file, or one record of a job or a campaign, as of one tree.
type WorkflowFile struct {
	rule.Place
	Path string
	// Object is the id of the file's blob.
	Object string
	// Problems say why the file cannot be read.
	Problems []small.Problem

	// Workflow is nil if the file cannot be read as one. Unknown are its unknown keys, Missing the agent files
	// that do not exist; Optional is true if they may come from elsewhere.
	Workflow *lane.Workflow
	Unknown  []small.Problem
	Missing  []MissingAgent
	Optional bool

	// IsRecord is true of records, IsCampaign of campaigns'; Record is nil if it cannot be read.
	IsRecord, IsCampaign bool
	Record               *lane.Record
	// Find looks up the workflows that the record names.
	Find lane.FindWorkflow
}

// MissingAgent is an agent file that a workflow names and that does not exist.
type MissingAgent struct {
	lane.AgentRef
	// Link is a symbolic link in its place; empty if there is none.
	Link string
}
