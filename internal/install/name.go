package install

// Name is the name of a git hook. The hook's file and the subcommand of small-hook that the hook calls have the same name.
type Name string

// The hooks that call small-hook, as in githooks(5). PrepareCommitMsg and PreApplyPatch judge the commits for which git does not run
// PreCommit. PrepareCommitMsg lets through a commit that it cannot judge: not even --no-verify skips it, so nobody could commit otherwise. It also
// writes the agent in SMALL_AGENT_ID into the commit message, which tells the gate, at a push and in CI, whose commit it is.
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

func allHooks() []Name { return append(ClientHooks(), PreReceive) }

// readsInput reports whether git writes the pushed refs to the hook's standard input.
func (n Name) readsInput() bool { return n == PrePush || n == PreReceive }

// keptSuffix ends the file name of the earlier hook that is kept beside ours.
const keptSuffix = ".before-small-gate"

// ProgramName is the name that a shim looks up on PATH if the program at its absolute path is gone.
const ProgramName = "small-hook"

// DoctorVariable is the environment variable by which [Doctor] asks a shim to answer instead of judging. A shim that sees it prints one
// line and exits with status 2, whatever the value: if the variable is set by accident, the hook blocks and never lets anything through.
const DoctorVariable = "SMALL_GATE_DOCTOR"
