package harness

import (
	"cmp"
	"encoding/json"
)

// Copilot is GitHub's Copilot CLI and coding agent. Its settings name events in camelCase or in PascalCase. In camelCase an event
// does not say its name: what it is about shows in its fields.
var Copilot = &Harness{
	Name: "copilot", Title: "GitHub Copilot",
	parse: parseCopilot,
	moments: map[string]Moment{
		"sessionStart": Start, "SessionStart": Start,
		"postToolUse": Tool, "PostToolUse": Tool,
		"postToolUseFailure": Tool, "PostToolUseFailure": Tool,
		"subagentStop": Tool, "SubagentStop": Tool,
		"agentStop": Stop, "Stop": Stop,
	},
	readOnly: []string{"view", "grep", "glob", "web_fetch"},
	writes: map[string]func(json.RawMessage) []string{
		"create": field("path"),
		"edit":   field("path"),
	},
	inform:    copilotContext,
	afterTool: copilotContext,
	atStop:    copilotBlock,
	person:    func(text string) Answer { return Answer{Stderr: []byte(text + "\n")} },
	unread: func(text string) Answer {
		return document(struct {
			Decision string `json:"decision"`
			Reason   string `json:"reason"`
			Context  string `json:"additionalContext"`
		}{"block", text, text})
	},
}

func copilotContext(text string) Answer {
	return document(struct {
		Text string `json:"additionalContext"`
	}{text})
}

func copilotBlock(text string) Answer {
	return document(struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"block", text})
}

func parseCopilot(data []byte) (said, error) {
	var c struct {
		common
		Session    string          `json:"sessionId"`
		Tool       string          `json:"toolName"`
		Arguments  json.RawMessage `json:"toolArgs"`
		Result     json.RawMessage `json:"toolResult"`
		Error      json.RawMessage `json:"error"`
		StopReason string          `json:"stopReason"`
		Agent      string          `json:"agentName"`
		Source     string          `json:"source"`
	}
	err := json.Unmarshal(data, &c)
	s := c.common.said()
	s.session, s.tool = cmp.Or(s.session, c.Session), cmp.Or(s.tool, c.Tool)
	if s.input == nil {
		s.input = c.Arguments
	}
	if s.event == "" {
		switch {
		case c.Tool != "" && (c.Result != nil || c.Error != nil):
			s.event = "postToolUse"
		case c.Tool != "":
			s.event = "preToolUse"
		case c.StopReason != "" && c.Agent != "":
			s.event = "subagentStop"
		case c.StopReason != "":
			s.event = "agentStop"
		case c.Source != "":
			s.event = "sessionStart"
		}
	}
	return s, err
}
