package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

var ruleUnknownLane = Rule{
	ID: "lane/unknown", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "a trailer or a label claims a lane that does not exist",
	Why: `There are three lanes: fast, standard and deep. A claim that names another one, such as a misspelt
one, is no claim: the change is judged by the next claim, or by no lane at all, and whoever made the
claim believes otherwise. Correct the label, or name the lane in the next commit's trailer. A project whose
commits have Lane trailers with another meaning can switch this rule off.`,
	Wrong: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Say how to import a year

Lane: fats
-- theirs/README.txt --
importer --year 2025
`,
	Right: `
-- theirs/COMMIT --
Author: Ada <ada@example.com>

Say how to import a year

Lane: fast
-- theirs/README.txt --
importer --year 2025
`,
	Lane: func(v *laneView, r *reporter) {
		for _, u := range v.state.unknown {
			who, fix := "a label of the pull request", "correct the label"
			if u.commit != "" {
				who, fix = "commit "+short(u.commit), "name the lane in the next commit's trailer"
			}
			r.add(Finding{
				Path: policy.File, subject: u.name,
				Message: fmt.Sprintf("%s claims the lane %q; there are %s", who, u.name, strings.Join(policy.LaneNames, ", ")),
				Fix:     fmt.Sprintf("%s, for example %s: %s", fix, lane.Trailer, lane.Standard),
			})
			if u.commit != "" {
				r.out[len(r.out)-1].Commit = u.commit
			}
		}
	},
}
