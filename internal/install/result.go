package install

// Outcome sums up an installation or its removal.
type Outcome int

// The outcomes. A function that returns an error also returns [Failed], and in Changes what was done before.
const (
	Failed      Outcome = iota
	Unchanged           // no file was touched
	Changed             // files were written, moved or removed
	NeedsManual         // a person must do something first: see Manual, Commands, or the changes' notes. The exit status is not 0
)

// After is the outcome after one more action.
func (o Outcome) After(action Action) Outcome {
	switch {
	case action == Left:
		return NeedsManual
	case action != Absent && action != NoCall && action != Present && o == Unchanged:
		return Changed
	}
	return o
}

// Action is what was done about one hook.
type Action string

// The actions.
const (
	Installed Action = "installed" // a shim was written where no hook was
	Chained   Action = "chained"   // a shim was written, and the hook that was there is kept beside it
	Updated   Action = "updated"   // a shim was replaced by another, or made executable
	Present   Action = "present"   // the right shim was there already
	Called    Action = "called"    // another hook or a manager already names the gate
	Removed   Action = "removed"   // a shim was removed
	Restored  Action = "restored"  // the kept hook replaced a shim again
	Absent    Action = "absent"    // there was nothing of ours
	Left      Action = "left"      // a person must look at it; the note says why
	NoCall    Action = "it did not call the gate"
)

// HookChange is what was done about one hook, about the merge driver in one file, or about the settings of one harness.
type HookChange struct {
	Hook   Name // or "merge driver", or the harness's name
	Path   string
	Action Action
	Kept   string // where the hook that was there before is kept
	Note   string
}

// Result is what an installation or its removal did.
type Result struct {
	Outcome  Outcome
	Dir      string // of git's hooks; empty for anything else
	Program  string // what the hooks call; empty when hooks were removed
	Changes  []HookChange
	Manual   *Manual  // set if a manager fills the directory and nothing was written
	Commands []string // to be typed to finish
	Notes    []string
}
