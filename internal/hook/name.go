package hook

// Name is the name of a git hook, which is also its file's name and the small-hook subcommand that answers it.
type Name string

// The hooks that small-hook answers, as in githooks(5). PrepareCommitMsg judges nothing: where an agent commits (SMALL_AGENT_ID), it
// writes that into the message, by which pushes and CI know whose commit it is.
const (
	PreCommit        Name = "pre-commit"
	PreMergeCommit   Name = "pre-merge-commit"
	PrePush          Name = "pre-push"
	PreReceive       Name = "pre-receive"
	PrepareCommitMsg Name = "prepare-commit-msg"
)

// ClientHooks returns the hooks of a repository that somebody works in, in the order in which they are reported.
func ClientHooks() []Name { return []Name{PreCommit, PreMergeCommit, PrePush} }

// allHooks returns every hook that judges.
func allHooks() []Name { return append(ClientHooks(), PreReceive) }

// readsInput reports whether git gives the hook its work on standard input.
func (n Name) readsInput() bool { return n == PrePush || n == PreReceive }

// keptSuffix ends the name of the file that keeps the hook which was there before ours.
const keptSuffix = ".before-small-gate"

// ProgramName is the name under which a shim looks for the program on PATH once the path it was installed with is gone.
const ProgramName = "small-hook"

// DoctorVariable is the environment variable by which [Doctor] asks a shim to answer instead of judging. A shim that sees it
// prints one line and exits with status 2, whatever the value: set by accident, it blocks and never lets anything through.
const DoctorVariable = "SMALL_GATE_DOCTOR"
