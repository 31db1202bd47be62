package harness

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
)

// Codex is OpenAI's Codex. It takes an answer with a field outside the event's schema for a failure of the hook, and also status 2 with nothing on
// standard error: neither blocks. SubagentStop is Other, because its schema differs from that of PostToolUse.
var Codex = &Harness{
	Name: "codex", Title: "Codex",
	parse: parseCommon,
	moments: map[string]Moment{
		"SessionStart": Start,
		"PostToolUse":  Tool,
		"Stop":         Stop,
	},
	writes:    map[string]func(json.RawMessage) []string{"apply_patch": filesInPatch},
	inform:    contextAtStart,
	afterTool: blocked, // it replaces the tool's output
	atStop: func(text string) Answer {
		return blocked(inSuccession().ReplaceAllStringFunc(text, withoutAnd))
	},
	person: systemMessage,
	unread: blocked,
}

// inSuccession matches commands with &&. At a turn's end Codex shows && to the agent as &amp;&amp;, which it cannot type.
var inSuccession = expression.Of("`[^`&]+(?: && [^`&]+)+`")

// withoutAnd rewrites a command of several steps without &&. The whole of it may be in parentheses, as wording.RunIn writes it.
func withoutAnd(command string) string {
	command = strings.Trim(command, "`")
	if inner, inParentheses := strings.CutPrefix(command, "("); inParentheses {
		return "`(" + strings.Trim(withoutAnd(strings.TrimSuffix(inner, ")")), "`") + ")`"
	}
	steps := strings.Split(command, " && ")
	out := steps[len(steps)-1]
	for _, step := range slices.Backward(steps[:len(steps)-1]) {
		out = "if " + step + "; then " + out + "; else false; fi"
	}
	return "`" + out + "`"
}

// filesInPatch returns the files of a patch in the form of apply_patch. A line of content that looks like a header adds a file, which does no harm.
func filesInPatch(input json.RawMessage) []string {
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
