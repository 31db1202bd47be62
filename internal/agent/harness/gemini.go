package harness

import "encoding/json"

// Gemini is the Gemini CLI. It reads standard error only if standard output is empty, and reads JSON whatever the exit status.
var Gemini = &Harness{
	Name: "gemini", Title: "Gemini CLI",
	parse: parseCommon,
	moments: map[string]Moment{
		"SessionStart": Start,
		"AfterTool":    Tool,
		"AfterAgent":   Stop,
	},
	readOnly: []string{"read_file", "read_many_files", "list_directory", "glob", "grep_search", "web_fetch", "google_web_search"},
	writes: map[string]func(json.RawMessage) []string{
		"write_file": fileInField("file_path"),
		"replace":    fileInField("file_path"),
	},
	inform:    contextAtStart,
	afterTool: blocked, // it replaces the tool's output
	atStop:    blocked,
	person:    systemMessage,
	unread:    blocked,
}
