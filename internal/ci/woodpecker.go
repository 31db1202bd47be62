package ci

// Woodpecker is Woodpecker CI (https://woodpecker-ci.org/docs/usage/environment). CI_PREV_COMMIT_SHA is an earlier pipeline's commit, not
// the branch's old tip. The clone step fetches one commit without older versions of files, and merges the target into the head if
// configured to (https://woodpecker-ci.org/plugins/git-clone).
var Woodpecker = variables{
	event: "CI_PIPELINE_EVENT", request: "CI_COMMIT_PULL_REQUEST", target: "CI_COMMIT_TARGET_BRANCH", source: "CI_COMMIT_SOURCE_BRANCH",
	labels: "CI_COMMIT_PULL_REQUEST_LABELS", commit: "CI_COMMIT_SHA", tag: "CI_COMMIT_TAG", branch: "CI_COMMIT_BRANCH",
	defaultBranch: "CI_REPO_DEFAULT_BRANCH", repository: "CI_REPO", page: "CI_REPO_URL", commits: "/commit/",
}.system(System{
	Name:       "Woodpecker",
	detect:     variableIs("CI", "woodpecker"),
	Deep:       woodpeckerClone,
	NoCheckout: "skip_clone must not be true", Checkout: woodpeckerClone,
})

const woodpeckerClone = "clone:\n  - name: git\n    image: woodpeckerci/plugin-git\n    settings:\n      partial: false"
