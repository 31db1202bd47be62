package lane

import (
	"embed"
	"fmt"
	"sync"

	"github.com/small-gate/small-gate/internal/small"
)

// The schemas are draft-07 and use only keywords that the engine enforces; a
// test holds that. They know keys, types and enumerations. What names what is
// judged in Go.
//
//go:embed schema/*.json
var schemaFiles embed.FS

// An example of each form, for whoever got it wrong.
const (
	workflowExample = "a workflow is written like this: phases: [{name: coding, agent: agents/coder.md, tier: coding, interactive_checkpoint: true, subagents: [{name: code-reviewer, agent: agents/code-reviewer.md}]}], overrides: {jira: {initial_phase: coding}}"
	switchExample   = `a record is written like this: {"workflowPath": "workflows/job/workflow.md", "workflowPathHistory": [{"at": "2026-03-01T09:10:00Z", "from": "workflows/job-fast/workflow.md", "to": "workflows/job/workflow.md", "fromPhase": "planning", "reason": "WHY", "by": "switch_workflow"}]}`
	childExample    = "a campaign is written like this: campaignChildren: [{name: schema, status: complete}, {name: reader, status: pending, dependsOn: [schema], repository: api, contracts: [{repository: db, file: schema.sql}]}]"
)

// schemaOf compiles a schema on first use: who has no such files does not pay
// for it.
func schemaOf(name string) func() *small.Schema {
	return sync.OnceValue(func() *small.Schema {
		raw, err := schemaFiles.ReadFile("schema/" + name + ".json")
		if err != nil {
			panic(fmt.Sprintf("lane: the schema %s is not embedded: %v", name, err))
		}
		schema, err := small.NewSchema(raw, nil)
		if err != nil {
			panic(fmt.Sprintf("lane: the schema %s does not compile: %v", name, err))
		}
		return schema
	})
}

var (
	workflowSchema = schemaOf("workflow")
	switchesSchema = schemaOf("switches")
	childrenSchema = schemaOf("children")
)

// checkSchema judges a document. Where nothing better is known, an example says
// what to do.
func checkSchema(schema *small.Schema, doc *small.Document, example string) []small.Problem {
	problems := schema.Check(doc)
	for i := range problems {
		if problems[i].Hint == "" {
			problems[i].Hint = example
		}
	}
	return problems
}
