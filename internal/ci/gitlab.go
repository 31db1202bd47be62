package ci

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/wording"
)

// GitLab is GitLab CI.
var GitLab = &System{
	Name:   "GitLab CI",
	detect: func(env map[string]string) bool { return env["GITLAB_CI"] == "true" },
	plan:   (*Plan).gitlab, request: (*Plan).gitlabRequest, otherOrigin: (*Plan).gitlabOrigin,
	repository: func(env map[string]string) (name, commits string) {
		return env["CI_PROJECT_PATH"], env["CI_PROJECT_URL"] + "/-/commit/"
	},
	Deep:       "variables:\n  GIT_DEPTH: \"0\"",
	NoCheckout: "GIT_STRATEGY must not be none",
	Checkout:   "variables:\n  GIT_STRATEGY: fetch\n  GIT_DEPTH: \"0\"",
}

// gitlab plans from GitLab's predefined variables (https://docs.gitlab.com/ci/variables/predefined_variables/). Which commit
// CI_COMMIT_SHA is depends on the kind of the pipeline.
func (p *Plan) gitlab(env map[string]string, _ []byte) error {
	p.Event = env["CI_PIPELINE_SOURCE"]
	p.gitlabProjects(env)
	if err := checkID("CI_COMMIT_SHA", env["CI_COMMIT_SHA"]); err != nil {
		return err
	}
	switch {
	// A child pipeline of a merge request's pipeline has the variables too.
	case env["CI_MERGE_REQUEST_IID"] != "":
		return p.mergeRequest(env)
	case env["CI_EXTERNAL_PULL_REQUEST_IID"] != "":
		return p.externalPullRequest(env)
	case p.Event == "":
		return undecided("CI_PIPELINE_SOURCE is missing: it says what the pipeline runs for")
	case p.Event == "merge_request_event":
		return undecided("CI_MERGE_REQUEST_IID is missing in a merge request's pipeline, and so are its branches")
	case p.Event == "external_pull_request_event":
		return undecided("CI_EXTERNAL_PULL_REQUEST_IID is missing in a pull request's pipeline, and so are its branches")
	case p.Event == "push":
		return p.gitlabPush(env)
	}
	p.Ref, p.Head = gitlabRef(env), []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA")}
	p.history(env["CI_DEFAULT_BRANCH"])
	return nil
}

// gitlabRequest takes from a merge request its labels and whose branches the target's are.
func (p *Plan) gitlabRequest(env map[string]string, _ []byte) surroundings {
	p.gitlabProjects(env)
	p.gitlabLabels(env)
	return surroundings{inRequest: env["CI_MERGE_REQUEST_IID"] != ""}
}

// gitlabOrigin fetches the target from its own project: a fork's pipeline has cloned the fork.
func (p *Plan) gitlabOrigin() string {
	if p.Target != "" {
		return `git fetch "$CI_MERGE_REQUEST_PROJECT_URL.git" "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" && small-action --base FETCH_HEAD`
	}
	return `git remote set-url origin "$CI_REPOSITORY_URL"`
}

// mergeRequest compares the source branch with the target. In merged-results and merge-train pipelines CI_COMMIT_SHA is GitLab's merge
// of the two (in a train that squashes or fast-forwards, what it made instead), and the tips have variables of their own, which are
// empty in other pipelines.
func (p *Plan) mergeRequest(env map[string]string) error {
	p.Kind = Change
	kind, number := env["CI_MERGE_REQUEST_EVENT_TYPE"], env["CI_MERGE_REQUEST_IID"]
	if kind != "" {
		p.Event += ", " + strings.ReplaceAll(kind, "_", " ")
	}
	p.gitlabLabels(env)
	target := env["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"]
	p.Subject = fmt.Sprintf("merge request %s into %s", wording.Clip(number), wording.Clip(target))
	p.Source = env["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"]
	var more []string
	if strings.Trim(number, "0123456789") == "" {
		more = append(more, "refs/merge-requests/"+number+"/head")
	}
	p.Head = []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA", more...)}
	if source := env["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"]; !absent(source) {
		if err := checkID("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", source); err != nil {
			return err
		}
		p.Head = []Point{idPoint(source, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", more...)}
		p.Merge = []Point{{Revision: env["CI_COMMIT_SHA"], Words: "CI_COMMIT_SHA", Fetch: []string{env["CI_COMMIT_SHA"]}, Made: true}}
	}
	if sha := env["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"]; !absent(sha) {
		if err := checkID("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", sha); err != nil {
			return err
		}
		p.Base = append(p.Base, idPoint(sha, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"))
	}
	// The runner keeps its clone and fetches only the source branch.
	for i, point := range branchPoints(target, "the target branch "+target) {
		point.Stale = i == 0
		p.Base = append(p.Base, point)
	}
	// The merge base is a commit of the target too, if an old one.
	if sha := env["CI_MERGE_REQUEST_DIFF_BASE_SHA"]; !absent(sha) {
		if err := checkID("CI_MERGE_REQUEST_DIFF_BASE_SHA", sha); err != nil {
			return err
		}
		p.Base = append(p.Base, idPoint(sha, "CI_MERGE_REQUEST_DIFF_BASE_SHA"))
	}
	if len(p.Base) == 0 {
		return undecided("GitLab names no target branch (CI_MERGE_REQUEST_TARGET_BRANCH_NAME)")
	}
	return nil
}

// gitlabProjects notes whose branches count and which project was cloned. The pipeline of a merge request from a fork runs in the fork,
// unless somebody runs it in the target's project.
func (p *Plan) gitlabProjects(env map[string]string) {
	p.Project, p.Repository = env["CI_PROJECT_PATH"], env["CI_PROJECT_PATH"]
	if env["CI_MERGE_REQUEST_IID"] != "" {
		p.Repository, p.Target = env["CI_MERGE_REQUEST_PROJECT_PATH"], env["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"]
		p.Open = p.Repository == "" || p.Project == ""
	}
}

// gitlabLabels notes those of a merge request's labels that claim a lane.
func (p *Plan) gitlabLabels(env map[string]string) {
	for name := range strings.SplitSeq(env["CI_MERGE_REQUEST_LABELS"], ",") {
		p.label(name)
	}
}

// externalPullRequest is a pull request on GitHub that GitLab builds.
func (p *Plan) externalPullRequest(env map[string]string) error {
	p.Kind = Change
	target := env["CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME"]
	p.Subject = fmt.Sprintf("external pull request %s into %s", wording.Clip(env["CI_EXTERNAL_PULL_REQUEST_IID"]), wording.Clip(target))
	p.Head = []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA")}
	if sha := env["CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA"]; !absent(sha) {
		if err := checkID("CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA", sha); err != nil {
			return err
		}
		p.Base = append(p.Base, idPoint(sha, "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA"))
	}
	p.Base = append(p.Base, branchPoints(target, "the target branch "+target)...)
	if len(p.Base) == 0 {
		return undecided("GitLab names no target branch (CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME)")
	}
	return nil
}

// gitlabPush follows a branch or a tag. CI_COMMIT_BEFORE_SHA is zeros for a new one.
func (p *Plan) gitlabPush(env map[string]string) error {
	p.Kind, p.Ref = Push, gitlabRef(env)
	p.Subject = "push to " + wording.Clip(p.Ref)
	p.Head = []Point{idPoint(env["CI_COMMIT_SHA"], "CI_COMMIT_SHA")}
	if p.Ref == "" {
		return undecided("CI_COMMIT_BRANCH and CI_COMMIT_TAG are missing")
	}
	if before := env["CI_COMMIT_BEFORE_SHA"]; !history.IsZero(before) {
		if err := checkID("CI_COMMIT_BEFORE_SHA", before); err != nil {
			return err
		}
		p.Base = []Point{idPoint(before, "CI_COMMIT_BEFORE_SHA")}
	}
	p.against(env["CI_DEFAULT_BRANCH"])
	return nil
}

// gitlabRef is the full name of the branch or tag that a pipeline runs for.
func gitlabRef(env map[string]string) string {
	switch {
	case env["CI_COMMIT_TAG"] != "":
		return "refs/tags/" + env["CI_COMMIT_TAG"]
	case env["CI_COMMIT_BRANCH"] != "":
		return "refs/heads/" + env["CI_COMMIT_BRANCH"]
	case env["CI_COMMIT_REF_NAME"] != "":
		return "refs/heads/" + env["CI_COMMIT_REF_NAME"]
	}
	return ""
}
