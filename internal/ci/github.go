package ci

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/wording"
)

// github plans for GitHub Actions, and for Forgejo's and Gitea's, which take
// over its variables and events.
func github(platform Platform, env map[string]string, data []byte) (Plan, error) {
	e, err := parse(data)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Platform: platform, Event: env["GITHUB_EVENT_NAME"], Repository: e.Repository.FullName}
	switch {
	case p.Event == "":
		return p, &Error{Message: "GITHUB_EVENT_NAME is missing, so that nobody can tell what happened", Remedy: explicitRemedy}
	case isPullRequest(p.Event):
		return p, cmp.Or(noEvent(env, data), p.pullRequest(env, e))
	case p.Event == "push":
		return p, cmp.Or(noEvent(env, data), p.githubPush(env, e))
	case p.Event == "merge_group":
		return p, cmp.Or(noEvent(env, data), p.mergeGroup(env, e))
	case p.Event == "delete":
		p.Kind, p.Reason = Nothing, "a ref was deleted"
		return p, nil
	}
	return p, p.wholeGitHub(env, e)
}

// noEvent is the error for an event that is described nowhere: the commit that
// is checked out does not say what it is to be compared with.
func noEvent(env map[string]string, data []byte) error {
	file := env["GITHUB_EVENT_PATH"]
	switch {
	case len(bytes.TrimSpace(data)) > 0:
		return nil
	case file == "":
		return &Error{Message: "GITHUB_EVENT_PATH is missing, so that nobody can tell what was " + happened(env), Remedy: explicitRemedy}
	case data == nil:
		return &Error{
			Message: fmt.Sprintf("the event's file is missing: there is no %s (GITHUB_EVENT_PATH)", wording.Clip(file)),
			Remedy:  "let the job see that file, in a container by mounting it; or " + explicitRemedy,
		}
	}
	return &Error{Message: fmt.Sprintf("the event's file, %s (GITHUB_EVENT_PATH), is empty", wording.Clip(file)), Remedy: explicitRemedy}
}

// happened is what an event did, in a word.
func happened(env map[string]string) string {
	if env["GITHUB_EVENT_NAME"] == "push" {
		return "pushed"
	}
	return "proposed"
}

// pullRequest compares the head with the target. GITHUB_SHA is GitHub's own
// merge of the two, whose first parent is the target as of that merge;
// base.sha can be older by hours and is the last resort. Forgejo and Gitea have
// the head itself in GITHUB_SHA, which is then taken for no merge.
func (p *Plan) pullRequest(env map[string]string, e event) error {
	p.Kind = Change
	if e.PullRequest == nil {
		return &Error{Message: "the event of a pull request does not describe one", Remedy: explicitRemedy}
	}
	pr := e.PullRequest
	if err := checkID("pull_request.head.sha of the event", pr.Head.SHA); err != nil {
		return err
	}
	p.labels(e)
	number := pr.Number.String()
	if strings.Trim(number, "0123456789") != "" {
		return &Error{Message: fmt.Sprintf("pull_request.number of the event is %q", wording.Clip(number)), Remedy: explicitRemedy}
	}
	p.Subject = fmt.Sprintf("pull request %s into %s", number, wording.Clip(pr.Base.Ref))
	p.Source = pr.Head.Ref
	head := idPoint(pr.Head.SHA, "pull_request.head.sha")
	if number != "" {
		head.Fetch = append(head.Fetch, "refs/pull/"+number+"/head")
	}
	p.Head = []Point{head}
	p.Base = branchPoints(pr.Base.Ref, "the target branch "+pr.Base.Ref)
	p.Open = pr.State != "closed" && e.Action != "closed"
	merge := Point{Revision: "refs/remotes/pull/" + number + "/merge", Words: "refs/remotes/pull/" + number + "/merge", Branch: true}
	if p.Event == "pull_request_target" {
		// Here GITHUB_SHA is the target's tip, and is checked out.
		p.Guarded, p.Subject = true, p.Subject+", in the target's own workflow"
		for i := range p.Base {
			p.Base[i].Fetch = nil
		}
		if isID(env["GITHUB_SHA"]) {
			p.Base = append(p.Base, idPoint(env["GITHUB_SHA"], "GITHUB_SHA"))
		}
	} else if sha := env["GITHUB_SHA"]; isID(sha) {
		p.Merge = append(p.Merge, Point{Revision: sha, Words: "GITHUB_SHA", Made: true})
	}
	if number != "" {
		p.Merge = append(p.Merge, merge)
	}
	if isID(pr.Base.SHA) {
		p.Base = append(p.Base, idPoint(pr.Base.SHA, "pull_request.base.sha"))
	}
	if len(p.Base) == 0 {
		return &Error{Message: "the event names no target branch", Remedy: explicitRemedy}
	}
	return nil
}

// githubPush follows one ref from before to after. before is zeros for a ref that
// is new; one that is absent says nothing.
func (p *Plan) githubPush(env map[string]string, e event) error {
	p.Kind, p.Ref, p.Forced = Push, e.Ref, e.Forced
	if p.Ref == "" {
		p.Ref = env["GITHUB_REF"]
	}
	after, words := e.After, "after"
	if after == "" {
		after, words = env["GITHUB_SHA"], "GITHUB_SHA"
	}
	p.Subject = "push to " + wording.Clip(p.Ref)
	if e.Deleted || isZero(after) {
		p.Kind, p.Reason = Nothing, wording.Clip(p.Ref)+" was deleted"
		return nil
	}
	if err := checkID(words+" of the push", after); err != nil {
		return err
	}
	p.Head = []Point{idPoint(after, words)}
	if p.Ref == "" {
		return &Error{Message: "ref of the push is missing", Remedy: explicitRemedy}
	}
	if !isZero(e.Before) {
		if err := checkID("before of the push", e.Before); err != nil {
			return err
		}
		p.Base = []Point{idPoint(e.Before, "before")}
	}
	p.against(e.Repository.DefaultBranch)
	return nil
}

// against sets what a push is compared with beside its own past.
func (p *Plan) against(defaultBranch string) {
	p.OnDefault = defaultBranch != "" && p.Ref == "refs/heads/"+defaultBranch
	if p.OnDefault {
		return
	}
	p.Default = branchPoints(defaultBranch, "the default branch "+defaultBranch)
	p.Compare = strings.HasPrefix(p.Ref, "refs/heads/")
}

// mergeGroup compares what a merge queue would merge with what it would be
// merged into. The head is a merge result already.
func (p *Plan) mergeGroup(env map[string]string, e event) error {
	p.Kind = Change
	if e.MergeGroup == nil {
		return &Error{Message: "the event of a merge group does not describe one", Remedy: explicitRemedy}
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
	if err := checkID("merge_group.base_sha of the event", e.MergeGroup.BaseSHA); err != nil {
		return err
	}
	p.Subject = "merge group into " + wording.Clip(strings.TrimPrefix(e.MergeGroup.BaseRef, "refs/heads/"))
	p.Head = []Point{idPoint(head, words)}
	p.Base = []Point{idPoint(e.MergeGroup.BaseSHA, "merge_group.base_sha")}
	return nil
}

// wholeGitHub judges a history, where the event brings no change: on a
// schedule, by hand, and for every event that is not known here.
func (p *Plan) wholeGitHub(env map[string]string, e event) error {
	p.Kind, p.Ref = History, env["GITHUB_REF"]
	p.Head = []Point{{Revision: "HEAD", Words: "HEAD"}}
	if isID(env["GITHUB_SHA"]) {
		p.Head = []Point{idPoint(env["GITHUB_SHA"], "GITHUB_SHA")}
	}
	p.history(e.Repository.DefaultBranch)
	return nil
}

// history sets whose policy a whole history is judged by.
func (p *Plan) history(defaultBranch string) {
	name, isBranch := strings.CutPrefix(p.Ref, "refs/heads/")
	p.Subject = "the whole history of " + wording.Clip(p.Ref)
	if p.Ref == "" {
		p.Subject = "the whole history"
	}
	p.OnDefault = isBranch && name == defaultBranch
	if !p.OnDefault {
		p.Default = branchPoints(defaultBranch, "the default branch "+defaultBranch)
	}
}
