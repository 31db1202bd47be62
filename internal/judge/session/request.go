package session

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy/lane"
)

// Request is what a person or a CI job asks for.
type Request struct {
	// Dir is the directory whose repository or workspace is judged; empty means the current directory.
	Dir string
	// Strict, FailOnWarning and EachCommit are those of [run.Options].
	Strict        bool
	FailOnWarning bool
	EachCommit    bool
	// WorkspaceKind is the accepted kind of workspace, one of workspaceKinds. Empty means "any"; `small-hook check` sets "root" if it judges one
	// workspace.
	WorkspaceKind string
	// Config is a configuration file to judge by instead of the trusted one, at the caller's own risk.
	Config string
	// TrustedConfig is the path of the configuration in the trusted side's tree; empty means policy.File at its root.
	TrustedConfig string
	// RepositoryName is the repository's name in its CI system, for the report of a repository whose remote origin has no address; empty if it is not
	// known.
	RepositoryName string
	// Floor is the floor's file, or its text; if it is empty, the environment may name a floor.
	Floor string
	// MaxFileSize overrides the policy's limit, in bytes; 0 leaves it.
	MaxFileSize int64
	// Lane is the lane that the caller claims, one of lane.Names in upper or lower case; empty for none.
	Lane string
	// LaneFrom says how the caller claims the lane; empty means lane.FromCaller.
	LaneFrom lane.Source
	// Labels are those labels of a pull request that claim a lane.
	Labels []string
	// Reader is one of repository.Readers; empty means repository.Auto.
	Reader string
	// Environ is the environment of the command, as in [os.Environ].
	Environ []string
	// Now is compared with new timestamps and the last days of waivers.
	Now time.Time
	// Version is the version of the program.
	Version string
	// Progress, if set, is called while commits are judged.
	Progress func(done, total int)
	// Evidence and Find are those of [run.Options]: with Evidence the report shows the evidence of entries; Find says which findings it lists.
	Evidence bool
	Find     func(*finding.Finding) bool
}

// agentVariable is the environment variable with the id of the agent that runs the command.
const agentVariable = "SMALL_AGENT_ID"

// Getenv returns the value of a variable in the request's environment; empty if the variable is not set.
func (r Request) Getenv(key string) string { return program.Getenv(r.Environ, key) }

// Agent returns the id of the agent that runs the command; empty for a person.
func (r Request) Agent() string { return strings.TrimSpace(r.Getenv(agentVariable)) }

// RefuseAgent returns an error if an agent runs the command: accepting is a person's decision.
func (r Request) RefuseAgent() error {
	if r.Agent() == "" {
		return nil
	}
	return &failure.Error{Message: "a person decides what is accepted, and " + agentVariable + " says that an agent types this", Remedy: "ask a person, and say what would be accepted"}
}

// OpensEditor reports whether git will open an editor for the commit's message. If git will open none, it runs hooks with GIT_EDITOR=":".
func (r Request) OpensEditor() bool { return r.Getenv("GIT_EDITOR") != ":" }

// workspaceKinds are the values of --workspace, with the kinds of workspaces that each accepts.
var workspaceKinds = map[string][]string{
	"root":     {read.KindRepoRoot},
	"examples": {read.KindExamples},
	"any":      {read.KindRepoRoot, read.KindExamples},
}

// cacheSize returns how many bytes of logs may stay in memory: a quarter of GOMEMLIMIT, or 0, for the default, if GOMEMLIMIT is not set.
func cacheSize() int {
	const parts = 4
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return int(max(limit/parts, 1))
	}
	return 0
}

// options makes a judgement's options from the request; mode is the command's name. It fails if a value of the request is invalid. The policy is set
// later.
func (r Request) options(mode string) (run.Options, error) {
	opts := run.Options{
		Mode: mode, Strict: r.Strict, Now: r.Now, MaxFileSize: r.MaxFileSize, EachCommit: r.EachCommit, Progress: r.Progress,
		FailOnWarning: r.FailOnWarning, Find: r.Find, Evidence: r.Evidence, Agent: r.Agent(), Labels: r.Labels, LaneFrom: r.LaneFrom, Cache: cacheSize(),
	}
	var err error
	if opts.Lane, err = r.ClaimedLane(); err != nil {
		return opts, err
	}
	name := cmp.Or(strings.ToLower(strings.TrimSpace(r.WorkspaceKind)), "any")
	var known bool
	if opts.Kinds, known = workspaceKinds[name]; !known {
		return opts, &failure.Error{Message: fmt.Sprintf("there is no workspace kind %q", name), Remedy: "use --workspace root, examples or any"}
	}
	if r.MaxFileSize < 0 {
		return opts, &failure.Error{Message: "--max-file-size is negative", Remedy: "give a number of bytes, such as --max-file-size 33554432"}
	}
	return opts, nil
}

// laneVariable is the environment variable that claims a lane: for a commit's hooks, which get no flags and cannot read the commit's message yet, and
// for a whole job of CI.
const laneVariable = "SMALL_LANE"

// WithEnvironmentLane returns the request with the lane of the environment if the caller claims no lane.
func (r Request) WithEnvironmentLane() Request {
	if r.Lane == "" {
		r.Lane = r.Getenv(laneVariable)
		if r.Lane != "" {
			r.LaneFrom = lane.FromEnvironment
		}
	}
	return r
}

// LaneList lists the lanes for a sentence: fast, standard or deep.
var LaneList = wording.List(lane.Names, "or")

// ClaimedLane returns the lane that the caller claims, in lower case; empty if the caller claims none. It fails if there is no such lane.
func (r Request) ClaimedLane() (string, error) {
	l, ok := lane.Parse(r.Lane)
	switch {
	case ok:
		return string(l), nil
	case r.Lane == "":
		return "", nil
	case r.LaneFrom == lane.FromInput:
		return "", &failure.Error{Message: fmt.Sprintf("there is no lane %q, which the action's lane input names", r.Lane), Remedy: "set the action's lane input to " + LaneList + ", or leave it out"}
	case r.LaneFrom == lane.FromEnvironment:
		return "", &failure.Error{
			Message: fmt.Sprintf("there is no lane %q, which the variable %s names", r.Lane, laneVariable),
			Remedy:  fmt.Sprintf("set %s to %s, or `unset %[1]s`", laneVariable, LaneList),
		}
	}
	return "", &failure.Error{Message: fmt.Sprintf("there is no lane %q", r.Lane), Remedy: "use --lane " + LaneList}
}
