package harness

import "encoding/json"

// Claude is Claude Code. PostToolBatch is left to Other: an answer to it ends the turn instead of prolonging it.
var Claude = &Harness{
	Name: "claude", Title: "Claude Code",
	parse: parseCommon,
	moments: map[string]Moment{
		"SessionStart":       Start,
		"PostToolUse":        Tool,
		"PostToolUseFailure": Tool,
		"SubagentStop":       Tool,
		"Stop":               Stop,
	},
	readOnly: []string{"Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "WebSearch", "TodoWrite", "AskUserQuestion"},
	writes: map[string]func(json.RawMessage) []string{
		"Write":        field("file_path"),
		"Edit":         field("file_path"),
		"MultiEdit":    field("file_path"),
		"NotebookEdit": field("notebook_path"),
	},
	inform:    sessionContext,
	afterTool: blocked,
	atStop:    blocked,
	person:    systemMessage,
	unread:    blocked,
}

// sessionContext is the answer to SessionStart of Claude Code and of those that have taken it over.
func sessionContext(text string) Answer {
	type specific struct {
		Event string `json:"hookEventName"`
		Text  string `json:"additionalContext"`
	}
	return document(struct {
		Specific specific `json:"hookSpecificOutput"`
	}{specific{"SessionStart", text}})
}

func systemMessage(text string) Answer {
	return document(struct {
		Text string `json:"systemMessage"`
	}{text})
}
