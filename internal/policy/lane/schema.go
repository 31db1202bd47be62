package lane

import (
	_ "embed"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// The schemas are draft-07 and use only keywords that the validator enforces; a test checks that. They define keys, types and enumerations. Code
// checks references between names.
var (
	//go:embed schema/workflow.json
	workflowText []byte
	//go:embed schema/switches.json
	switchesText []byte
	//go:embed schema/children.json
	childrenText []byte

	workflowSchema = schema.Of(workflowText, nil)
	switchesSchema = schema.Of(switchesText, nil)
	childrenSchema = schema.Of(childrenText, nil)
)

// An example of each form, for hints.
const (
	workflowExample = "a workflow is written like this: phases: [{name: coding, agent: agents/coder.md, tier: coding, interactive_checkpoint: true, subagents: [{name: code-reviewer, agent: agents/code-reviewer.md}]}], overrides: {jira: {initial_phase: coding}}"
	switchExample   = `a record is written like this: {"workflowPath": "workflows/job/workflow.md", "workflowPathHistory": [{"at": "2026-03-01T09:10:00Z", "from": "workflows/job-fast/workflow.md", "to": "workflows/job/workflow.md", "fromPhase": "planning", "reason": "WHY", "by": "switch_workflow"}]}`
	childExample    = "a campaign is written like this: campaignChildren: [{name: schema, status: complete}, {name: reader, status: pending, dependsOn: [schema], repository: api, contracts: [{repository: db, file: schema.sql}]}]"
)

// checkSchema returns a document's problems with a schema. A problem without a hint gets the example as its hint.
func checkSchema(by *schema.Schema, doc *small.Document, example string) []small.Problem {
	problems := by.Check(doc)
	for i := range problems {
		if problems[i].Hint == "" {
			problems[i].Hint = example
		}
	}
	return problems
}
