package ci

// Bitbucket is Bitbucket Pipelines (https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/). In a pull request's
// pipeline it merges the target into the head before the first step, and BITBUCKET_COMMIT is the head
// (https://support.atlassian.com/bitbucket-cloud/docs/pipeline-start-conditions/). BITBUCKET_PR_DESTINATION_COMMIT is abbreviated, and can
// be an older tip of the branch. Pull requests from forks start no pipeline.
var Bitbucket = variables{
	request: "BITBUCKET_PR_ID", target: "BITBUCKET_PR_DESTINATION_BRANCH", source: "BITBUCKET_BRANCH", commit: "BITBUCKET_COMMIT",
	tag: "BITBUCKET_TAG", branch: "BITBUCKET_BRANCH", repository: "BITBUCKET_REPO_FULL_NAME",
	page: "BITBUCKET_GIT_HTTP_ORIGIN", commits: "/commits/",
}.system(System{
	Name:   "Bitbucket Pipelines",
	detect: func(env map[string]string) bool { return env["BITBUCKET_BUILD_NUMBER"] != "" },
	// https://support.atlassian.com/bitbucket-cloud/docs/git-clone-behavior/
	Deep:       "clone:\n  depth: full",
	NoCheckout: "clone must be enabled", Checkout: "clone:\n  enabled: true\n  depth: full",
})
