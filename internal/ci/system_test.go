package ci

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
)

// Ids that are easy to distinguish in a table.
var (
	headID   = strings.Repeat("a", 40)
	baseID   = strings.Repeat("b", 40)
	mergeID  = strings.Repeat("c", 40)
	oldID    = strings.Repeat("d", 40)
	targetID = strings.Repeat("e", 40)
	zeroID   = strings.Repeat("0", 40)
	zero256  = strings.Repeat("0", 64)
	head256  = strings.Repeat("a", 64)
)

// shape is a plan in a table: for each list, the targets of its points.
type shape struct {
	Kind                        Kind
	Ref                         string
	Base, Head, Merge, Default  string
	OnDefault, Compare, Guarded bool
	NoBefore                    bool
	Subject, Reason             string
}

func shapeOf(p Plan) shape {
	join := func(points []Point) string {
		var out []string
		for _, point := range points {
			out = append(out, point.Revision)
		}
		return strings.Join(out, " ")
	}
	return shape{
		Kind: p.Kind, Ref: p.Ref, Base: join(p.Base), Head: join(p.Head), Merge: join(p.Merge), Default: join(p.Default),
		OnDefault: p.OnDefault, Compare: p.WithDefault, Guarded: p.Guarded, NoBefore: p.NoBefore, Subject: p.Subject, Reason: p.Reason,
	}
}

const mainRefs = "refs/remotes/origin/main refs/heads/main"

func github7(extra string) string {
	return `{"number": 7, "pull_request": {"number": 7, "head": {"ref": "feature", "sha": "` + headID +
		`"}, "base": {"ref": "main", "sha": "` + baseID + `"}}, "repository": {"default_branch": "main"}` + extra + `}`
}

func push(ref, before, after, extra string) string {
	return `{"ref": "` + ref + `", "before": "` + before + `", "after": "` + after + `", "repository": {"default_branch": "main"}` + extra + `}`
}

// TestGitHub has a row for each event of GitHub, and of the systems that have adopted them.
func TestGitHub(t *testing.T) {
	t.Parallel()
	pull := shape{
		Kind: Change, Base: mainRefs + " " + baseID, Head: headID, Merge: mergeID + " refs/remotes/pull/7/merge",
		Subject: "pull request 7 into main",
	}
	target := pull
	target.Guarded, target.Merge = true, "refs/remotes/pull/7/merge"
	target.Base, target.Subject = mainRefs+" "+mergeID+" "+baseID, "pull request 7 into main, in the target's own workflow"
	byDefault := target
	byDefault.Base = pull.Base
	feature := shape{
		Kind: Push, Ref: "refs/heads/feature", Base: oldID, Head: headID, Default: mainRefs, Compare: true, Subject: "push to refs/heads/feature",
	}
	fresh := feature
	fresh.Base = ""
	whole := shape{Kind: History, Ref: "refs/heads/main", Head: mergeID, OnDefault: true, Subject: "the whole history of refs/heads/main"}
	for name, row := range map[string]struct {
		event, payload, ref string
		want                shape
	}{
		"a pull request":          {"pull_request", github7(""), "", pull},
		"a review of one":         {"pull_request_review", github7(""), "", pull},
		"in the target's":         {"pull_request_target", github7(""), "refs/heads/main", target},
		"in the default branch's": {"pull_request_target", github7(""), "refs/heads/trunk", byDefault},
		"a push":                  {"push", push("refs/heads/feature", oldID, headID, ""), "", feature},
		"a new branch":            {"push", push("refs/heads/feature", zeroID, headID, `, "created": true`), "", fresh},
		"a forced push":           {"push", push("refs/heads/feature", oldID, headID, `, "forced": true`), "", feature},
		"a deleted branch":        {"push", push("refs/heads/feature", oldID, zeroID, `, "deleted": true`), "", shape{Kind: Nothing, Ref: "refs/heads/feature", Subject: feature.Subject, Reason: "refs/heads/feature was deleted"}},
		"zeros of 64":             {"push", push("refs/heads/feature", zero256, head256, ""), "", shape{Kind: Push, Ref: "refs/heads/feature", Head: head256, Default: mainRefs, Compare: true, Subject: feature.Subject}},
		"the default branch":      {"push", push("refs/heads/main", oldID, headID, ""), "", shape{Kind: Push, Ref: "refs/heads/main", Base: oldID, Head: headID, OnDefault: true, Subject: "push to refs/heads/main"}},
		"a tag":                   {"push", push("refs/tags/v1", zeroID, headID, ""), "", shape{Kind: Push, Ref: "refs/tags/v1", Head: headID, Default: mainRefs, Subject: "push to refs/tags/v1"}},
		"a moved tag":             {"push", push("refs/tags/v1", oldID, headID, `, "forced": true`), "", shape{Kind: Push, Ref: "refs/tags/v1", Base: oldID, Head: headID, Default: mainRefs, Subject: "push to refs/tags/v1"}},
		"no default branch":       {"push", `{"ref": "refs/heads/feature", "before": "` + oldID + `", "after": "` + headID + `"}`, "", shape{Kind: Push, Ref: "refs/heads/feature", Base: oldID, Head: headID, Compare: true, Subject: feature.Subject}},
		"a merge group":           {"merge_group", `{"merge_group": {"head_sha": "` + headID + `", "base_sha": "` + baseID + `", "base_ref": "refs/heads/main"}}`, "", shape{Kind: Change, Base: mainRefs, Head: headID, Subject: "merge group into main"}},
		"a merge group gone":      {"merge_group", `{"action": "destroyed", "merge_group": {}}`, "", shape{Kind: Nothing, Reason: "the merge group is gone"}},
		"a schedule":              {"schedule", `{"repository": {"default_branch": "main"}}`, "refs/heads/main", whole},
		"by hand":                 {"workflow_dispatch", `{"repository": {"default_branch": "main"}}`, "refs/heads/main", whole},
		"by hand, on a branch":    {"workflow_dispatch", `{"repository": {"default_branch": "main"}}`, "refs/heads/feature", shape{Kind: History, Ref: "refs/heads/feature", Head: mergeID, Default: mainRefs, Subject: "the whole history of refs/heads/feature"}},
		"by hand, no event":       {"workflow_dispatch", "", "refs/heads/feature", shape{Kind: History, Ref: "refs/heads/feature", Head: mergeID, Subject: "the whole history of refs/heads/feature"}},
		"by hand, no repository":  {"workflow_dispatch", "{}", "refs/heads/feature", shape{Kind: History, Ref: "refs/heads/feature", Head: mergeID, Subject: "the whole history of refs/heads/feature"}},
		"an event of the future":  {"some_event", `{"repository": {"default_branch": "main"}}`, "refs/heads/main", whole},
		"a deletion":              {"delete", `{"ref": "feature", "ref_type": "branch"}`, "refs/heads/main", shape{Kind: Nothing, Reason: "a ref was deleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for variable, system := range map[string]*System{"GITHUB_ACTIONS": GitHub, "FORGEJO_ACTIONS": Forgejo, "GITEA_ACTIONS": Gitea} {
				env := map[string]string{"GITHUB_ACTIONS": "true", variable: "true", "GITHUB_EVENT_NAME": row.event, "GITHUB_SHA": mergeID, "GITHUB_REF": row.ref}
				p, err := Decide(env, []byte(row.payload), Inputs{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(row.want, shapeOf(p)); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", system.Name, diff)
				}
				if p.System != system || p.Event != row.event || !strings.HasSuffix(system.Deep, "\n  with:\n    fetch-depth: 0") {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// TestGitLab has a row for each kind of pipeline.
func TestGitLab(t *testing.T) {
	t.Parallel()
	request := map[string]string{
		"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
		"CI_MERGE_REQUEST_DIFF_BASE_SHA": baseID, "CI_COMMIT_BEFORE_SHA": zeroID,
	}
	merged := map[string]string{
		"CI_MERGE_REQUEST_EVENT_TYPE": "merged_result", "CI_COMMIT_SHA": mergeID,
		"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": headID, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": targetID,
	}
	train := maps.Clone(merged)
	train["CI_MERGE_REQUEST_EVENT_TYPE"] = "merge_train"
	const subject = "merge request 7 into main"
	afterMerge := shape{Kind: Change, Base: targetID + " " + mainRefs + " " + baseID, Head: headID, Merge: mergeID, Subject: subject}
	whole := func(ref, branches string, on bool) shape {
		return shape{Kind: History, Ref: ref, Head: headID, Default: branches, OnDefault: on, Subject: "the whole history of " + ref}
	}
	feature := shape{Kind: Push, Ref: "refs/heads/feature", Base: oldID, Head: headID, Default: mainRefs, Compare: true, Subject: "push to refs/heads/feature"}
	fresh := feature
	fresh.Base = ""
	for name, row := range map[string]struct {
		env  []map[string]string
		want shape
	}{
		"a merge request":      {[]map[string]string{request, {"CI_MERGE_REQUEST_EVENT_TYPE": "detached"}}, shape{Kind: Change, Base: mainRefs + " " + baseID, Head: headID, Subject: subject}},
		"merged results":       {[]map[string]string{request, merged}, afterMerge},
		"a merge train":        {[]map[string]string{request, train}, afterMerge},
		"a child pipeline":     {[]map[string]string{request, {"CI_PIPELINE_SOURCE": "parent_pipeline"}}, shape{Kind: Change, Base: mainRefs + " " + baseID, Head: headID, Subject: subject}},
		"a branch":             {[]map[string]string{{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "feature", "CI_COMMIT_BEFORE_SHA": oldID}}, feature},
		"a new branch":         {[]map[string]string{{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "feature", "CI_COMMIT_BEFORE_SHA": zeroID}}, fresh},
		"the default branch":   {[]map[string]string{{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main", "CI_COMMIT_BEFORE_SHA": oldID}}, shape{Kind: Push, Ref: "refs/heads/main", Base: oldID, Head: headID, OnDefault: true, Subject: "push to refs/heads/main"}},
		"a tag":                {[]map[string]string{{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_TAG": "v1", "CI_COMMIT_REF_NAME": "v1", "CI_COMMIT_BEFORE_SHA": zeroID}}, shape{Kind: Push, Ref: "refs/tags/v1", Head: headID, Default: mainRefs, Subject: "push to refs/tags/v1"}},
		"a schedule":           {[]map[string]string{{"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "main", "CI_COMMIT_BEFORE_SHA": zeroID}}, whole("refs/heads/main", "", true)},
		"by hand, on a branch": {[]map[string]string{{"CI_PIPELINE_SOURCE": "web", "CI_COMMIT_BRANCH": "feature"}}, whole("refs/heads/feature", mainRefs, false)},
		"external":             {[]map[string]string{{"CI_PIPELINE_SOURCE": "external_pull_request_event", "CI_EXTERNAL_PULL_REQUEST_IID": "3", "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME": "main", "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA": targetID}}, shape{Kind: Change, Base: targetID + " " + mainRefs, Head: headID, Subject: "external pull request 3 into main"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"GITLAB_CI": "true", "CI_COMMIT_SHA": headID, "CI_DEFAULT_BRANCH": "main"}
			for _, more := range row.env {
				maps.Copy(env, more)
			}
			p, err := Decide(env, nil, Inputs{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, shapeOf(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if p.System != GitLab || GitLab.Deep != "variables:\n  GIT_DEPTH: \"0\"" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// Inputs win on every platform, and are the only source without one.
func TestExplicit(t *testing.T) {
	t.Parallel()
	for system, env := range map[*System]map[string]string{
		Other: {}, GitHub: {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, GitLab: {"GITLAB_CI": "true"},
	} {
		p, err := Decide(env, []byte("not JSON, and not needed"), Inputs{Base: "origin/main"})
		if err != nil {
			t.Fatal(err)
		}
		want := shape{Kind: Change, Base: "refs/remotes/origin/main", Head: "HEAD", Subject: "HEAD against origin/main"}
		if diff := cmp.Diff(want, shapeOf(p)); diff != "" || p.System != system {
			t.Errorf("%s: (-want +got)\n%s", p.System.Name, diff)
		}
		if diff := cmp.Diff([]string{"+refs/heads/main:refs/remotes/origin/main"}, p.Base[0].Fetch); diff != "" {
			t.Error(diff)
		}
	}
	p, err := Decide(nil, nil, Inputs{Base: zeroID, Head: headID})
	if want := (shape{Kind: Push, Head: headID, Compare: true, NoBefore: true, Subject: headID + ", which is new"}); err != nil || cmp.Diff(want, shapeOf(p)) != "" {
		t.Error(err, cmp.Diff(want, shapeOf(p)))
	}
	p, err = Decide(nil, nil, Inputs{Base: baseID, Head: zeroID})
	if err != nil || p.Kind != Nothing {
		t.Error(p, err)
	}
}

// If no plan is possible, the error says what is missing and what to give instead; nothing is guessed.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	action := func(event string) map[string]string {
		return map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event}
	}
	with := func(env map[string]string, kv ...string) map[string]string {
		for i := 0; i < len(kv); i += 2 {
			env[kv[i]] = kv[i+1]
		}
		return env
	}
	lab := func(kv ...string) map[string]string {
		return with(map[string]string{"GITLAB_CI": "true", "CI_COMMIT_SHA": headID}, kv...)
	}
	for name, row := range map[string]struct {
		env   map[string]string
		event string
		in    Inputs
		want  string
	}{
		"nowhere":              {nil, "", Inputs{}, "no CI system says"},
		"a head alone":         {nil, "", Inputs{Head: "HEAD"}, "not what to compare it with"},
		"torn":                 {action("push"), `{"ref":`, Inputs{}, "cannot be read: it is not valid JSON, or is cut off (byte 7)"},
		"another type":         {action("push"), `{"ref": 5}`, Inputs{}, "cannot be read: unexpected JSON number in ref"},
		"a list":               {action("push"), `[]`, Inputs{}, "cannot be read: it is a JSON array, not an object"},
		"labels by name":       {action("pull_request"), `{"pull_request": {"labels": ["lane:fast"]}}`, Inputs{}, "cannot be read: unexpected JSON string in pull_request.labels"},
		"labels as an object":  {action("pull_request"), `{"pull_request": {"labels": {"name": "lane:fast"}}}`, Inputs{}, "cannot be read: unexpected JSON object in pull_request.labels"},
		"a number of labels":   {action("pull_request"), `{"pull_request": {"labels": 3.5}}`, Inputs{}, "cannot be read: unexpected JSON number in pull_request.labels"},
		"a label of a number":  {action("pull_request"), `{"pull_request": {"labels": [{"name": 3}]}}`, Inputs{}, "cannot be read: unexpected JSON number in pull_request.labels.name"},
		"an odd issue number":  {action("pull_request"), `{"pull_request": {"number": "x"}}`, Inputs{}, "cannot be read: "},
		"no after":             {action("push"), `{"ref": "refs/heads/x"}`, Inputs{}, "GITHUB_SHA of the push is missing"},
		"an option":            {action("push"), push("refs/heads/x", zeroID, "--upload-pack=x", ""), Inputs{}, `"--upload-pack=x", which is not the id`},
		"a name before":        {action("push"), push("refs/heads/x", "HEAD~1", headID, ""), Inputs{}, `"HEAD~1", which is not the id`},
		"no pull request":      {action("pull_request"), `{}`, Inputs{}, "does not describe one"},
		"no head":              {action("pull_request"), `{"pull_request": {"number": 7}}`, Inputs{}, "pull_request.head.sha of the event is missing"},
		"no target":            {action("pull_request"), `{"pull_request": {"head": {"sha": "` + headID + `"}}}`, Inputs{}, "names no target branch"},
		"a number with a path": {action("pull_request"), `{"pull_request": {"number": -7, "head": {"sha": "` + headID + `"}}}`, Inputs{}, `number of the event is "-7"`},
		"no merge group":       {action("merge_group"), `{}`, Inputs{}, "does not describe one"},
		"a group without base": {action("merge_group"), `{"merge_group": {"head_sha": "` + headID + `", "base_sha": "` + baseID + `"}}`, Inputs{}, "merge_group.base_ref of the event names no branch"},
		"no commit":            {lab("CI_COMMIT_SHA", ""), "", Inputs{}, "CI_COMMIT_SHA is missing"},
		"no source":            {lab("CI_MERGE_REQUEST_IID", "1", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "x"), "", Inputs{}, "SOURCE_BRANCH_SHA is"},
		"no target branch":     {lab("CI_MERGE_REQUEST_IID", "1"), "", Inputs{}, "names no target branch"},
		"a strange target":     {lab("CI_MERGE_REQUEST_IID", "1", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "x:refs/heads/main"), "", Inputs{}, "names no target branch"},
		"a strange base":       {lab("CI_MERGE_REQUEST_IID", "1", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "main"), "", Inputs{}, "TARGET_BRANCH_SHA is"},
		"a strange diff base":  {lab("CI_MERGE_REQUEST_IID", "1", "CI_MERGE_REQUEST_DIFF_BASE_SHA", "main"), "", Inputs{}, "DIFF_BASE_SHA is"},
		"a strange before":     {lab("CI_PIPELINE_SOURCE", "push", "CI_COMMIT_BRANCH", "x", "CI_COMMIT_BEFORE_SHA", "main"), "", Inputs{}, "BEFORE_SHA is"},
		"no before":            {with(action("push"), "GITHUB_SHA", headID), `{"ref": "refs/heads/x", "after": "` + headID + `"}`, Inputs{}, "before of the push is missing"},
		"nothing in a push":    {with(action("push"), "GITHUB_SHA", headID, "GITHUB_REF", "refs/heads/main"), `{}`, Inputs{}, "before of the push is missing"},
		"no ref":               {action("push"), push("", oldID, headID, ""), Inputs{}, "ref of the push is missing"},
		"an empty event":       {with(action("push"), "GITHUB_SHA", headID, "GITHUB_REF", "refs/heads/main", "GITHUB_EVENT_PATH", "e.json"), " ", Inputs{}, "e.json (GITHUB_EVENT_PATH), is empty"},
		"no event's path":      {with(action("push"), "GITHUB_SHA", headID, "GITHUB_REF", "refs/heads/main"), "", Inputs{}, "GITHUB_EVENT_PATH is missing"},
		"no name of the event": {action(""), `{}`, Inputs{}, "GITHUB_EVENT_NAME is missing"},
		"no source of it":      {lab(), "", Inputs{}, "CI_PIPELINE_SOURCE is missing"},
		"no before on GitLab":  {lab("CI_PIPELINE_SOURCE", "push", "CI_COMMIT_BRANCH", "x"), "", Inputs{}, "CI_COMMIT_BEFORE_SHA is missing"},
		"no ref on GitLab":     {lab("CI_PIPELINE_SOURCE", "push", "CI_COMMIT_BEFORE_SHA", oldID), "", Inputs{}, "CI_COMMIT_BRANCH and CI_COMMIT_TAG are missing"},
		"no merge request":     {lab("CI_PIPELINE_SOURCE", "merge_request_event"), "", Inputs{}, "CI_MERGE_REQUEST_IID is missing"},
		"no external one":      {lab("CI_PIPELINE_SOURCE", "external_pull_request_event"), "", Inputs{}, "CI_EXTERNAL_PULL_REQUEST_IID is missing"},
		"external, no target":  {lab("CI_EXTERNAL_PULL_REQUEST_IID", "1"), "", Inputs{}, "names no target branch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Decide(row.env, []byte(row.event), row.in)
			var trouble *failure.Error
			if !errors.As(err, &trouble) || !strings.Contains(trouble.Message, row.want) || trouble.Remedy == "" {
				t.Errorf("%v, not %q with a remedy", err, row.want)
			}
			if strings.Contains(err.Error(), "struct") || strings.Contains(err.Error(), "json:") {
				t.Errorf("in words that are not for people: %v", err)
			}
		})
	}
	_, err := Decide(with(action("push"), "GITHUB_EVENT_PATH", "no/event.json"), nil, Inputs{})
	if err == nil || !strings.Contains(err.Error(), "the event's file is missing: there is no no/event.json") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Decide(action("push"), make([]byte, MaxEvent+1), Inputs{}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("an event without end: %v", err)
	}
}

// A system that identifies itself is found once, and no other claims its jobs.
func TestDetect(t *testing.T) {
	t.Parallel()
	own := map[*System]map[string]string{
		GitHub:     {"GITHUB_ACTIONS": "true"},
		Forgejo:    {"GITHUB_ACTIONS": "true", "FORGEJO_ACTIONS": "true"},
		Gitea:      {"GITHUB_ACTIONS": "true", "GITEA_ACTIONS": "true"},
		GitLab:     {"GITLAB_CI": "true"},
		Jenkins:    {"BUILD_TAG": "jenkins-gate-PR-7-1", "JENKINS_URL": "https://jenkins.example.com/"},
		Buildkite:  {"BUILDKITE": "true", "CI": "true"},
		CircleCI:   {"CIRCLECI": "true", "CI": "true"},
		Azure:      {"TF_BUILD": "True"},
		Bitbucket:  {"BITBUCKET_BUILD_NUMBER": "1", "CI": "true"},
		Woodpecker: {"CI": "woodpecker", "DRONE": "true"}, // older ones set Drone's as well
		Drone:      {"CI": "true", "DRONE": "true"},
	}
	listed := slices.Concat(systems...)
	for system, env := range own {
		if got := Detect(env); got != system || !slices.Contains(listed, system) {
			t.Errorf("%v: %s, not %s", env, got.Name, system.Name)
		}
	}
	if len(listed) != len(own) {
		t.Errorf("%d systems are listed, and %d tried", len(listed), len(own))
	}
	for _, env := range []map[string]string{{"GITHUB_EVENT_PATH": "event.json"}, {"CI": "true"}, {"JENKINS_URL": "https://jenkins.example.com/"}} {
		if got := Detect(env); got != Other {
			t.Errorf("%v: %s", env, got.Name)
		}
	}
	for _, s := range listed {
		if s.Name == "" || s.plan == nil || s.Deep == "" || s.NoCheckout == "" || s.Checkout == "" {
			t.Errorf("%+v lacks something", s)
		}
	}
}

// TestExternalSource demands the own branch of a pull request on GitHub that GitLab builds, also if the caller names the base.
func TestExternalSource(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"GITLAB_CI": "true", "CI_COMMIT_SHA": headID, "CI_PIPELINE_SOURCE": "external_pull_request_event", "CI_EXTERNAL_PULL_REQUEST_IID": "3",
		"CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME": "main", "CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME": "feature",
	}
	for _, in := range []Inputs{{}, {Base: "origin/main"}} {
		if p, err := Decide(env, nil, in); err != nil || p.Source != "feature" {
			t.Errorf("%+v: %v: %+v", in, err, p)
		}
	}
}
