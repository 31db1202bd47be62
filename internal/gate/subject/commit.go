package subject

import (
	"slices"

	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// CommitWork is what one commit did to one workspace: what differs from every parent, so that nobody is blamed for
// what a merge brought along.
type CommitWork struct {
	rule.Place
	Dir string
	// Situation is where the commit stands.
	Situation func() Situation
	// HumanChanges are the changes of meaning in the files that belong to people.
	HumanChanges []HumanChange
	// Authorship and SameReplayID are read only if there are HumanChanges. SameReplayID is true if the run kept
	// its replay id.
	Authorship   AgentAuthorship
	SameReplayID bool

	// NewEntries are those that no parent has. Agent made the commit, and Contributors made commits that went into
	// it, as in a squash; both are read if there are NewEntries or the plan differs. ForeignLeases are other
	// agents' leases on the entries' tasks, DroppedLeases those that are gone from the plan.
	NewEntries    []ledger.Entry
	Agent         string
	Contributors  []string
	ForeignLeases []ForeignLease
	DroppedLeases []DroppedLease
	// BranchOwner is the agent that the index's branch belongs to.
	BranchOwner string

	// LostTasks are tasks that progress calls completed and the plan no longer does.
	LostTasks []LostTask
	// RunOver is true if the run that the handoff names is over: intent and plan are those of a run which has not begun. It is read
	// only if there are HumanChanges or LostTasks.
	RunOver bool
}

// MadeBy reports whether the commit is, or may be, an agent's work.
func (v *CommitWork) MadeBy(agent string) bool {
	return agent == v.Agent || slices.Contains(v.Contributors, agent)
}

// HumanChange is a change of meaning in intent or constraints.
type HumanChange struct {
	Artifact small.Artifact
	Pos      small.Pos
	// What says what changed, for a message.
	What    string
	Changes []ledger.FieldChange
	// Key identifies the change by the old and new content.
	Key string
}

// AgentAuthorship is what makes a commit an agent's; the zero value is a person's.
type AgentAuthorship struct {
	Reason string
	// Uncertain is true if a person may have made the commit: people use assistants too.
	Uncertain bool
}

// ReconcilePlan is the task_id of the entry that makes plan and progress agree.
const ReconcilePlan = "meta/reconcile-plan"

// LostTask is a task that progress calls completed and the plan no longer does.
type LostTask struct {
	Task  string
	Entry ledger.Entry // which calls it completed
	// Pos is the task's position in the plan; the zero Pos if it was dropped.
	Pos small.Pos
	// Status is what the plan says now; gone is true where it says nothing.
	Status  string
	Dropped bool
}

// DroppedLease is another agent's lease that a commit takes away from a task.
type DroppedLease struct {
	Task *Task
	Was  *Lease
	// Now is the lease of the agent who has it instead; nil if the task is free.
	Now *Lease
}

// ForeignLease is an entry for a task that another agent has leased.
type ForeignLease struct {
	Entry ledger.Entry
	Lease *Lease
}
