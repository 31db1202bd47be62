package ci

// Drone is Drone (https://docs.drone.io/pipeline/environment/reference/). It merges a pull request into the target branch's tip, and
// DRONE_COMMIT_SHA is the head. DRONE_COMMIT_BEFORE is the branch's old tip for a push; in builds that are started by hand it is the commit
// itself.
var Drone = variables{
	event: "DRONE_BUILD_EVENT", before: "DRONE_COMMIT_BEFORE", request: "DRONE_PULL_REQUEST", target: "DRONE_TARGET_BRANCH",
	source: "DRONE_SOURCE_BRANCH", commit: "DRONE_COMMIT_SHA", tag: "DRONE_TAG", branch: "DRONE_BRANCH",
	defaultBranch: "DRONE_REPO_BRANCH", repository: "DRONE_REPO", page: "DRONE_REPO_LINK", commits: "/commit/",
}.system(System{
	Name:   "Drone",
	detect: variableIs("DRONE", "true"),
	// https://docs.drone.io/pipeline/docker/syntax/cloning/
	Deep:       "remove depth: from clone:",
	NoCheckout: "clone must not be disabled", Checkout: "clone:\n  disable: false",
})
