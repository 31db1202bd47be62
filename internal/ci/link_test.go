package ci

import "testing"

// TestWhereCommitsAreShown reads the repository's name and the address of its commits from a system, and no address that a report should
// not link to.
func TestWhereCommitsAreShown(t *testing.T) {
	t.Parallel()
	job := func(of string, kv ...string) map[string]string {
		env := map[string]string{of: "true", "CI_COMMIT_SHA": headID}
		for i := 0; i < len(kv); i += 2 {
			env[kv[i]] = kv[i+1]
		}
		return env
	}
	github := func(kv ...string) map[string]string { return job("GITHUB_ACTIONS", kv...) }
	gitlab := func(kv ...string) map[string]string { return job("GITLAB_CI", kv...) }
	for name, row := range map[string]struct {
		env  map[string]string
		want [2]string
	}{
		"GitHub":         {github("GITHUB_SERVER_URL", "https://github.com", "GITHUB_REPOSITORY", "a/b"), [2]string{"a/b", "https://github.com/a/b/commit/"}},
		"no server":      {github("GITHUB_REPOSITORY", "a/b"), [2]string{"a/b", ""}},
		"no repository":  {github("GITHUB_SERVER_URL", "https://github.com"), [2]string{"", ""}},
		"GitLab":         {gitlab("CI_PROJECT_URL", "https://git.example.com/g/a/b", "CI_PROJECT_PATH", "g/a/b"), [2]string{"g/a/b", "https://git.example.com/g/a/b/-/commit/"}},
		"Bitbucket":      {job("x", "BITBUCKET_BUILD_NUMBER", "1", "BITBUCKET_REPO_FULL_NAME", "a/b", "BITBUCKET_GIT_HTTP_ORIGIN", "http://bitbucket.org/a/b"), [2]string{"a/b", "http://bitbucket.org/a/b/commits/"}},
		"Azure":          {job("x", "TF_BUILD", "True", "BUILD_REPOSITORY_URI", "https://dev.azure.com/a/_git/b"), [2]string{"", "https://dev.azure.com/a/_git/b/commit/"}},
		"Drone":          {job("DRONE", "DRONE_REPO", "a/b", "DRONE_REPO_LINK", "https://git.example.com/a/b"), [2]string{"a/b", "https://git.example.com/a/b/commit/"}},
		"Woodpecker":     {job("x", "CI", "woodpecker", "CI_REPO", "a/b", "CI_REPO_URL", "https://git.example.com/a/b"), [2]string{"a/b", "https://git.example.com/a/b/commit/"}},
		"Buildkite":      {job("BUILDKITE"), [2]string{"", ""}},
		"no project":     {gitlab(), [2]string{"", ""}},
		"a script":       {gitlab("CI_PROJECT_URL", "javascript:alert(1)"), [2]string{"", ""}},
		"a password":     {gitlab("CI_PROJECT_URL", "https://a:b@git.example.com/a"), [2]string{"", ""}},
		"a query":        {gitlab("CI_PROJECT_URL", "https://git.example.com/a?x="), [2]string{"", ""}},
		"quotation mark": {gitlab("CI_PROJECT_URL", `https://git.example.com/"`), [2]string{"", "https://git.example.com/%22/-/commit/"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := Decide(row.env, nil, Inputs{Base: "origin/main"})
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]string{plan.Name, plan.CommitLink}; got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
