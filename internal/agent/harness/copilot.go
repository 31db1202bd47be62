package harness

import (
	"cmp"
	"encoding/json"
)

// Copilot is GitHub Copilot: its command line, its cloud agent, and agents in VS Code, which read the same files. If the settings write an event's name
// in PascalCase, the event's fields have the names of VS Code's, and one is the event's name; in camelCase there is no such field, and the other fields
// tell the event. A subagent's end is Other: the agent that started it gets a tool event for it, and reads that answer.
var Copilot = &Harness{
	Name: "copilot", Title: "GitHub Copilot",
	parse: parseCopilot,
	moments: map[string]Moment{
		"sessionStart": Start, "SessionStart": Start,
		"postToolUse": Tool, "PostToolUse": Tool,
		"postToolUseFailure": Tool, "PostToolUseFailure": Tool,
		"agentStop": Stop, "Stop": Stop,
	},
	readOnly: []string{"view", "grep", "glob", "Read", "Grep", "Glob"},
	writes: map[string]func(json.RawMessage) []string{
		"create": fileInField("path"), "Write": fileInField("path"),
		"edit": fileInField("path"), "Edit": fileInField("path"),
	},
	inform:    copilotContext("SessionStart"),
	afterTool: copilotContext("PostToolUse"), // a decision would replace the tool's output
	atStop: func(text string) Answer {
		type block struct {
			Event string `json:"hookEventName"`
			decision
		}
		return document(struct {
			decision
			Specific block `json:"hookSpecificOutput"`
		}{decision{"block", text}, block{"Stop", decision{"block", text}}})
	},
	person: func(text string) Answer {
		return document(struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			System  string `json:"systemMessage"`
		}{"progress", text, text})
	},
	unread: func(text string) Answer {
		answer := document(decision{"block", text})
		answer.Stderr, answer.Status = blocked(text).Stderr, 2
		return answer
	},
}

// copilotContext returns a function that answers with a text for the agent: at the top level for the command line, and below hookSpecificOutput for VS
// Code. Each ignores the other's part.
func copilotContext(event string) func(text string) Answer {
	return func(text string) Answer {
		return document(struct {
			Text     string  `json:"additionalContext"`
			Specific context `json:"hookSpecificOutput"`
		}{text, context{event, text}})
	}
}

func parseCopilot(data []byte) (fields, error) {
	var c struct {
		common
		Event      string          `json:"hookEventName"` // for VS Code
		Session    string          `json:"sessionId"`
		Tool       string          `json:"toolName"`
		Arguments  json.RawMessage `json:"toolArgs"`
		Result     present         `json:"toolResult"`
		Error      present         `json:"error"`
		StopReason string          `json:"stopReason"`
		Reason     string          `json:"reason"`
		Source     string          `json:"source"`
		Prompt     string          `json:"prompt"`
		Agent      string          `json:"agentId"`
		AgentName  string          `json:"agentName"`
		AgentSnake string          `json:"agent_id"`
	}
	err := json.Unmarshal(data, &c)
	s := c.common.fields()
	s.event = cmp.Or(s.event, c.Event)
	s.session, s.tool = cmp.Or(s.session, c.Session), cmp.Or(s.tool, c.Tool)
	if s.input == nil {
		s.input = c.Arguments
	}
	switch {
	case s.event != "":
	case c.Tool != "" && !bool(c.Result || c.Error):
		s.event = "preToolUse"
	case c.Tool != "":
		s.event = "postToolUse"
	case c.AgentName != "":
		s.event = "subagentStop"
	case c.StopReason != "":
		s.event = "agentStop"
	case c.Source != "":
		s.event = "sessionStart"
	case c.Reason != "":
		s.event = "sessionEnd"
	case c.Prompt != "":
		s.event = "userPromptSubmitted"
	case bool(c.Error):
		s.event = "errorOccurred"
	}
	if cmp.Or(c.Agent, c.AgentSnake) != "" && (s.event == "agentStop" || s.event == "Stop") {
		s.event = "subagentStop"
	}
	return s, err
}
