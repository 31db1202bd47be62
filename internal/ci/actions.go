package ci

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// actions is a system like GitHub's: Forgejo and Gitea have adopted GitHub's variables, events and workflow commands. checkout is its
// version of actions/checkout.
func actions(name, variable, checkout string) *System {
	deep := "- uses: actions/checkout@" + checkout + "\n  with:\n    fetch-depth: 0"
	return &System{
		Name:   name,
		detect: func(env map[string]string) bool { return env[variable] == "true" },
		plan:   (*Plan).planActions, readRequest: (*Plan).readActionsRequest, originRemedy: (*Plan).actionsOriginRemedy,
		EventVariable: "GITHUB_EVENT_PATH", SummaryVariable: "GITHUB_STEP_SUMMARY", OutputsVariable: "GITHUB_OUTPUT",
		InputPrefix: "INPUT_", ServerVariable: "GITHUB_SERVER_URL", Annotations: "github",
		repository: func(env map[string]string) (name, commits string) {
			name = env["GITHUB_REPOSITORY"]
			return name, env["GITHUB_SERVER_URL"] + "/" + name + "/commit/"
		},
		Deep: deep, NoCheckout: "put actions/checkout before this step", Checkout: deep,
	}
}

func (p *Plan) planActions(env map[string]string, data []byte) error {
	e, err := parseEvent(data)
	if err != nil {
		return err
	}
	p.Event, p.Repository = env["GITHUB_EVENT_NAME"], e.Repository.FullName
	switch {
	case p.Event == "":
		return errUndecided("GITHUB_EVENT_NAME is missing: it says what happened")
	case isPullRequest(p.Event):
		return cmp.Or(requireEvent(env, data), p.planActionsPullRequest(env, e))
	case p.Event == "push":
		return cmp.Or(requireEvent(env, data), p.planActionsPush(env, e))
	case p.Event == "merge_group":
		return cmp.Or(requireEvent(env, data), p.planMergeGroup(env, e))
	case p.Event == "delete":
		p.Kind, p.Reason = Nothing, "a ref was deleted"
		return nil
	}
	// A schedule, a manual run, or any unknown event.
	p.Ref, p.Head = env["GITHUB_REF"], []Point{{Revision: "HEAD", Words: "HEAD"}}
	if history.IsObjectID(env["GITHUB_SHA"]) {
		p.Head = []Point{idPoint(env["GITHUB_SHA"], "GITHUB_SHA")}
	}
	p.planHistory(e.Repository.DefaultBranch)
	return nil
}

// readActionsRequest reads a pull request's labels, its own branch and the target's repository. An unreadable event is no error: the caller has named
// what to compare, so that no more of the event is needed.
func (p *Plan) readActionsRequest(env map[string]string, data []byte) jobFacts {
	e, err := parseEvent(data)
	facts := jobFacts{isPullRequest(env["GITHUB_EVENT_NAME"]), e.Repository.FullName, e.Repository.DefaultBranch}
	if !facts.inRequest {
		return facts
	}
	p.Repository = e.Repository.FullName
	switch {
	case err != nil:
		p.Notes = append(p.Notes, failure.Of(err).Message+"; so no label of the pull request can claim a lane")
	case e.PullRequest == nil:
		p.Notes = append(p.Notes, "the event describes no pull request, so no label can claim a lane")
	}
	p.addRequest(e)
	return facts
}

// actionsOriginRemedy names the ref of the target's repository that has the pull request's head. Under pull_request_target, actions/checkout refuses that
// ref of a fork's pull request: there the gate itself fetches the head, without checking it out.
func (p *Plan) actionsOriginRemedy() string {
	if p.Guarded {
		return "with actions/checkout: remove repository: and ref:, since the gate fetches the head itself, without checking it out; or " + remedy
	}
	for _, point := range p.Head {
		for _, spec := range point.Fetch {
			if strings.HasPrefix(spec, "refs/pull/") {
				return "with actions/checkout: ref: " + spec + " instead of repository:; or " + remedy
			}
		}
	}
	return "with actions/checkout: remove repository:; or " + remedy
}

// requireEvent fails if the event is not described. The checked-out commit alone does not say what to compare it with.
func requireEvent(env map[string]string, data []byte) error {
	file := env["GITHUB_EVENT_PATH"]
	switch {
	case len(bytes.TrimSpace(data)) > 0:
		return nil
	case file == "":
		happened := "proposed"
		if env["GITHUB_EVENT_NAME"] == "push" {
			happened = "pushed"
		}
		return errUndecided("GITHUB_EVENT_PATH is missing: it names the file that says what was " + happened)
	case data == nil:
		return &failure.Error{
			Message: fmt.Sprintf("the event's file is missing: there is no %s (GITHUB_EVENT_PATH)", wording.Clip(file)),
			Remedy:  "let the job see that file (mount it into a container); or " + remedy,
		}
	}
	return errUndecided(fmt.Sprintf("the event's file, %s (GITHUB_EVENT_PATH), is empty", wording.Clip(file)))
}

// planActionsPullRequest compares the head with the target. GITHUB_SHA is GitHub's own merge of the two, whose first parent is the target as of
// that merge; base.sha can be hours older and is the last resort. On Forgejo and Gitea GITHUB_SHA is the head itself, which is no merge.
func (p *Plan) planActionsPullRequest(env map[string]string, e event) error {
	p.Kind = Change
	if e.PullRequest == nil {
		return errUndecided("the event of a pull request does not describe one")
	}
	pr := e.PullRequest
	if err := checkID("pull_request.head.sha of the event", pr.Head.SHA); err != nil {
		return err
	}
	p.addRequest(e)
	number := pr.Number.String()
	if strings.Trim(number, "0123456789") != "" {
		return errUndecided(fmt.Sprintf("pull_request.number of the event is %q", wording.Clip(number)))
	}
	p.Subject = fmt.Sprintf("pull request %s into %s", number, wording.Clip(pr.Base.Ref))
	head := idPoint(pr.Head.SHA, "pull_request.head.sha")
	if number != "" {
		head.Fetch = append(head.Fetch, "refs/pull/"+number+"/head")
	}
	p.Head = []Point{head}
	p.Base = branchPoints(pr.Base.Ref, "the target branch "+pr.Base.Ref)
	p.SuspectBase = pr.State != "closed" && e.Action != "closed"
	merge := Point{Revision: "refs/remotes/pull/" + number + "/merge", Words: "refs/remotes/pull/" + number + "/merge", Branch: true}
	if p.Event == "pull_request_target" {
		p.Guarded, p.Subject = true, p.Subject+", in the target's own workflow"
		// GITHUB_SHA is the tip of GITHUB_REF, which is checked out. On GitHub that is always the default branch, elsewhere the target.
		if history.IsObjectID(env["GITHUB_SHA"]) && env["GITHUB_REF"] == "refs/heads/"+pr.Base.Ref {
			for i := range p.Base {
				p.Base[i].Fetch = nil
			}
			p.Base = append(p.Base, idPoint(env["GITHUB_SHA"], "GITHUB_SHA"))
		}
	} else if sha := env["GITHUB_SHA"]; history.IsObjectID(sha) {
		p.Merge = append(p.Merge, Point{Revision: sha, Words: "GITHUB_SHA", Made: true})
	}
	if number != "" {
		p.Merge = append(p.Merge, merge)
	}
	if history.IsObjectID(pr.Base.SHA) {
		p.Base = append(p.Base, idPoint(pr.Base.SHA, "pull_request.base.sha"))
	}
	if len(p.Base) == 0 {
		return errUndecided("the event names no target branch")
	}
	return nil
}

// planActionsPush plans for the push of one ref, from the commit before to the commit after. before is zeros for a new ref.
func (p *Plan) planActionsPush(env map[string]string, e event) error {
	p.Kind, p.Ref = Push, cmp.Or(e.Ref, env["GITHUB_REF"])
	after, words := e.After, "after"
	if after == "" {
		after, words = env["GITHUB_SHA"], "GITHUB_SHA"
	}
	p.Subject = "push to " + wording.Clip(p.Ref)
	if e.Deleted || history.IsZero(after) {
		p.Kind, p.Reason = Nothing, wording.Clip(p.Ref)+" was deleted"
		return nil
	}
	if err := checkID(words+" of the push", after); err != nil {
		return err
	}
	p.Head = []Point{idPoint(after, words)}
	if p.Ref == "" {
		return errUndecided("ref of the push is missing")
	}
	if !history.IsZero(e.Before) {
		if err := checkID("before of the push", e.Before); err != nil {
			return err
		}
		p.Base = []Point{idPoint(e.Before, "before")}
	}
	p.compareWithDefault(e.Repository.DefaultBranch)
	return nil
}

// planMergeGroup compares a merge queue's result with the target branch. The head is already a merge result. base_sha is only the
// head of the pull request before it in the queue: where one green head lands a whole group, a red one before it would land with it.
func (p *Plan) planMergeGroup(env map[string]string, e event) error {
	p.Kind = Change
	if e.MergeGroup == nil {
		return errUndecided("the event of a merge group does not describe one")
	}
	if e.Action == "destroyed" {
		p.Kind, p.Reason = Nothing, "the merge group is gone"
		return nil
	}
	head, words := e.MergeGroup.HeadSHA, "merge_group.head_sha"
	if head == "" {
		head, words = env["GITHUB_SHA"], "GITHUB_SHA"
	}
	if err := checkID(words, head); err != nil {
		return err
	}
	target := strings.TrimPrefix(e.MergeGroup.BaseRef, "refs/heads/")
	p.Base = branchPoints(target, "the target branch "+target)
	if len(p.Base) == 0 {
		return errUndecided("merge_group.base_ref of the event names no branch")
	}
	p.Subject = "merge group into " + wording.Clip(target)
	p.Head = []Point{idPoint(head, words)}
	return nil
}
