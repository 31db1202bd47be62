package harness

import (
	"cmp"
	"encoding/json"
)

// Cursor is Cursor, its editor and its command line. Status 2 blocks none of the events here.
var Cursor = &Harness{
	Name: "cursor", Title: "Cursor",
	parse: parseCursor,
	moments: map[string]Moment{
		"sessionStart":        Start,
		"postToolUse":         Tool,
		"postToolUseFailure":  Tool,
		"afterShellExecution": Tool,
		"afterMCPExecution":   Tool,
		"afterFileEdit":       Tool,
		"subagentStop":        Tool,
		"stop":                Stop,
	},
	readOnly:  []string{"Read", "Grep", "Glob", "LS"},
	writes:    map[string]func(json.RawMessage) []string{},
	inform:    additionalContext,
	afterTool: additionalContext,
	atStop:    followUp,
	person:    func(text string) Answer { return Answer{Stderr: []byte(text + "\n")} },
	unread: func(text string) Answer {
		return document(struct {
			Context string `json:"additional_context"`
			Message string `json:"followup_message"`
		}{text, text})
	},
}

func parseCursor(data []byte) (said, error) {
	var c struct {
		common
		Conversation string   `json:"conversation_id"`
		Roots        []string `json:"workspace_roots"`
		Loops        float64  `json:"loop_count"`
		File         string   `json:"file_path"`
	}
	err := json.Unmarshal(data, &c)
	s := c.said()
	s.session = cmp.Or(c.Conversation, s.session)
	s.continuing = c.Loops > 0
	if s.dir == "" && len(c.Roots) > 0 {
		s.dir = c.Roots[0]
	}
	if c.Event == "afterFileEdit" && c.File != "" {
		s.files = []string{c.File}
	}
	return s, err
}

func additionalContext(text string) Answer {
	return document(struct {
		Text string `json:"additional_context"`
	}{text})
}

func followUp(text string) Answer {
	return document(struct {
		Text string `json:"followup_message"`
	}{text})
}
