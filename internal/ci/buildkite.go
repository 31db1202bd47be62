package ci

// Buildkite is Buildkite (https://buildkite.com/docs/pipelines/configure/environment-variables). BUILDKITE_COMMIT may be HEAD, and in a
// tag's build BUILDKITE_BRANCH is the tag. The agent keeps its clone, and fetches what it builds
// (https://buildkite.com/docs/pipelines/configure/git-checkout).
var Buildkite = variables{
	event: "BUILDKITE_SOURCE", request: "BUILDKITE_PULL_REQUEST", target: "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
	source: "BUILDKITE_BRANCH",
	labels: "BUILDKITE_PULL_REQUEST_LABELS", commit: "BUILDKITE_COMMIT", tag: "BUILDKITE_TAG", branch: "BUILDKITE_BRANCH",
	defaultBranch: "BUILDKITE_PIPELINE_DEFAULT_BRANCH",
}.system(System{
	Name:       "Buildkite",
	detect:     variableIs("BUILDKITE", "true"),
	Deep:       "remove depth: from the step's and the pipeline's checkout:, and --depth from the agent's git-clone-flags and git-fetch-flags",
	NoCheckout: "the step has no checkout", Checkout: "checkout:\n  skip: false",
})
