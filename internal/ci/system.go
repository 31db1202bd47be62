package ci

import (
	"cmp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// System describes a CI system: how to recognize its jobs, and how to find out what to compare. Each is a value in a file of its own.
type System struct {
	// Name is the name for people.
	Name string
	// detect reports whether an environment belongs to a job of this system.
	detect func(env map[string]string) bool
	// plan fills in what to compare. event is the content of EventVariable's file; nil if there is none.
	plan func(p *Plan, env map[string]string, event []byte) error
	// readRequest reads what is known about the job's pull request. It is also called if the caller names base and head, and for jobs
	// without a pull request. It is nil if the system has no pull requests.
	readRequest func(p *Plan, env map[string]string, event []byte) jobFacts
	// repository returns the repository's name and the address of a commit's page without the id at its end; each is empty if unknown. It is
	// nil if the system never says.
	repository func(env map[string]string) (name, commits string)
	// originRemedy is the remedy if the remote origin is not the repository whose branches count; nil for the general advice.
	originRemedy func(p *Plan) string

	// EventVariable names the variable with the path of the file that describes the event.
	EventVariable string
	// SummaryVariable and OutputsVariable name the variables with the paths of the files for the step's summary, in Markdown, and its
	// outputs.
	SummaryVariable, OutputsVariable string
	// InputPrefix begins the names of the variables with the step's inputs. ServerVariable names the one with the address of the only server
	// that may get the input "token".
	InputPrefix, ServerVariable string
	// Annotations is the report format that the system shows next to the change if it is in the job's log.
	Annotations string

	// Deep is the remedy for a shallow clone: lines for the job's YAML that fetch the whole history, or words that say what to change.
	Deep string
	// In a job without a repository, NoCheckout ends the message, and Checkout is the remedy: lines for the job's YAML.
	NoCheckout, Checkout string
}

// systems lists the known systems. In a row with several, an earlier one also sets the variables of the later ones: the first that detects itself counts.
var systems = [][]*System{
	{Forgejo, Gitea, GitHub},
	{GitLab},
	{Jenkins},
	{Buildkite},
	{CircleCI},
	{Azure},
	{Bitbucket},
	{Woodpecker, Drone},
}

// Detect finds the system of an environment. If several detect themselves, there is no plan.
func Detect(env map[string]string) *System {
	var found []*System
	for _, row := range systems {
		if i := slices.IndexFunc(row, func(s *System) bool { return s.detect(env) }); i >= 0 {
			found = append(found, row[i])
		}
	}
	switch len(found) {
	case 0:
		return Other
	case 1:
		return found[0]
	}
	return several(found)
}

// Names lists the systems that say what to compare, for people.
func Names() string {
	var names []string
	for _, s := range slices.Concat(systems...) {
		names = append(names, s.Name)
	}
	return wording.List(names, "and")
}

// jobFacts are facts about a job besides what to compare.
type jobFacts struct {
	// inRequest is true in the job of a pull or merge request.
	inRequest bool
	// repository is the full name of the repository whose branches count, defaultBranch its default branch.
	repository, defaultBranch string
}

// Inputs are from the caller.
type Inputs struct {
	// Base and Head are revisions to compare, instead of the system's.
	Base, Head string
}

const remedy = "say what to compare: `small-action --base origin/main --head HEAD`, or the inputs base and head"

// errUndecided returns the failure for a job that does not say what to compare.
func errUndecided(message string) error { return &failure.Error{Message: message, Remedy: remedy} }

// Decide makes the plan. env is the environment, event the content of the file that Detect(env).EventVariable names, nil if there is none.
func Decide(env map[string]string, event []byte, in Inputs) (Plan, error) {
	p := Plan{System: Detect(env)}
	if p.System.repository != nil {
		p.Name, p.CommitLink = p.System.repository(env)
		p.CommitLink = webAddress(p.CommitLink)
	}
	switch {
	case in.Base != "":
		p.planInputs(env, event, in)
		return p, nil
	case in.Head != "":
		return Plan{}, &failure.Error{Message: "head is given, but not what to compare it with", Remedy: "give base too: `small-action --base origin/main --head HEAD`"}
	}
	return p, p.System.plan(&p, env, event)
}

// planInputs makes the plan from the caller's inputs. A base of zeros, as CI systems give for a new branch, means the default branch.
func (p *Plan) planInputs(env map[string]string, event []byte, in Inputs) {
	var facts jobFacts
	if p.System.readRequest != nil {
		facts = p.System.readRequest(p, env, event)
	}
	p.Event, p.Kind = "base and head given", Change
	head := in.Head
	if head == "" {
		head, p.Event = "HEAD", "base given"
	}
	if history.IsZero(head) {
		p.Kind, p.Reason = Nothing, "head is "+wording.Clip(head)+": the branch was deleted"
		return
	}
	p.Head = []Point{givenPoint(head)}
	if !history.IsZero(in.Base) {
		p.Subject = wording.Clip(head) + " against " + wording.Clip(in.Base)
		base := givenPoint(in.Base)
		base.Branch = facts.inRequest && strings.HasPrefix(strings.TrimPrefix(base.Revision, "refs/remotes/"), "origin/")
		p.Base = []Point{base}
		return
	}
	p.Kind, p.NoBefore, p.WithDefault, p.Subject = Push, true, true, wording.Clip(head)+", which is new"
	p.Repository = cmp.Or(p.Repository, facts.repository)
	p.Default = defaultBranchPoints(cmp.Or(env[defaultBranchVariable], facts.defaultBranch))
}

// givenPoint returns the point for a revision that the caller gave.
func givenPoint(revision string) Point {
	p := Point{Revision: revision, Words: wording.Clip(revision)}
	branch, tracking := strings.CutPrefix(strings.TrimPrefix(revision, "refs/remotes/"), "origin/")
	switch {
	case history.IsObjectID(revision):
		p.Fetch = []string{revision}
	case tracking && isBranchName(branch):
		// Only the full name is surely that branch: there may be a tag or a local branch called origin/main.
		p.Revision = "refs/remotes/origin/" + branch
		p.Fetch = []string{"+refs/heads/" + branch + ":" + p.Revision}
	}
	return p
}

// OriginRemedy returns the remedy if the remote origin is not the repository whose branches count.
func (p *Plan) OriginRemedy() string {
	if p.System.originRemedy != nil {
		return p.System.originRemedy(p)
	}
	return remedy
}
