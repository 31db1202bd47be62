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
