package ci

// CircleCI is CircleCI (https://circleci.com/docs/reference/variables/). No variable names a pull request's target, and only some platforms
// set CIRCLE_PULL_REQUEST, so each branch is compared with the default branch, which no variable names either. A pull request from a fork
// may come from a branch of the default branch's name, which therefore proves nothing.
var CircleCI = variables{commit: "CIRCLE_SHA1", tag: "CIRCLE_TAG", branch: "CIRCLE_BRANCH"}.system(System{
	Name:   "CircleCI",
	detect: variableIs("CIRCLECI", "true"),
	// https://circleci.com/docs/reference/configuration-reference/#checkout
	Deep:       "- checkout:\n    method: full",
	NoCheckout: "put checkout before this step", Checkout: "- checkout:\n    method: full",
})
