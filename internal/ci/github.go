package ci

import (
	"fmt"
	"strings"
)

// github plans for GitHub Actions, and for Forgejo's and Gitea's, which take
// over its variables and events.
func github(platform Platform, env map[string]string, data []byte) (Plan, error) {
	e, err := parse(data)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Platform: platform, Event: env["GITHUB_EVENT_NAME"], Deep: deepGitHub}
	switch p.Event {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment":
		return p, p.pullRequest(env, e)
	case "push":
		return p, p.githubPush(env, e)
	case "merge_group":
		return p, p.mergeGroup(env, e)
	case "delete":
		p.Kind, p.Reason = Nothing, "a ref was deleted"
		return p, nil
	}
	return p, p.wholeGitHub(env, e)
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
	for _, label := range pr.Labels {
		p.label(label.Name)
	}
	number := pr.Number.String()
	if strings.Trim(number, "0123456789") != "" {
		return &Error{Message: fmt.Sprintf("pull_request.number of the event is %q", clipped(number)), Remedy: explicitRemedy}
	}
	p.Subject = fmt.Sprintf("pull request %s into %s", number, clipped(pr.Base.Ref))
	p.Source = pr.Head.Ref
	head := idPoint(pr.Head.SHA, "pull_request.head.sha")
	if number != "" {
		head.Fetch = append(head.Fetch, "refs/pull/"+number+"/head")
	}
	p.Head = []Point{head}
	p.Base = branchPoints(pr.Base.Ref, "the target branch "+pr.Base.Ref)
	merge := Point{Revision: "refs/remotes/pull/" + number + "/merge", Words: "refs/remotes/pull/" + number + "/merge"}
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

// githubPush follows one ref from before to after.
func (p *Plan) githubPush(env map[string]string, e event) error {
	p.Kind, p.Ref, p.Forced = Push, e.Ref, e.Forced
	if p.Ref == "" {
		p.Ref = env["GITHUB_REF"]
	}
	after, words := e.After, "after"
	if after == "" {
		after, words = env["GITHUB_SHA"], "GITHUB_SHA"
	}
	p.Subject = "push to " + clipped(p.Ref)
	if e.Deleted || isZero(after) {
		p.Kind, p.Reason = Nothing, clipped(p.Ref)+" was deleted"
		return nil
	}
	if err := checkID(words+" of the push", after); err != nil {
		return err
	}
	p.Head = []Point{idPoint(after, words)}
	if !absent(e.Before) {
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
	p.Subject = "merge group into " + clipped(strings.TrimPrefix(e.MergeGroup.BaseRef, "refs/heads/"))
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
	p.Subject = "the whole history of " + clipped(p.Ref)
	if p.Ref == "" {
		p.Subject = "the whole history"
	}
	p.OnDefault = defaultBranch == "" || isBranch && name == defaultBranch
	if !p.OnDefault {
		p.Default = branchPoints(defaultBranch, "the default branch "+defaultBranch)
	}
}
