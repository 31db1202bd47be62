package judge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestClaimInUpperCase claims the lane fast in every possible way, in upper case as people write it. Only the configuration rejects upper case; the failure
// then names the accepted words.
func TestClaimInUpperCase(t *testing.T) {
	gittest.Long(t)
	for _, tt := range []struct {
		name                   string
		config, trailer        string
		flag, variable         string
		github, gitlab, remedy string
		want                   lane.Source
	}{
		{name: "a flag", flag: "FAST", want: lane.FromCaller},
		{name: "the variable", variable: "Fast", want: lane.FromEnvironment},
		{name: "a trailer", trailer: "lane: FAST", want: lane.FromTrailer},
		{name: "a trailer in capitals", trailer: "LANE: fast", want: lane.FromTrailer},
		{name: "a label on GitHub", github: "Lane:Fast", want: lane.FromLabel},
		{name: "a label on GitLab", gitlab: "LANE::Fast", want: lane.FromLabel},
		{name: "a label on GitLab with one colon", gitlab: "bug,lane:FAST", want: lane.FromLabel},
		{name: "the configuration", config: "fast", want: lane.FromPolicy},
		{name: "the configuration in capitals", config: "Fast", remedy: `"lane" is "Fast"; expected "fast", "standard" or "deep"; did you mean "fast"?`},
	} {
		for _, reader := range []string{"git", "go-git"} {
			t.Run(tt.name+" by "+reader, func(t *testing.T) {
				r := workspace(t)
				if tt.config != "" {
					r.CommitFile(".small-gate.yml", "version: 1\nlane: "+tt.config+"\n")
				}
				r.Branch("topic", "main")
				message := "a note"
				if tt.trailer != "" {
					message += "\n\n" + tt.trailer
				}
				r.Write("note.txt", "text\n")
				head := r.Commit(message)
				req := request(r, reader)
				req.Lane = tt.flag
				claim, failure := claimOf(t, r, req, head, tt.variable, tt.github, tt.gitlab)
				if tt.remedy != "" {
					if failure == nil || !strings.Contains(failure.Error(), tt.remedy) {
						t.Errorf("it does not say %q: %v", tt.remedy, failure)
					}
					return
				}
				if failure != nil || claim.Lane != lane.Fast || claim.Source != tt.want {
					t.Errorf("%q by %q, want fast by %q: %v", claim.Lane, claim.Source, tt.want, failure)
				}
			})
		}
	}
}

// claimOf judges a change for which somebody claims a lane, and returns the claim that counts. At most one of variable, github and gitlab is set: the
// value of SMALL_LANE, a label of a pull request, or a label of a merge request.
func claimOf(t *testing.T, r *gittest.Repo, req session.Request, head, variable, github, gitlab string) (lane.Claim, error) {
	t.Helper()
	ctx := context.Background()
	var report *finding.Report
	switch {
	case variable != "":
		req.Environ = append(req.Environ, "SMALL_LANE="+variable)
		found, err := judge.FindLane(ctx, req, "")
		if err != nil {
			return lane.Claim{}, err
		}
		return found.Claim, nil
	case github != "":
		event := fmt.Sprintf(`{"pull_request": {"number": 7, "labels": [{"name": "bug"}, {"name": %q}], "head": {"sha": %q, "ref": "topic"}, "base": {"ref": "main"}}}`, github, head)
		report = judgeCI(t, req, []byte(event), map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"})
	case gitlab != "":
		report = judgeCI(t, req, nil, map[string]string{
			"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
			"CI_COMMIT_SHA": head, "CI_MERGE_REQUEST_LABELS": gitlab,
		})
	default:
		report = judge.Range(ctx, req, "main.."+head)
	}
	if report.Failure != nil {
		return lane.Claim{}, report.Failure
	}
	if report.Lane == nil {
		t.Fatalf("the report has no lane: %s", report.Verdict)
	}
	return report.Lane.Claim, nil
}

// judgeCI judges the change of an event; env is the CI system's environment.
func judgeCI(t *testing.T, req session.Request, event []byte, env map[string]string) *finding.Report {
	t.Helper()
	plan, err := ci.Decide(env, event, ci.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	report, _ := judge.CI(context.Background(), req, plan, judge.Token{})
	return report
}

// TestLabelsThatDoNotCount: a note names the labels that another claim overrides, but not those that claim the same.
func TestLabelsThatDoNotCount(t *testing.T) {
	gittest.Long(t)
	const jobs = "version: 1\nworkflows: {jobs: [\"jobs/*.json\"]}\n"
	for _, tt := range []struct {
		name, config, record, trailer, labels string
		want                                  string
	}{
		{"a trailer", "", "", "Lane: fast", "lane::deep,bug", "the label lane:deep did not count: the lane is fast, claimed by the trailer of commit COMMIT"},
		{"a trailer against several", "", "", "Lane: fast", "lane:deep,Lane::Standard,lane:fast,lane:fats", "the labels lane:deep and lane:standard did not count: the lane is fast, claimed by the trailer of commit COMMIT"},
		{"a trailer that says the same", "", "", "Lane: fast", "lane::fast", ""},
		{"a record that asks for more", jobs, "deep", "", "lane:fast", "the label lane:fast did not count: the lane is deep, claimed by the job's record"},
		{"a record that asks for less", jobs, "fast", "", "lane:deep", ""},
		{"the least lane", "version: 1\nlanes: {minimum: standard}\n", "", "", "lane:fast", "the label lane:fast did not count: the lane is standard, claimed by the configuration"},
		{"the configuration", "version: 1\nlane: fast\n", "", "", "lane:deep", ""},
		{"no label", "", "", "Lane: fast", "bug", ""},
	} {
		for _, reader := range []string{"git", "go-git"} {
			t.Run(tt.name+" by "+reader, func(t *testing.T) {
				r := workspace(t)
				if tt.config != "" {
					r.CommitFile(".small-gate.yml", tt.config)
				}
				r.Branch("topic", "main")
				if tt.record != "" {
					r.Write("jobs/7.json", `{"params": {"lane": "`+tt.record+`"}}`)
				}
				r.Write("note.cfg", "text\n")
				head := r.Commit("a note\n\n" + tt.trailer)
				report := judgeCI(t, request(r, reader), nil, map[string]string{
					"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
					"CI_COMMIT_SHA": head, "CI_MERGE_REQUEST_LABELS": tt.labels,
				})
				if report.Failure != nil || report.Lane == nil {
					t.Fatal(report.Failure, report.Lane)
				}
				got := strings.Join(report.Examined.Notes, "\n")
				if got != strings.ReplaceAll(tt.want, "COMMIT", head[:12]) {
					t.Errorf("it notes %q, not %q", got, tt.want)
				}
			})
		}
	}
}

// TestNoSuchLane: if a caller claims a lane that does not exist, nothing is judged, and the message says where the claim is from.
func TestNoSuchLane(t *testing.T) {
	r := workspace(t)
	req := request(r, "git")
	req.Lane = "quick"
	wantReport(t, "a flag", judge.Range(context.Background(), req, "HEAD~1..HEAD"), finding.Error, "", `there is no lane "quick"`, "--lane fast, standard or deep")
	req = request(r, "git")
	req.Environ = append(req.Environ, "SMALL_LANE=quick")
	wantReport(t, "the variable", judge.PreCommit(context.Background(), req), finding.Error, "", `there is no lane "quick", which the variable SMALL_LANE names`, "set SMALL_LANE to fast, standard or deep")
	if _, err := judge.FindLane(context.Background(), req, ""); err == nil || !strings.Contains(err.Error(), "SMALL_LANE") {
		t.Errorf("without a range: %v", err)
	}
	if found, err := judge.FindLane(context.Background(), req, "HEAD~1..HEAD"); err != nil || found.Claim.Made() {
		t.Errorf("the variable counts for a range: %v, %v", found.Claim, err)
	}
}
