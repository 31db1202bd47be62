package harness

import "encoding/json"

// Claude is Claude Code. PostToolBatch is left to Other: an answer to it ends the turn instead of prolonging it.
var Claude = &Harness{
	Name: "claude", Title: "Claude Code",
	parse: parseClaude,
	moments: map[string]Moment{
		"SessionStart":       Start,
		"PostToolUse":        Tool,
		"PostToolUseFailure": Tool,
		"SubagentStop":       Tool,
		"Stop":               Stop,
	},
	readOnly: []string{"Read", "Glob", "Grep", "WebFetch", "WebSearch", "AskUserQuestion"},
	writes: map[string]func(json.RawMessage) []string{
		"Write":        fileInField("file_path"),
		"Edit":         fileInField("file_path"),
		"NotebookEdit": fileInField("notebook_path"),
	},
	inform:    contextAtStart,
	afterTool: blocked,
	atStop:    blocked,
	person:    systemMessage,
	unread:    blocked,
}

// parseClaude also recognizes the events of other harnesses that run the hooks in Claude Code's settings: Cursor's have the field cursor_version, and
// Copilot's the field timestamp.
func parseClaude(data []byte) (fields, error) {
	var c struct {
		common
		Cursor present `json:"cursor_version"`
		Time   present `json:"timestamp"`
	}
	err := json.Unmarshal(data, &c)
	s := c.fields()
	switch {
	case bool(c.Cursor):
		s.by = Cursor
	case bool(c.Time):
		s.by = Copilot
	}
	return s, err
}
