package harness

import (
	"cmp"
	"encoding/json"
)

// Cursor is Cursor, its editor and its command line. Status 2 blocks none of these events. Events whose answer no agent reads are Other:
// afterShellExecution, afterMCPExecution, afterFileEdit, and a stop whose status is not "completed".
var Cursor = &Harness{
	Name: "cursor", Title: "Cursor",
	parse: parseCursor,
	moments: map[string]Moment{
		"sessionStart":       Start,
		"postToolUse":        Tool,
		"postToolUseFailure": Tool,
		"stop":               Stop,
	},
	readOnly: []string{"Read", "Grep", "List", "Fetch", "ReadLints"},
	writes: map[string]func(json.RawMessage) []string{
		"Write":  fileInField("file_path"),
		"Delete": fileInField("file_path"),
	},
	inform:    func(text string) Answer { return document(cursorAnswer{Context: text}) },
	afterTool: func(text string) Answer { return document(cursorAnswer{Context: text}) },
	atStop:    func(text string) Answer { return document(cursorAnswer{FollowUp: text}) },
	person:    toPerson,
	unread:    func(text string) Answer { return document(cursorAnswer{text, text}) },
}

type cursorAnswer struct {
	Context  string `json:"additional_context,omitempty"`
	FollowUp string `json:"followup_message,omitempty"`
}

func parseCursor(data []byte) (fields, error) {
	var c struct {
		common
		Conversation string   `json:"conversation_id"`
		Roots        []string `json:"workspace_roots"`
		Status       string   `json:"status"`
		Loops        float64  `json:"loop_count"`
	}
	err := json.Unmarshal(data, &c)
	s := c.fields()
	s.session = cmp.Or(c.Conversation, s.session)
	s.continuing = c.Loops > 0
	if len(c.Roots) > 0 {
		s.dir = cmp.Or(s.dir, c.Roots[0])
	}
	if c.Event == "stop" && cmp.Or(c.Status, "completed") != "completed" {
		s.event = "stop: " + c.Status
	}
	return s, err
}
