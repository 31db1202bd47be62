package ci

// GitHub is GitHub Actions.
var GitHub = actions("GitHub Actions", "GITHUB_ACTIONS", "v6")
