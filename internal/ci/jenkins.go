package ci

import "strings"

// Jenkins is Jenkins. A multibranch project says which branch or change it builds
// (https://www.jenkins.io/doc/book/pipeline/multibranch/#additional-environment-variables); in other projects only HEAD is known.
// Whether a change is merged before it is built is the project's choice, and no variable has the change's own tip, so HEAD is judged as it
// is. JENKINS_URL does not mark a job: Jenkins' command line reads it too, also in other systems' jobs.
var Jenkins = variables{
	request: "CHANGE_ID", target: "CHANGE_TARGET", source: "CHANGE_BRANCH", fork: "CHANGE_FORK",
	tag: "TAG_NAME", branch: "BRANCH_NAME",
}.system(System{
	Name: "Jenkins",
	// https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables
	detect:     func(env map[string]string) bool { return strings.HasPrefix(env["BUILD_TAG"], "jenkins-") },
	Deep:       "in the project's configuration, Branch Sources, Behaviours: remove \"Shallow clone\" from \"Advanced clone behaviours\"",
	NoCheckout: "put checkout scm before this step", Checkout: "checkout scm",
	originRemedy: func(*Plan) string {
		return "in the steps before this one, fetch the target branch from the target's repository, then `small-action --base FETCH_HEAD`"
	},
})
