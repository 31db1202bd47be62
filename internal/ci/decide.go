package ci

import (
	"errors"
	"strings"

	"github.com/small-gate/small-gate/internal/wording"
)

// Error is why no plan could be made.
type Error struct {
	// Message says what is missing or wrong; it quotes untrusted text.
	Message string
	// Remedy is what to type or add.
	Remedy string
}

// Error is the message, with the remedy where there is one.
func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Remedy
}

const explicitRemedy = "say what to compare with the inputs base and head (--base and --head)"

// Decide makes the plan. env is the environment, event the content of the
// event's file where the platform has one (EventFile), nil where there is no such
// file. Errors are *Error values.
func Decide(env map[string]string, event []byte, in Inputs) (Plan, error) {
	platform := Detect(env)
	switch {
	case in.Base != "":
		return explicit(platform, env, event, in)
	case in.Head != "":
		return Plan{}, &Error{Message: "head is given, but not what to compare it with", Remedy: "give base too (--base)"}
	}
	switch platform {
	case GitHub, Forgejo, Gitea:
		return github(platform, env, event)
	case GitLab:
		return gitlab(env)
	}
	return Plan{}, &Error{
		Message: "this is none of the CI systems that say by themselves what to compare (GitHub, GitLab, Forgejo and Gitea do)",
		Remedy:  "say it: small-action --base origin/main --head HEAD",
	}
}

// Detect tells which platform an environment is of. Forgejo and Gitea say so
// beside setting GitHub's variables.
func Detect(env map[string]string) Platform {
	switch {
	case env["FORGEJO_ACTIONS"] == "true":
		return Forgejo
	case env["GITEA_ACTIONS"] == "true":
		return Gitea
	case env["GITHUB_ACTIONS"] == "true":
		return GitHub
	case env["GITLAB_CI"] == "true":
		return GitLab
	}
	return Other
}

// EventFile is the file in which the platform describes the event; empty where
// it has none.
func EventFile(env map[string]string) string {
	switch Detect(env) {
	case GitHub, Forgejo, Gitea:
		return env["GITHUB_EVENT_PATH"]
	}
	return ""
}

// explicit plans by what the caller says. A base of zeros, as CI systems give
// for a branch that is new, compares with the default branch.
func explicit(platform Platform, env map[string]string, event []byte, in Inputs) (Plan, error) {
	p := Plan{Platform: platform, Event: "base and head given", Kind: Change}
	request := p.besides(env, event)
	head := in.Head
	if head == "" {
		head, p.Event = "HEAD", "base given"
	}
	if isZero(head) {
		p.Kind, p.Reason = Nothing, "head is "+wording.Clip(head)+": the branch was deleted"
		return p, nil
	}
	p.Head = []Point{given(head)}
	p.Subject = wording.Clip(head) + " against " + wording.Clip(in.Base)
	if !isZero(in.Base) {
		base := given(in.Base)
		base.Branch = request && strings.HasPrefix(strings.TrimPrefix(base.Revision, "refs/remotes/"), "origin/")
		p.Base = []Point{base}
		return p, nil
	}
	p.Kind, p.Compare = Push, true
	p.Subject = wording.Clip(head) + ", which is new"
	name := env["CI_DEFAULT_BRANCH"]
	if e, err := parse(event); err == nil && name == "" {
		name, p.Repository = e.Repository.DefaultBranch, e.Repository.FullName
	}
	p.Default = branchPoints(name, "the default branch "+name)
	return p, nil
}

// besides takes from a pull request what counts also where the job's caller gives
// base and head: its labels, and whose branches the target's are. An event that
// cannot be read is no error, since no more of it is needed. It reports whether
// the job is about a pull request.
func (p *Plan) besides(env map[string]string, data []byte) bool {
	switch {
	case p.Platform == GitLab:
		p.gitlabProjects(env)
		p.gitlabLabels(env)
		return env["CI_MERGE_REQUEST_IID"] != ""
	case p.Platform != Other && isPullRequest(env["GITHUB_EVENT_NAME"]):
		e, err := parse(data)
		var why *Error
		switch {
		case errors.As(err, &why):
			p.Notes = append(p.Notes, why.Message+"; a label of the pull request claims no lane here")
		case e.PullRequest == nil:
			p.Notes = append(p.Notes, "the event describes no pull request; a label of it claims no lane here")
		}
		p.labels(e)
		p.Repository = e.Repository.FullName
		return true
	}
	return false
}

// given is a revision in the caller's words.
func given(revision string) Point {
	p := Point{Revision: revision, Words: wording.Clip(revision)}
	branch, tracking := strings.CutPrefix(strings.TrimPrefix(revision, "refs/remotes/"), "origin/")
	switch {
	case isID(revision):
		p.Fetch = []string{revision}
	case tracking && isBranch(branch):
		// Not a tag or a branch that somebody has called origin/main.
		p.Revision = "refs/remotes/origin/" + branch
		p.Fetch = []string{"+refs/heads/" + branch + ":" + p.Revision}
	}
	return p
}
