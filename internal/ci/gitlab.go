package ci

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// GitLab is GitLab CI.
var GitLab = &System{
	Name:   "GitLab CI",
	detect: func(env map[string]string) bool { return env["GITLAB_CI"] == "true" },
	plan:   (*Plan).planGitLab, readRequest: (*Plan).readGitLabRequest, originRemedy: (*Plan).gitlabOriginRemedy,
	repository: func(env map[string]string) (name, commits string) {
		return env["CI_PROJECT_PATH"], env["CI_PROJECT_URL"] + "/-/commit/"
	},
	Deep:       "variables:\n  GIT_DEPTH: \"0\"",
	NoCheckout: "GIT_STRATEGY must not be none",
	Checkout:   "variables:\n  GIT_STRATEGY: fetch\n  GIT_DEPTH: \"0\"",
}

// planGitLab makes the plan from GitLab's predefined variables (https://docs.gitlab.com/ci/variables/predefined_variables/). The meaning of
// CI_COMMIT_SHA depends on the kind of pipeline.
func (p *Plan) planGitLab(env map[string]string, _ []byte) error {
	p.Event = env["CI_PIPELINE_SOURCE"]
	p.setGitLabProjects(env)
	if err := checkID("CI_COMMIT_SHA", env["CI_COMMIT_SHA"]); err != nil {
		return err
	}
	switch {
	// A child pipeline in a merge request's pipeline has these variables too.
	case env["CI_MERGE_REQUEST_IID"] != "":
		return p.planMergeRequest(env)
	case env["CI_EXTERNAL_PULL_REQUEST_IID"] != "":
		return p.planExternalPullRequest(env)
	case p.Event == "":
		return errUndecided("CI_PIPELINE_SOURCE is missing: it says what the pipeline runs for")
	case p.Event == "merge_request_event":
		return errUndecided("CI_MERGE_REQUEST_IID is missing in a merge request's pipeline, and so are the variables that name its branches")
	case p.Event == "external_pull_request_event":
		return errUndecided("CI_EXTERNAL_PULL_REQUEST_IID is missing in a pull request's pipeline, and so are the variables that name its branches")
	case p.Event == "push":
		return p.planGitLabPush(env)
	}
	p.Ref, p.Head = gitlabRef(env), []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA")}
	p.planHistory(env["CI_DEFAULT_BRANCH"])
	return nil
}

// readGitLabRequest reads a merge request's labels and the target's repository.
func (p *Plan) readGitLabRequest(env map[string]string, _ []byte) jobFacts {
	p.setGitLabProjects(env)
	p.addGitLabLabels(env)
	return jobFacts{inRequest: env["CI_MERGE_REQUEST_IID"] != ""}
}

// gitlabOriginRemedy returns commands that fetch the target from its own project. A fork's pipeline has cloned the fork.
func (p *Plan) gitlabOriginRemedy() string {
	if p.Target != "" {
		return `git fetch "$CI_MERGE_REQUEST_PROJECT_URL.git" "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" && small-action --base FETCH_HEAD`
	}
	return `git remote set-url origin "$CI_REPOSITORY_URL"`
}

// planMergeRequest compares the source branch with the target. In merged-results and merge-train pipelines CI_COMMIT_SHA is GitLab's merge of
// the two or, in a train that squashes or fast-forwards, what it makes instead of a merge; the tips have separate variables, which are empty in other
// pipelines.
func (p *Plan) planMergeRequest(env map[string]string) error {
	p.Kind = Change
	kind, number := env["CI_MERGE_REQUEST_EVENT_TYPE"], env["CI_MERGE_REQUEST_IID"]
	if kind != "" {
		p.Event += ", " + strings.ReplaceAll(kind, "_", " ")
	}
	p.addGitLabLabels(env)
	target := env["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"]
	p.Subject = fmt.Sprintf("merge request %s into %s", wording.Clip(number), wording.Clip(target))
	var more []string
	if strings.Trim(number, "0123456789") == "" {
		more = append(more, "refs/merge-requests/"+number+"/head")
	}
	source, err := variablePoint(env, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", more...)
	if err != nil {
		return err
	}
	tip, err := variablePoint(env, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA")
	if err != nil {
		return err
	}
	mergeBase, err := variablePoint(env, "CI_MERGE_REQUEST_DIFF_BASE_SHA")
	if err != nil {
		return err
	}
	p.Head = []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA", more...)}
	if len(source) > 0 {
		made := idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA")
		made.Made = true
		p.Head, p.Merge = source, []Point{made}
	}
	// The runner keeps its clone and fetches only the source branch. The merge base is also a commit of the target, though maybe an old
	// one.
	p.Base = slices.Concat(tip, refetched(branchPoints(target, "the target branch "+target)), mergeBase)
	if len(p.Base) == 0 {
		return errUndecided("GitLab names no target branch (CI_MERGE_REQUEST_TARGET_BRANCH_NAME)")
	}
	return nil
}

// setGitLabProjects sets Repository (the project whose branches count), Project (the one that is cloned) and the name of a change's own branch. The
// pipeline of a merge request from a fork runs in the fork, unless somebody starts it in the target's project.
func (p *Plan) setGitLabProjects(env map[string]string) {
	p.Project, p.Repository = env["CI_PROJECT_PATH"], env["CI_PROJECT_PATH"]
	p.Source = cmp.Or(env["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"], env["CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME"])
	if env["CI_MERGE_REQUEST_IID"] != "" {
		p.Repository, p.Target = env["CI_MERGE_REQUEST_PROJECT_PATH"], env["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"]
		p.SuspectBase = p.Repository == "" || p.Project == ""
	}
}

// addGitLabLabels adds the labels of a merge request that claim a lane.
func (p *Plan) addGitLabLabels(env map[string]string) {
	for name := range strings.SplitSeq(env["CI_MERGE_REQUEST_LABELS"], ",") {
		p.addLabel(name)
	}
}

// planExternalPullRequest plans for a pull request on GitHub that GitLab builds.
func (p *Plan) planExternalPullRequest(env map[string]string) error {
	p.Kind = Change
	target := env["CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME"]
	p.Subject = fmt.Sprintf("external pull request %s into %s", wording.Clip(env["CI_EXTERNAL_PULL_REQUEST_IID"]), wording.Clip(target))
	p.Head = []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA")}
	tip, err := variablePoint(env, "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA")
	if err != nil {
		return err
	}
	p.Base = slices.Concat(tip, branchPoints(target, "the target branch "+target))
	if len(p.Base) == 0 {
		return errUndecided("GitLab names no target branch (CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME)")
	}
	return nil
}

// planGitLabPush plans for the push of a branch or a tag. CI_COMMIT_BEFORE_SHA is zeros for a new one.
func (p *Plan) planGitLabPush(env map[string]string) error {
	p.Kind, p.Ref = Push, gitlabRef(env)
	p.Subject = "push to " + wording.Clip(p.Ref)
	p.Head = []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA")}
	if p.Ref == "" {
		return errUndecided("CI_COMMIT_BRANCH and CI_COMMIT_TAG are missing")
	}
	if before := env["CI_COMMIT_BEFORE_SHA"]; !history.IsZero(before) {
		if err := checkID("CI_COMMIT_BEFORE_SHA", before); err != nil {
			return err
		}
		p.Base = []Point{idPoint(before, "CI_COMMIT_BEFORE_SHA")}
	}
	p.compareWithDefault(env["CI_DEFAULT_BRANCH"])
	return nil
}

// gitlabRef returns the full name of the branch or tag that a pipeline runs for.
func gitlabRef(env map[string]string) string {
	return refOf(env["CI_COMMIT_TAG"], cmp.Or(env["CI_COMMIT_BRANCH"], env["CI_COMMIT_REF_NAME"]))
}
