package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

// What a harness does with a hook's answer.
const (
	silent   = "silent"
	informed = "informed" // the agent reads a text at a session's start
	blocked  = "blocked"  // the agent reads a text beside a tool's result, or its turn does not end
	released = "released" // a person reads a text
	ignored  = "ignored"  // a text reaches nobody
)

// heard is what reaches the person or agent who has to read it.
type heard struct{ kind, text string }

// hookOutput is what the hook's process left.
type hookOutput struct {
	column         string
	status         int
	stdout, stderr string
}

// moment is the schemas' name for a column. An event that was not read has none.
func (o *hookOutput) moment() string {
	switch o.column {
	case "start", "stop":
		return o.column
	case "again":
		return "stop"
	case "unread", "other":
		return "other"
	}
	return "tool"
}

// document has the fields that at least one harness obeys.
type document struct {
	Decision, Reason  string
	SystemMessage     string
	Type, Message     string
	AdditionalContext string
	Context           string                                            `json:"additional_context"`
	FollowUp          string                                            `json:"followup_message"`
	Specific          struct{ HookEventName, AdditionalContext string } `json:"hookSpecificOutput"`
}

// heardBy is what a harness does with the answer, according to internal/agent/harness/SOURCES.md.
func (o *hookOutput) heardBy(t *testing.T, harness string) (heard, error) {
	t.Helper()
	if o.status != 0 && o.status != 2 {
		return heard{kind: ignored}, errors.New("only 0 and 2 are obeyed")
	}
	var doc document
	if o.stdout != "" {
		if err := checkSchema(harness, o.moment(), o.stdout); err != nil {
			return heard{kind: ignored}, err
		}
		if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
			return heard{kind: ignored}, err
		}
	}
	if o.status == 0 && o.stdout+o.stderr == "" {
		return heard{kind: silent}, nil
	}
	got := harnesses[harness](o, doc)
	if strings.TrimSpace(got.text) == "" || got.kind == ignored {
		return got, errors.New("nobody obeys this")
	}
	return got, nil
}

// harnesses says what each does with an answer that is not empty.
var harnesses = map[string]func(o *hookOutput, doc document) heard{
	"claude": hearsStatus2, "codex": hearsStatus2, "gemini": hearsStatus2,
	"cursor": func(o *hookOutput, doc document) heard {
		switch {
		case o.status != 0:
		case o.column == "start":
			return heard{informed, doc.Context}
		case o.moment() == "tool" || o.column == "unread" && doc.Context == doc.FollowUp:
			return heard{blocked, doc.Context}
		case o.stdout == "":
			return heard{released, o.stderr}
		case o.moment() == "stop":
			return heard{blocked, doc.FollowUp}
		}
		return heard{kind: ignored}
	},
	"copilot": func(o *hookOutput, doc document) heard {
		switch {
		case doc.Decision == "block" && (o.moment() == "stop" || o.column == "unread"):
			return heard{blocked, doc.Reason}
		case o.status == 0 && o.moment() == "tool" && doc.AdditionalContext == doc.Specific.AdditionalContext:
			return heard{blocked, doc.AdditionalContext}
		case o.status == 0 && o.column == "start":
			return heard{informed, doc.AdditionalContext}
		case o.status == 0 && doc.Type == "progress" && doc.Message == doc.SystemMessage:
			return heard{released, doc.Message}
		}
		return heard{kind: ignored}
	},
}

// hearsStatus2 is a harness that status 2 blocks; it passes standard error on.
func hearsStatus2(o *hookOutput, doc document) heard {
	switch {
	case o.status == 2 && o.column != "start" && o.stdout == "":
		return heard{blocked, o.stderr}
	case o.status == 0 && o.column == "start" && doc.Specific.HookEventName == "SessionStart":
		return heard{informed, doc.Specific.AdditionalContext}
	case o.status == 0:
		return heard{released, doc.SystemMessage}
	}
	return heard{kind: ignored}
}

// answerSchemas are the schemas in internal/agent/harness, by harness and moment.
var answerSchemas = sync.OnceValues(func() (map[string]*gojsonschema.Schema, error) {
	out := map[string]*gojsonschema.Schema{}
	for name := range harnesses {
		data, err := os.ReadFile(filepath.Join("..", "..", "internal", "agent", "harness", "testdata", name, "answer.schema.json"))
		if err != nil {
			return nil, err
		}
		var schemas map[string]json.RawMessage
		if err := json.Unmarshal(data, &schemas); err != nil {
			return nil, err
		}
		for _, moment := range []string{"start", "tool", "stop", "other"} {
			if out[name+"/"+moment], err = gojsonschema.NewSchema(gojsonschema.NewBytesLoader(schemas[moment])); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, moment, err)
			}
		}
	}
	return out, nil
})

// checkSchema demands one line of JSON that the harness's schema allows.
func checkSchema(harness, moment, stdout string) error {
	if strings.Count(stdout, "\n") != 1 || !strings.HasSuffix(stdout, "\n") {
		return errors.New("standard output is not one line")
	}
	schemas, err := answerSchemas()
	if err != nil {
		return err
	}
	result, err := schemas[harness+"/"+moment].Validate(gojsonschema.NewStringLoader(stdout))
	if err != nil {
		return err
	}
	if !result.Valid() {
		return fmt.Errorf("the schema of %s does not allow it: %v", harness, result.Errors())
	}
	return nil
}
