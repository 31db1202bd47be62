package ci

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// variables are the names of the variables with which a CI system describes a build, for systems that give no other description. A name is empty
// if the system has no such variable.
//
// The checked-out commit of such a build may be the system's merge of the head and the target, so HEAD is tried as that merge. Most systems do not
// say what a branch was before; then it is compared with the default branch alone.
type variables struct {
	// event is the kind of event; if it is "push", before is the branch's old tip.
	event, before string
	// request is the number of the pull request, and empty or "false" without one.
	request string
	// target and source are the branches of the pull request, by name or by full ref, and labels its labels, separated by commas.
	target, source, labels string
	// head is the pull request's tip if commit is a merge of it. commit is the commit that is built; without the variable, or with the
	// value HEAD, it is the checked-out one.
	head, commit string
	// ref is the full name of the ref that is built. If it is empty, tag and branch are the names.
	ref, tag, branch string
	// defaultBranch is the repository's default branch.
	defaultBranch string
	// repository is the full name of the cloned repository, whose branches count. fork is the full name, or the owner, of the repository
	// with a pull request's own branch.
	repository, fork string
	// page is the address of the repository's page, and commits the path from there to a commit, up to the id.
	page, commits string
}

// defaultBranchVariable names the default branch if the system does not, or overrides it.
const defaultBranchVariable = "CI_DEFAULT_BRANCH"

// system completes a system that describes its builds with these variables.
func (v variables) system(s System) *System {
	s.plan, s.readRequest = v.plan, v.readRequest
	s.repository = func(env map[string]string) (name, commits string) {
		return env[v.repository], env[v.page] + v.commits
	}
	return &s
}

// variableIs returns a function that recognizes a system by the value of one variable.
func variableIs(name, value string) func(env map[string]string) bool {
	return func(env map[string]string) bool { return env[name] == value }
}

func (v variables) plan(p *Plan, env map[string]string, _ []byte) error {
	facts := v.readRequest(p, env, nil)
	head := Point{Revision: "HEAD", Words: "HEAD"}
	for _, name := range []string{v.commit, v.head} {
		switch id := env[name]; {
		case id == "", id == "HEAD":
			continue
		case !history.IsObjectID(id):
			return checkID(name, id)
		default:
			head = idPoint(id, name)
		}
	}
	p.Head = []Point{head}
	if facts.inRequest {
		return v.planPullRequest(p, env)
	}
	p.Kind, p.Ref = Push, cmp.Or(env[v.ref], refOf(env[v.tag], env[v.branch]))
	p.Event, p.Subject = "a build", "the checked-out commit"
	if p.Ref != "" {
		p.Subject = wording.Clip(p.Ref)
	}
	before, err := variablePoint(env, v.before)
	if env[v.event] == "push" && err != nil {
		return err
	}
	if env[v.event] == "push" && len(before) > 0 {
		p.Base = before
		p.compareWithDefault(facts.defaultBranch)
	} else {
		p.NoBefore, p.WithDefault = true, !strings.HasPrefix(p.Ref, "refs/tags/")
		p.Default = refetched(defaultBranchPoints(facts.defaultBranch))
	}
	p.Event = cmp.Or(env[v.event], p.Event)
	return nil
}

// planPullRequest compares the head with the target, or with the target as of the merge that is checked out.
func (v variables) planPullRequest(p *Plan, env map[string]string) error {
	target := strings.TrimPrefix(env[v.target], "refs/heads/")
	p.Kind, p.Event = Change, cmp.Or(env[v.event], "pull request")
	p.Subject = fmt.Sprintf("pull request %s into %s", wording.Clip(env[v.request]), wording.Clip(target))
	p.Base = refetched(branchPoints(target, "the target branch "+target))
	if len(p.Base) == 0 {
		return errUndecided(fmt.Sprintf("%s is %q, which is no name of a branch; it has to name the pull request's target", v.target, wording.Clip(target)))
	}
	p.Merge = []Point{{Revision: "HEAD", Words: "HEAD", Made: true}}
	return nil
}

func (v variables) readRequest(p *Plan, env map[string]string, _ []byte) jobFacts {
	p.Repository, p.Fork, p.Source = env[v.repository], env[v.fork], strings.TrimPrefix(env[v.source], "refs/heads/")
	for name := range strings.SplitSeq(env[v.labels], ",") {
		p.addLabel(name)
	}
	number := env[v.request]
	return jobFacts{
		inRequest: number != "" && number != "false", repository: p.Repository,
		defaultBranch: cmp.Or(env[defaultBranchVariable], env[v.defaultBranch]),
	}
}

// refetched marks a branch to be fetched again: the clone may be from an earlier build.
func refetched(points []Point) []Point {
	if len(points) > 0 {
		points[0].Stale = true
	}
	return points
}

// several returns a system without a plan, for a job that has the variables of several systems, for example because one of them started a job in another.
func several(found []*System) *System {
	var names []string
	for _, s := range found {
		names = append(names, s.Name)
	}
	return &System{
		Name: strings.Join(names, " and "),
		plan: func(*Plan, map[string]string, []byte) error {
			return &failure.Error{
				Message: "this environment has the variables of " + strings.Join(names, " and of ") + ", which may say different things",
				Remedy:  "unset the variables of all but one of them in this step; or " + remedy,
			}
		},
		Deep: Other.Deep,
	}
}
