package ci

// Gitea is Gitea Actions, which sets GITEA_ACTIONS as well as GitHub's variables.
var Gitea = actions("Gitea Actions", "GITEA_ACTIONS", "v4")
