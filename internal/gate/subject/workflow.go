package subject

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// WorkflowFile is one workflow file, or one record of a job or a campaign, as of
// one tree.
type WorkflowFile struct {
	rule.Place
	Path string
	// Object is the id of the file's blob.
	Object string
	// Problems say why the file cannot be read as what it should be.
	Problems []small.Problem

	// Workflow is nil where the file cannot be read as one. unknown are keys that
	// no workflow has, missing agent files that do not exist; optional says that
	// they may come from elsewhere.
	Workflow *lane.Workflow
	Unknown  []small.Problem
	Missing  []MissingAgent
	Optional bool

	// IsRecord says that the file is a record, isCampaign that it is a campaign's
	// and no job's; record is nil where it cannot be read.
	IsRecord, IsCampaign bool
	Record               *lane.Record
	// Find looks up the workflows that the record names.
	Find lane.FindWorkflow
}

// MissingAgent is an agent file that a workflow names and that does not exist.
type MissingAgent struct {
	lane.AgentRef
	// Link is the symbolic link that stands there instead; empty if there is none.
	Link string
}
