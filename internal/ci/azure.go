package ci

// Azure is Azure Pipelines (https://learn.microsoft.com/azure/devops/pipelines/build/variables). For a pull request it checks out its merge
// of the head and the target, BUILD_SOURCEVERSION. The target is refs/heads/main in Azure Repos and main on GitHub. New pipelines fetch one
// commit; fetchDepth: 0 fetches all branches. The steps cannot fetch them: the clone does not keep the token
// (https://learn.microsoft.com/azure/devops/pipelines/yaml-schema/steps-checkout).
var Azure = variables{
	event: "BUILD_REASON", request: "SYSTEM_PULLREQUEST_PULLREQUESTID", target: "SYSTEM_PULLREQUEST_TARGETBRANCH",
	source: "SYSTEM_PULLREQUEST_SOURCEBRANCH", head: "SYSTEM_PULLREQUEST_SOURCECOMMITID", commit: "BUILD_SOURCEVERSION",
	ref: "BUILD_SOURCEBRANCH", page: "BUILD_REPOSITORY_URI", commits: "/commit/",
}.system(System{
	Name:       "Azure Pipelines",
	detect:     variableIs("TF_BUILD", "True"),
	Deep:       azureCheckout,
	NoCheckout: "checkout must not be none", Checkout: azureCheckout,
})

const azureCheckout = "steps:\n- checkout: self\n  fetchDepth: 0"
