package install

// Outcome sums up an installation or its removal.
type Outcome int

// The outcomes. With an error, a function also returns [Failed], and in [Result].Changes what it did before the error.
const (
	Failed           Outcome = iota
	Unchanged                // no file was touched
	Changed                  // files were written, moved or removed
	NeedsManualSteps         // a person must do something: see ManualSteps, Commands, or the changes' notes. The exit status is not 0
)

// After returns the outcome after action, where o is the outcome before action.
func (o Outcome) After(action Action) Outcome {
	switch {
	case action == LeftAlone:
		return NeedsManualSteps
	case action != Absent && action != NoCall && action != Present && o == Unchanged:
		return Changed
	}
	return o
}

// Action is what was done about one hook, one file of a driver, or the settings of one harness. Its text is printed after the hook's name.
type Action string

// The actions.
const (
	Installed Action = "installed"                // a shim was written where no hook was
	Chained   Action = "chained"                  // a shim was written, and the hook that was there is kept beside it
	Updated   Action = "updated"                  // a shim was replaced by another, or made executable
	Present   Action = "present"                  // the right shim was there already
	Called    Action = "called"                   // nothing was done: a hook of somebody else, or a manager's file, names the gate already
	Removed   Action = "removed"                  // a shim was removed
	Restored  Action = "restored"                 // the kept hook replaced a shim again
	Absent    Action = "absent"                   // there was nothing of ours
	LeftAlone Action = "left as it is"            // a person must look at it; the note, or the error, says why
	NoCall    Action = "it did not call the gate" // of a harness's settings
)

// HookChange is what was done about one hook, about a driver in one file, or about the settings of one harness.
type HookChange struct {
	Hook   Name // the hook's name, or what the driver or harness is called
	Path   string
	Action Action
	Kept   string // the path at which the hook that was there before is kept; empty if there is none
	Note   string // for people; often empty
}

// Result is what an installation or its removal did.
type Result struct {
	Outcome     Outcome
	Dir         string // git's hooks directory; empty if the result is not about hooks
	Program     string // what the hooks call; empty if none of them names a program
	Changes     []HookChange
	ManualSteps *ManualSteps // set if a manager was recognised whose files must be changed first: nothing was written then
	Commands    []string     // for a person to type
	Notes       []string
	RunIn       string // the directory in which the commands in Text are to run; empty for where they are typed
}

// add appends change to r.Changes and updates r.Outcome.
func (r *Result) add(change HookChange) {
	r.Changes, r.Outcome = append(r.Changes, change), r.Outcome.After(change.Action)
}

// orFailed returns r and err, with the outcome [Failed] unless err is nil.
func (r Result) orFailed(err error) (Result, error) {
	if err != nil {
		r.Outcome = Failed
	}
	return r, err
}
