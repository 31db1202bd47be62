package install

// Name is the name of a git hook, which is also its file's name and its small-hook subcommand.
type Name string

// The hooks that call small-hook, as in githooks(5). PrepareCommitMsg and PreApplyPatch judge the commits for which git does not run
// PreCommit. Nothing skips PrepareCommitMsg, so it lets pass what it cannot judge. If an agent commits (SMALL_AGENT_ID), it writes the
// agent into the message, which tells pushes and CI whose commit it is.
// the message, by which pushes and CI know whose commit it is.
const (
	PreCommit        Name = "pre-commit"
	PreMergeCommit   Name = "pre-merge-commit"
	PrePush          Name = "pre-push"
	PreReceive       Name = "pre-receive"
	PrepareCommitMsg Name = "prepare-commit-msg"
	PreApplyPatch    Name = "pre-applypatch"
)

// ClientHooks returns the hooks of a repository with a work tree, in reporting order.
func ClientHooks() []Name {
	return []Name{PreCommit, PreMergeCommit, PrePush, PrepareCommitMsg, PreApplyPatch}
}

// allHooks returns every hook that judges.
func allHooks() []Name { return append(ClientHooks(), PreReceive) }

// readsInput reports whether git gives the hook its work on standard input.
func (n Name) readsInput() bool { return n == PrePush || n == PreReceive }

// keptSuffix ends the file name of the earlier hook that is kept beside ours.
const keptSuffix = ".before-small-gate"

// ProgramName is the name that a shim looks up on PATH if the installed path is gone.
const ProgramName = "small-hook"

// DoctorVariable is the environment variable by which [Doctor] asks a shim to answer instead of judging. A shim that sees it prints one
// line and exits with status 2, whatever the value: set by accident, it blocks and never lets anything through.
const DoctorVariable = "SMALL_GATE_DOCTOR"
