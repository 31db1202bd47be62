package ci

import "github.com/small-gate/small-gate/internal/failure"

// Other is whatever has only the inputs base and head to go by.
var Other = &System{
	Name: "explicit inputs",
	plan: func(*Plan, map[string]string, []byte) error {
		return &failure.Error{
			Message: "this is none of the CI systems that say what to compare (" + Names() + " do)",
			Remedy:  "small-action --base origin/main --head HEAD",
		}
	},
	Deep: "git fetch --unshallow",
}
