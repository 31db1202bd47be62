package hook

// Outcome sums up what an installation or its undoing came to.
type Outcome int

// The outcomes. A function that returns an error returns [Failed] with it, and in Changes what was done before.
const (
	Failed      Outcome = iota
	Unchanged           // no file was touched
	Changed             // files were written, moved or removed
	NeedsManual         // a person has to do something first: see Manual, Commands, or the changes' notes. The exit status is not 0
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"failed", "unchanged", "changed", "needs manual"}[o]
}

// Action is what was done about one hook.
type Action string

// The actions.
const (
	Installed Action = "installed" // a shim was written where no hook was
	Chained   Action = "chained"   // a shim was written, and the hook that was there is kept beside it
	Updated   Action = "updated"   // a shim was replaced by another, or made executable
	Present   Action = "present"   // the right shim was there already
	Called    Action = "called"    // another hook or a manager names the gate
	Removed   Action = "removed"   // a shim was removed
	Restored  Action = "restored"  // the kept hook took a shim's place again
	Absent    Action = "absent"    // there was nothing of ours
	Left      Action = "left"      // a person has to look at it; the note says why
)

// Change is what was done about one hook.
type Change struct {
	Hook   Name
	Path   string
	Action Action
	Kept   string // where the hook that was there before is kept
	Note   string
}

// Result is what an installation or its undoing did.
type Result struct {
	Outcome  Outcome
	Dir      string // of the hooks
	Program  string // what the hooks call; empty when hooks were removed
	Changes  []Change
	Manual   *Manual  // set where a manager fills the directory and nothing was written
	Commands []string // to be typed to finish
	Notes    []string
}
