package ci

// Forgejo is Forgejo Actions, which sets FORGEJO_ACTIONS beside GitHub's variables.
var Forgejo = actions("Forgejo Actions", "FORGEJO_ACTIONS", "v4")
