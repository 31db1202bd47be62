package ci

// Forgejo is Forgejo Actions, which sets FORGEJO_ACTIONS as well as GitHub's variables.
var Forgejo = actions("Forgejo Actions", "FORGEJO_ACTIONS", "v4")
