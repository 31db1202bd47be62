package ci

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
)

// The builds of each system: the variables that all builds have, and those of a pull request, a branch, the default branch and a tag.
var builds = []struct {
	system                                      *System
	all, request, branch, defaultBranch, tagged map[string]string
	// head is the judged commit, and named says that the system names the default branch.
	head  string
	named bool
}{
	{
		Jenkins, map[string]string{"BUILD_TAG": "jenkins-gate-1"},
		map[string]string{"BRANCH_NAME": "PR-7", "CHANGE_ID": "7", "CHANGE_TARGET": "main", "CHANGE_BRANCH": "feature"},
		map[string]string{"BRANCH_NAME": "feature"}, map[string]string{"BRANCH_NAME": "main", "BRANCH_IS_PRIMARY": "true"},
		map[string]string{"BRANCH_NAME": "v1", "TAG_NAME": "v1"}, "HEAD", false,
	},
	{
		Buildkite, map[string]string{
			"BUILDKITE": "true", "BUILDKITE_COMMIT": headID, "BUILDKITE_PULL_REQUEST": "false", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "",
			"BUILDKITE_PIPELINE_DEFAULT_BRANCH": "main",
		},
		map[string]string{"BUILDKITE_PULL_REQUEST": "7", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main", "BUILDKITE_BRANCH": "feature"},
		map[string]string{"BUILDKITE_BRANCH": "feature"}, map[string]string{"BUILDKITE_BRANCH": "main"},
		map[string]string{"BUILDKITE_BRANCH": "v1", "BUILDKITE_TAG": "v1"}, headID, true,
	},
	{
		CircleCI, map[string]string{"CIRCLECI": "true", "CIRCLE_SHA1": headID}, nil,
		map[string]string{"CIRCLE_BRANCH": "feature"}, map[string]string{"CIRCLE_BRANCH": "main"},
		map[string]string{"CIRCLE_TAG": "v1"}, headID, false,
	},
	{
		Azure, map[string]string{"TF_BUILD": "True", "BUILD_SOURCEVERSION": headID},
		map[string]string{
			"BUILD_REASON": "PullRequest", "BUILD_SOURCEBRANCH": "refs/pull/7/merge", "BUILD_SOURCEVERSION": mergeID,
			"SYSTEM_PULLREQUEST_PULLREQUESTID": "7", "SYSTEM_PULLREQUEST_SOURCECOMMITID": headID,
			"SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/feature", "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
		},
		map[string]string{"BUILD_SOURCEBRANCH": "refs/heads/feature"}, map[string]string{"BUILD_SOURCEBRANCH": "refs/heads/main"},
		map[string]string{"BUILD_SOURCEBRANCH": "refs/tags/v1"}, headID, false,
	},
	{
		Bitbucket, map[string]string{"BITBUCKET_BUILD_NUMBER": "1", "BITBUCKET_COMMIT": headID},
		map[string]string{
			"BITBUCKET_BRANCH": "feature", "BITBUCKET_PR_ID": "7", "BITBUCKET_PR_DESTINATION_BRANCH": "main",
			"BITBUCKET_PR_DESTINATION_COMMIT": baseID[:12],
		},
		map[string]string{"BITBUCKET_BRANCH": "feature"}, map[string]string{"BITBUCKET_BRANCH": "main"},
		map[string]string{"BITBUCKET_TAG": "v1"}, headID, false,
	},
	{
		Woodpecker, map[string]string{
			"CI": "woodpecker", "CI_COMMIT_SHA": headID, "CI_REPO_DEFAULT_BRANCH": "main", "CI_PREV_COMMIT_SHA": oldID,
			"CI_PIPELINE_EVENT": "push",
		},
		map[string]string{
			"CI_COMMIT_BRANCH": "main", "CI_COMMIT_PULL_REQUEST": "7", "CI_COMMIT_TARGET_BRANCH": "main",
			"CI_COMMIT_SOURCE_BRANCH": "feature",
		},
		map[string]string{"CI_COMMIT_BRANCH": "feature"}, map[string]string{"CI_COMMIT_BRANCH": "main"},
		map[string]string{"CI_COMMIT_TAG": "v1"}, headID, true,
	},
	{
		Drone, map[string]string{
			"DRONE": "true", "DRONE_COMMIT_SHA": headID, "DRONE_REPO_BRANCH": "main", "DRONE_BUILD_EVENT": "custom",
			"DRONE_COMMIT_BEFORE": headID,
		},
		map[string]string{
			"DRONE_BUILD_EVENT": "pull_request", "DRONE_PULL_REQUEST": "7", "DRONE_BRANCH": "main", "DRONE_TARGET_BRANCH": "main",
			"DRONE_SOURCE_BRANCH": "feature",
		},
		map[string]string{"DRONE_BRANCH": "feature", "DRONE_TARGET_BRANCH": "feature"}, map[string]string{"DRONE_BRANCH": "main"},
		map[string]string{"DRONE_TAG": "v1"}, headID, true,
	},
}

// TestVariables demands the same plan for the same build of each system: a pull request against its target, a branch and a tag against the
// default branch, and never against an earlier build.
func TestVariables(t *testing.T) {
	t.Parallel()
	for _, b := range builds {
		named := ""
		if b.named {
			named = mainRefs
		}
		for build, row := range map[string]struct {
			env  map[string]string
			want shape
		}{
			"a pull request":     {b.request, shape{Kind: Change, Base: mainRefs, Head: b.head, Merge: "HEAD", Subject: "pull request 7 into main"}},
			"a branch":           {b.branch, shape{Kind: Push, Ref: "refs/heads/feature", Head: b.head, Default: named, Compare: true, NoBefore: true, Subject: "refs/heads/feature"}},
			"the default branch": {b.defaultBranch, shape{Kind: Push, Ref: "refs/heads/main", Head: b.head, Default: named, Compare: true, NoBefore: true, Subject: "refs/heads/main"}},
			"a tag":              {b.tagged, shape{Kind: Push, Ref: "refs/tags/v1", Head: b.head, Default: named, NoBefore: true, Subject: "refs/tags/v1"}},
		} {
			if row.env == nil {
				continue
			}
			t.Run(b.system.Name+"/"+build, func(t *testing.T) {
				t.Parallel()
				env := maps.Clone(b.all)
				maps.Copy(env, row.env)
				p, err := Decide(env, nil, Inputs{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(row.want, shapeOf(p)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if p.System != b.system || p.Event == "" || build == "a pull request" && (!p.Base[0].Stale || p.Source != "feature") {
					t.Errorf("%+v", p)
				}
				env[defaultBranchVariable] = "trunk"
				if p, err := Decide(env, nil, Inputs{}); err != nil || row.want.NoBefore && shapeOf(p).Default != strings.ReplaceAll(mainRefs, "main", "trunk") {
					t.Errorf("%v: %+v", err, p)
				}
			})
		}
	}
}

// TestBefore: only Drone gives the old tip of a branch, and only for a push.
func TestBefore(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"DRONE": "true", "DRONE_BUILD_EVENT": "push", "DRONE_COMMIT_SHA": headID, "DRONE_COMMIT_BEFORE": oldID, "DRONE_BRANCH": "feature",
		"DRONE_REPO_BRANCH": "main",
	}
	feature := shape{Kind: Push, Ref: "refs/heads/feature", Base: oldID, Head: headID, Default: mainRefs, Compare: true, Subject: "refs/heads/feature"}
	fresh, trunk := feature, feature
	fresh.Base, fresh.NoBefore = "", true
	trunk.Ref, trunk.Subject, trunk.Default, trunk.Compare, trunk.OnDefault = "refs/heads/main", "refs/heads/main", "", false, true
	for _, row := range []struct {
		name, value string
		want        shape
	}{
		{"DRONE_BRANCH", "feature", feature}, {"DRONE_COMMIT_BEFORE", zeroID, fresh}, {"DRONE_COMMIT_BEFORE", "", fresh}, {"DRONE_BRANCH", "main", trunk},
	} {
		env := maps.Clone(env)
		env[row.name] = row.value
		p, err := Decide(env, nil, Inputs{})
		if diff := cmp.Diff(row.want, shapeOf(p)); err != nil || diff != "" {
			t.Errorf("%s=%s: %v\n%s", row.name, row.value, err, diff)
		}
	}
}

// TestBuildOf checks what systems say about a build besides what it is compared with.
func TestBuildOf(t *testing.T) {
	t.Parallel()
	request := map[string]string{
		"BUILDKITE": "true", "BUILDKITE_COMMIT": "HEAD", "BUILDKITE_PULL_REQUEST": "7", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
		"BUILDKITE_PULL_REQUEST_LABELS": "bug,lane:deep",
	}
	p, err := Decide(request, nil, Inputs{})
	if err != nil || cmp.Diff([]string{"lane:deep"}, p.Labels) != "" || p.Head[0].Revision != "HEAD" {
		t.Errorf("%v: %+v", err, p)
	}
	p, err = Decide(request, nil, Inputs{Base: "origin/main"})
	if err != nil || cmp.Diff([]string{"lane:deep"}, p.Labels) != "" || !p.Base[0].Branch {
		t.Errorf("with a base: %v: %+v", err, p)
	}
	p, err = Decide(map[string]string{"BUILD_TAG": "jenkins-gate-1"}, nil, Inputs{})
	if want := (shape{Kind: Push, Head: "HEAD", Compare: true, NoBefore: true, Subject: "the checked-out commit"}); err != nil || cmp.Diff(want, shapeOf(p)) != "" {
		t.Errorf("a project that says nothing: %v: %s", err, cmp.Diff(want, shapeOf(p)))
	}
}

// TestForkOfJenkins: for a fork's pull request the remote can be the fork.
func TestForkOfJenkins(t *testing.T) {
	t.Parallel()
	for fork, foreign := range map[string]string{"stranger": "stranger/gate", "Stranger/gate": "stranger/gate", "other": "", "": "", "strange": ""} {
		env := map[string]string{"BUILD_TAG": "jenkins-gate-1", "CHANGE_ID": "7", "CHANGE_TARGET": "main", "CHANGE_FORK": fork}
		p, err := Decide(env, nil, Inputs{})
		if got := p.ForeignOrigin("https://bitbucket.org/stranger/gate.git"); err != nil || got != foreign {
			t.Errorf("fork %q: %q, %v", fork, got, err)
		}
	}
}

// A value that a system does not give, or gives in another form, is not made up.
func TestNoBuild(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		env  map[string]string
		want string
	}{
		"a short commit":  {map[string]string{"CIRCLECI": "true", "CIRCLE_SHA1": "abc", "CIRCLE_BRANCH": "x"}, `CIRCLE_SHA1 is "abc", which is not the id of a commit`},
		"an odd head":     {map[string]string{"TF_BUILD": "True", "SYSTEM_PULLREQUEST_PULLREQUESTID": "7", "SYSTEM_PULLREQUEST_SOURCECOMMITID": "--x"}, "SYSTEM_PULLREQUEST_SOURCECOMMITID is"},
		"no target":       {map[string]string{"BUILD_TAG": "jenkins-gate-1", "CHANGE_ID": "7"}, `CHANGE_TARGET is "", which is no name of a branch`},
		"an odd target":   {map[string]string{"BUILD_TAG": "jenkins-gate-1", "CHANGE_ID": "7", "CHANGE_TARGET": "--x"}, `CHANGE_TARGET is "--x", which is no name of a branch`},
		"an odd old tip":  {map[string]string{"DRONE": "true", "DRONE_BUILD_EVENT": "push", "DRONE_COMMIT_BEFORE": "HEAD~1"}, "DRONE_COMMIT_BEFORE is"},
		"two systems":     {map[string]string{"BUILD_TAG": "jenkins-gate-1", "GITLAB_CI": "true"}, "has the variables of GitLab CI and of Jenkins"},
		"another system":  {map[string]string{"CI": "true"}, "no CI system says what to compare here (Forgejo Actions, "},
		"half of another": {map[string]string{"CI": "drone", "CI_COMMIT_SHA": headID}, "no CI system says"},
	} {
		_, err := Decide(row.env, nil, Inputs{})
		if f := failure.Of(err); f == nil || !strings.Contains(f.Message, row.want) || f.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := Decide(map[string]string{"BUILDKITE": "true", "GITLAB_CI": "true"}, nil, Inputs{Base: "origin/main"})
	if err != nil || p.Kind != Change {
		t.Errorf("two systems, with a base: %v", err)
	}
}
