package ci_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/ci"
)

// TestLabels takes from a pull request the labels that claim a lane.
func TestLabels(t *testing.T) {
	const id = "1111111111111111111111111111111111111111"
	event := `{"pull_request": {"number": 7, "labels": [{"name": "bug"}, {"name": "lane:fast"}, {"name": "lane: deep"}, {"name": "Lane:x"}],
		"head": {"sha": "` + id + `"}, "base": {"ref": "main"}}}`
	plan, err := ci.Decide(map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, []byte(event), ci.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lane:fast", "lane:deep", "lane:x"}, plan.Labels); diff != "" {
		t.Error(diff)
	}
	plan, err = ci.Decide(map[string]string{
		"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_COMMIT_SHA": id,
		"CI_MERGE_REQUEST_LABELS": "bug,lane::deep,lane:fast",
	}, nil, ci.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lane:deep", "lane:fast"}, plan.Labels); diff != "" {
		t.Error(diff)
	}
}

// TestLabelsBeside: if the caller gives base and head, the labels of the job's pull request still count, and no others.
func TestLabelsBeside(t *testing.T) {
	const event = `{"pull_request": {"number": 7, "labels": [{"name": "lane:deep"}]}}`
	for name, tt := range map[string]struct {
		env   map[string]string
		event string
		want  []string
		notes int
	}{
		"a pull request":             {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, event, []string{"lane:deep"}, 0},
		"in the target's workflow":   {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request_target"}, event, []string{"lane:deep"}, 0},
		"on Forgejo":                 {map[string]string{"FORGEJO_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, event, []string{"lane:deep"}, 0},
		"a merge request":            {map[string]string{"GITLAB_CI": "true", "CI_MERGE_REQUEST_LABELS": "bug,lane::deep"}, "", []string{"lane:deep"}, 0},
		"another event":              {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "issues"}, event, nil, 0},
		"nowhere":                    {nil, event, nil, 0},
		"labels that are none":       {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, `{"pull_request": {"labels": ["lane:deep"]}}`, nil, 1},
		"no event":                   {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, "", nil, 1},
		"a pull request without any": {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, `{"pull_request": {"labels": null}}`, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := ci.Decide(tt.env, []byte(tt.event), ci.Inputs{Base: "origin/main"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plan.Labels); diff != "" || len(plan.Notes) != tt.notes {
				t.Errorf("%s%q", diff, plan.Notes)
			}
		})
	}
}
