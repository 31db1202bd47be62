package harness

import (
	"encoding/json"
	"strings"
)

// Codex is OpenAI's Codex. It takes an answer with a field that it does not know for a failure, and then nothing is blocked; so is
// status 2 with nothing on standard error.
var Codex = &Harness{
	Name: "codex", Title: "Codex",
	parse: parseCommon,
	moments: map[string]Moment{
		"SessionStart": Start,
		"PostToolUse":  Tool,
		"SubagentStop": Tool,
		"Stop":         Stop,
	},
	readOnly:  []string{"view_image", "web_search", "update_plan"},
	writes:    map[string]func(json.RawMessage) []string{"apply_patch": patched},
	inform:    sessionContext,
	afterTool: blocked,
	atStop:    blocked,
	person:    systemMessage,
	unread:    blocked,
}

// patched are the files of a patch in the form of apply_patch. A line of a file's content that looks like a header names a file too
// many, which does no harm.
func patched(input json.RawMessage) []string {
	var in struct {
		Patch string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	var files []string
	for line := range strings.Lines(in.Patch) {
		for _, header := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
			if file, ok := strings.CutPrefix(strings.TrimSpace(line), header); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}
