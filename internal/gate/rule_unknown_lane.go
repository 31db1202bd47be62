package gate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

var ruleUnknownLane = Rule{
	ID: "lane/unknown", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "a trailer or a label claims a lane that does not exist, or a commit's message one where it is no trailer",
	Why: `There are three lanes: fast, standard and deep. A claim that names another one, such as a misspelt
one, is no claim: the change is judged by the next claim, or by no lane at all, and whoever made the
claim believes otherwise. A squash puts messages together so that their trailers stand in the middle,
where they claim nothing either. Correct the label, or name the lane in the next commit's trailer; upper and lower
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
			f := Finding{subject: u.name} // and no path: neither a message nor a label is a place in a file
			known := strings.Join(policy.LaneNames, ", ")
			switch {
			case u.stray:
				f.Message = fmt.Sprintf("commit %s says %q where git sees no trailer, so it claims nothing", short(u.commit), lane.Trailer+": "+u.name)
				f.Fix = "trailers stand together in the last paragraph of a message; claim the lane in the next commit: " + trailerCommand(lane.Lane(u.name))
			case u.commit != "":
				f.Message = fmt.Sprintf("commit %s claims the lane %q; there are %s", short(u.commit), u.name, known)
				f.Fix = "name the lane in the next commit's trailer, for example " + trailerCommand(cmp.Or(v.state.claim.Lane, lane.Standard))
			default:
				f.Message = fmt.Sprintf("a label claims the lane %q; there are %s", u.name, known)
				f.Fix = fmt.Sprintf("label the change with one of %[1]s%[2]s instead"+newRun, lane.LabelPrefix, strings.Join(policy.LaneNames, ", "+lane.LabelPrefix))
			}
			r.add(f)
			if u.commit != "" {
				r.out[len(r.out)-1].Commit = u.commit
			}
		}
	},
}

// trailerCommand is how to claim a lane in the next commit.
func trailerCommand(l lane.Lane) string {
	return fmt.Sprintf("git commit --trailer %q", lane.Trailer+": "+string(l))
}
