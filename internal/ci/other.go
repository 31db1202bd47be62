package ci

import "github.com/small-gate/small-gate/internal/base/failure"

// Other is any system known only from the inputs base and head.
var Other = &System{
	Name: "explicit inputs",
	plan: func(*Plan, map[string]string, []byte) error {
		return &failure.Error{
			Message: "no CI system says what to compare here (" + Names() + " are recognized)",
			Remedy:  "small-action --base origin/main --head HEAD",
		}
	},
	Deep: "git fetch --unshallow",
}
