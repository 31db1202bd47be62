package rules

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/rules/commits"
	"github.com/small-gate/small-gate/internal/gate/rules/process"
	"github.com/small-gate/small-gate/internal/gate/rules/workspace"
	"github.com/small-gate/small-gate/internal/policy"
)

// All lists every rule in documented order. The slice must not be changed.
func All() []rule.Rule { return documented() }

// IDs lists the ids of all rules in documented order.
func IDs() []string {
	ids := make([]string, len(List))
	for i, r := range List {
		ids[i] = r.ID
	}
	return ids
}

// Find returns the rule with the given id.
func Find(id string) (rule.Rule, bool) {
	for _, r := range documented() {
		if r.ID == id {
			return r, true
		}
	}
	return rule.Rule{}, false
}

// List is the one list of rules, in documented order.
var List = []rule.Rule{
	workspace.MissingArtifact,
	workspace.NotAFile,
	workspace.TooLarge,
	workspace.YAML,
	workspace.MultipleDocuments,
	workspace.Schema,

	workspace.Blank,
	workspace.TimestampFormat,
	workspace.TimestampOrder,
	workspace.Evidence,
	workspace.DuplicateID,
	workspace.VersionQuoting,
	workspace.RoundTrip,
	workspace.Secret,
	workspace.InsecureLink,
	workspace.Layout,
	workspace.TaskEvidence,
	workspace.UnknownTask,
	commits.UnreconciledPlan,

	workspace.Workspace,
	workspace.ReplayID,
	workspace.HandoffTask,
	workspace.CompletedEvidence,
	workspace.ReplayMismatch,

	commits.Modified,
	commits.Deleted,
	commits.Reordered,
	commits.Inserted,
	commits.LogDeleted,
	commits.TimestampMigrated,
	commits.TaskReassigned,
	commits.FutureTimestamp,
	commits.ReconciledInsertion,

	commits.ConcurrentAppend,
	commits.LostEntry,
	commits.Unreconciled,
	commits.ForkRun,
	commits.ForkPlan,
	commits.DoubleClaim,
	commits.DuplicateEntry,
	commits.InterleavedRuns,

	commits.HumanArtifact,
	commits.AgentID,

	commits.ForeignLease,
	commits.DroppedLease,
	commits.MalformedLease,

	commits.ReplayStale,

	commits.Credential,

	process.UnderClassified,
	process.Escalated,
	process.LaneEvidence,
	process.QAPending,
	process.UnknownLane,

	process.WorkflowFrontMatter,
	process.WorkflowUnknownKey,
	process.WorkflowPhase,
	process.WorkflowAgent,
	process.WorkflowShape,
	process.WorkflowCheckpoint,
	commits.WorkflowRewritten,
	process.WorkflowHistory,
	process.WorkflowCampaign,

	commits.WitnessRewritten,
	commits.WitnessVanished,

	process.ConfigChanged,
	process.WaiverUnused,
	process.WaiverExpired,
	process.BaselineMismatch,
	process.MergeUnion,
}

// Known lists the rules as a configuration has to know them.
func Known() []policy.Rule {
	out := make([]policy.Rule, len(List))
	for i := range List {
		out[i] = policy.Rule{ID: List[i].ID, Edit: List[i].Edit}
	}
	return out
}
