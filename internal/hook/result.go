package hook

// Outcome sums up what an installation or its undoing came to.
type Outcome int

// The outcomes. A function that returns an error returns [Failed] with it, and in Changes what was done before.
const (
	// Failed says that it was not finished: the error says why.
	Failed Outcome = iota
	// Unchanged says that all was as it should be and no file was touched.
	Unchanged
	// Changed says that files were written, moved or removed.
	Changed
	// NeedsManual says that a person has to do something before it is done: what, is in Manual or in the changes' notes. The command's
	// exit status must not be 0.
	NeedsManual
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"failed", "unchanged", "changed", "needs manual"}[o]
}

// Action is what was done about one hook.
type Action string

// The actions.
const (
	// Installed says that a shim was written where no hook was.
	Installed Action = "installed"
	// Chained says that a shim was written and the hook that was there is kept beside it.
	Chained Action = "chained"
	// Updated says that a shim of ours was replaced by another, since the program or the shim's text is new, or made executable.
	Updated Action = "updated"
	// Present says that the right shim was there already.
	Present Action = "present"
	// Called says that another hook or a manager calls the gate already.
	Called Action = "called"
	// Removed says that a shim was removed.
	Removed Action = "removed"
	// Restored says that the kept hook took a shim's place again.
	Restored Action = "restored"
	// Absent says that there was nothing of ours.
	Absent Action = "absent"
	// Left says that something was left alone that a person has to look at; the note says what.
	Left Action = "left"
)

// Change is what was done about one hook.
type Change struct {
	// Hook is the hook.
	Hook Name
	// Path is the hook's file.
	Path string
	// Action is what was done.
	Action Action
	// Kept is where the hook that was there before is kept, or "".
	Kept string
	// Note says what else to know, or is "".
	Note string
}

// Result is what an installation or its undoing did.
type Result struct {
	// Outcome sums it up.
	Outcome Outcome
	// Dir is the directory of the hooks.
	Dir string
	// Program is what the hooks call; empty when hooks were taken away.
	Program string
	// Changes tells it hook by hook.
	Changes []Change
	// Manual is set when a manager rules the hooks and nothing was written.
	Manual *Manual
	// Commands are to be typed to finish.
	Commands []string
	// Notes say what else to know.
	Notes []string
}
