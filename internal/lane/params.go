package lane

import (
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Loosening is something that a record's params held a job to, and that a later
// version of them does not.
type Loosening struct {
	// Pos is where the later version says otherwise; where it says nothing, that
	// of params, or of the record.
	Pos     small.Pos
	Subject string
	// Message says what is loosened, and Keep what to put back.
	Message, Keep string
	// LaneFrom and LaneTo are the lanes before and after, where it is a lane; the
	// zero Lane after it where there is none any more.
	LaneFrom, LaneTo Lane
}

// Loosened compares what a job was given from upstream with what it was given in
// an earlier version of the record.
func (r *Record) Loosened(earlier *Record) []Loosening {
	var out []Loosening
	if r.Lane.Less(earlier.Lane) {
		l := Loosening{
			Pos: r.paramPos("lane"), Subject: "params.lane",
			Message:  "params.lane was " + string(earlier.Lane) + " and is " + string(r.Lane) + " now; a lane that was given from upstream is not lowered",
			Keep:     `params.lane: "` + string(earlier.Lane) + `"`,
			LaneFrom: earlier.Lane, LaneTo: r.Lane,
		}
		if r.Lane == "" {
			l.Message = "params.lane was " + string(earlier.Lane) + " and gives no lane now; a lane that was given from upstream stays"
		}
		out = append(out, l)
	}
	if now := r.doc.Root.Get("params").Get("epicAllowed"); earlier.NoCampaign && !isBool(now, "false") {
		l := Loosening{
			Pos: r.paramPos("epicAllowed"), Subject: "params.epicAllowed",
			Message: "params.epicAllowed was false and is not any more; a campaign's child stays one",
			Keep:    "params.epicAllowed: false",
		}
		if !isBool(earlier.doc.Root.Get("params").Get("epicAllowed"), "false") && r.NoCampaign {
			return out // it was no answer before either
		}
		out = append(out, l)
	}
	return out
}

// paramPos is the place of a member of params, or of what would hold it.
func (r *Record) paramPos(key string) small.Pos {
	return r.doc.Root.At([]string{"params", key}).Pos
}

// checkLane says whether the lane that was given is one.
func (r *Record) checkLane() []small.Problem {
	given := r.doc.Root.Get("params").Get("lane")
	if given == nil || given.Kind == small.Null || r.Lane != "" {
		return nil
	}
	known := strings.Join(policy.LaneNames, ", ")
	text, isText := given.Str()
	if !isText {
		return []small.Problem{problem(given.Pos, "params.lane", "write one of "+known+" in quotes",
			"params.lane is %s, which names no lane", given.Kind)}
	}
	hint := "write one of " + known
	if near := policy.Suggest(text, policy.LaneNames); near != "" {
		hint = "did you mean " + near + "? There are " + known
	}
	return []small.Problem{problem(given.Pos, "params.lane", hint, "params.lane is %q, which names no lane", clip(text))}
}

// withHints adds what to do to the problems that a schema finds in a record: most
// say what is expected, which is the half of it.
func withHints(problems []small.Problem) []small.Problem {
	for i := range problems {
		p := &problems[i]
		if p.Hint != "" {
			continue
		}
		steps := strings.Split(p.Subject, ".")
		key := steps[len(steps)-1]
		if _, err := strconv.Atoi(key); err == nil && len(steps) > 1 {
			key = steps[len(steps)-2] + " item"
		}
		p.Hint = "write " + recordKeys[key]
		if strings.Contains(p.Message, "lacks the key") {
			p.Hint = "add it: " + recordKeys[key]
		}
	}
	return problems
}

// recordKeys says by key what stands in a record.
var recordKeys = map[string]string{
	"workflowPath":             `the path of the active workflow, such as "workflows/job/workflow.md"`,
	"params":                   `a mapping, such as {"lane": "standard"}`,
	"epicAllowed":              "true or false, without quotes",
	"workflowPathHistory":      "a list of switches, [] where there are none",
	"workflowPathHistory item": "a mapping with at, from, to, fromPhase, reason and by",
	"campaignChildren item":    "a mapping with name and status, and dependsOn and jobId where there are some",
	"dependsOn item":           "the name of another child in quotes",
	"at":                       `the time of the switch, such as "2026-03-01T09:10:00Z"`,
	"from":                     "the path of the workflow that was active",
	"to":                       "the path of the workflow that is active now",
	"fromPhase":                "the phase that the work was in",
	"toPhase":                  "the phase to go on in, or leave it out to begin with the workflow's first one",
	"reason":                   "why the workflow was switched",
	"by":                       `"switch_workflow" or "convert_to_campaign"`,
	"campaignChildren":         "a list of children, [] where there are none",
	"name":                     "a name of its own for each child",
	"dependsOn":                "a list of names of other children, or leave it out",
	"status":                   "pending, ready, dispatched, complete, failed, escalated, skipped or cancelled",
	"jobId":                    "the id of the child's job in quotes, or leave it out",
}
