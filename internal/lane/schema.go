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

const notBlank = "a text that is not blank"

// forms says what the schemas' patterns ask for, by key.
var forms = map[string]string{
	"display_name": notBlank, "kind": notBlank, "initial_phase": "the name of a phase", "initial_status": notBlank,
	"name": notBlank, "agent": "the path of an agent file, or null", "model": notBlank, "provider": notBlank,
	"status": notBlank, "workflowPath": "the path of a workflow", "from": "the path of a workflow",
	"to": "the path of a workflow", "fromPhase": "the phase that the work was in", "reason": "a reason, which is not blank",
}

// schemaOf compiles a schema on first use: who has no such files does not pay
// for it.
func schemaOf(name, author string) func() *small.Schema {
	return sync.OnceValue(func() *small.Schema {
		raw, err := schemaFiles.ReadFile("schema/" + name + ".json")
		if err != nil {
			panic(fmt.Sprintf("lane: the schema %s is not embedded: %v", name, err))
		}
		schema, err := small.NewSchema(raw, author, forms)
		if err != nil {
			panic(fmt.Sprintf("lane: the schema %s does not compile: %v", name, err))
		}
		return schema
	})
}

var (
	workflowSchema = schemaOf("workflow", "the workflow format")
	switchesSchema = schemaOf("switches", "the format of job records")
	childrenSchema = schemaOf("children", "the format of campaign records")
)
