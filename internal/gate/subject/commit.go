package subject

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// CommitWork is what one commit did to one workspace: what in it differs from
// every parent, so that nobody is blamed for what a merge brought along.
type CommitWork struct {
	rule.Place
	Dir string
	// Human are the changes of meaning in what belongs to people.
	HumanChanges []HumanChange
	// Sign says what makes the commit an agent's; it is read only where human is
	// not empty. stale is true if the run went on under the same replay id.
	Authorship   AgentAuthorship
	SameReplayID bool

	// Fresh are the entries that no parent has, agent who recorded them, and
	// leases those that stand against one of them.
	NewEntries    []ledger.Entry
	Agent         string
	ForeignLeases []ForeignLease
	// Branch is the agent that the branch belongs to on which the index is to be
	// committed.
	BranchOwner string

	// LostWork are the tasks that progress calls completed and the plan, which
	// said so too or knew them, does not any more.
	LostTasks []LostTask
}

// HumanChange is a change of meaning in intent or constraints.
type HumanChange struct {
	Artifact small.Artifact
	Pos      small.Pos
	// What names what changed, for a message.
	What    string
	Changes []ledger.FieldChange
	// Key identifies the change by what was there and what is there now.
	Key string
}

// AgentSign is what makes a commit an agent's, in words; empty for a person's.
type AgentAuthorship struct {
	Reason string
	// Hint is true if that is no more than a hint: people use assistants too.
	Uncertain bool
}

// ReconcilePlan is the task_id of the entry that brings plan and reality
// together.
const ReconcilePlan = "meta/reconcile-plan"

// LostWork is a task that progress calls completed and the plan does not any
// more.
type LostTask struct {
	Task  string
	Entry ledger.Entry // which calls it completed
	// Pos is the task's place in the plan; the zero place where it is gone.
	Pos small.Pos
	// Status is what the plan says now; gone is true where it says nothing.
	Status  string
	Dropped bool
}

// ForeignLease is an entry for a task that another agent has leased.
type ForeignLease struct {
	Entry ledger.Entry
	Lease *Lease
}
