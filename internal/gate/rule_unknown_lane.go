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
claim believes otherwise. Correct the label, or name the lane in the next commit's trailer; upper and lower
case are the same. A project whose commits have Lane trailers with another meaning can switch this rule off.`,
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
			who := "a label of the pull request"
			fix := fmt.Sprintf("give the pull request one of the labels %[1]s%[2]s instead", lane.LabelPrefix, strings.Join(policy.LaneNames, ", "+lane.LabelPrefix))
			if u.commit != "" {
				who, fix = "commit "+short(u.commit), fmt.Sprintf("name the lane in the next commit's trailer, for example %s: %s", lane.Trailer, lane.Standard)
			}
			r.add(Finding{
				subject: u.name, // and no path: neither a message nor a label is a place in a file
				Message: fmt.Sprintf("%s claims the lane %q; there are %s", who, u.name, strings.Join(policy.LaneNames, ", ")),
				Fix:     fix,
			})
			if u.commit != "" {
				r.out[len(r.out)-1].Commit = u.commit
			}
		}
	},
}
