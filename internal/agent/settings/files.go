package settings

import (
	"github.com/small-gate/small-gate/internal/agent/harness"
	"github.com/small-gate/small-gate/internal/base/expression"
)

// All are the harnesses, in the order of [harness.All]. internal/agent/harness/SOURCES.md has the sources for each.
//
// Each call has the harness's default timeout; if that is less than a minute, it gets a minute.
var All = []*File{Claude, Codex, Gemini, Cursor, Copilot}

// Claude is Claude Code. A failed tool is a separate event.
var Claude = &File{
	Harness: harness.Claude, Path: ".claude/settings.json",
	Trust:  "Claude Code runs the hooks once its folder is trusted (it asks), and reads the file only if it is started in the root of the work tree.",
	off:    [2]string{"/disableAllHooks", "true"},
	events: []string{"SessionStart", "PostToolUse", "PostToolUseFailure", "Stop"},
	entry:  `{"hooks":[{"type":"command","command":%s}]}`,
}

// Codex is OpenAI's Codex. A hook must be trusted again after each change.
var Codex = &File{
	Harness: harness.Codex, Path: ".codex/hooks.json",
	Trust:  "Codex skips the hooks without a word until its folder and each hook are trusted, and again after a change of them: start codex in the work tree, trust it, and review them under /hooks.",
	only:   []string{"description", hooksMember},
	events: []string{"SessionStart", "PostToolUse", "Stop"},
	entry:  `{"hooks":[{"type":"command","command":%s}]}`,
}

// Copilot is GitHub Copilot. It reads every file in the folder, so we have our own. An event's JSON has the event's name only if the settings write the
// name in PascalCase.
var Copilot = &File{
	Harness: harness.Copilot, Path: ".github/hooks/small-gate.json",
	Trust:   "Copilot skips the hooks without a word until its folder is trusted: it asks, and a run with -p needs --trust-folder. Its cloud agent reads the default branch, and needs small-hook installed by copilot-setup-steps.yml.",
	version: true,
	off:     [2]string{"/disableAllHooks", "true"},
	events:  []string{"SessionStart", "PostToolUse", "PostToolUseFailure", "Stop"},
	entry:   `{"type":"command","command":%s,"timeout":60}`,
}

// Cursor is Cursor, the editor and its command line. It takes // and the rest of the line as a comment, even in a string.
var Cursor = &File{
	Harness: harness.Cursor, Path: ".cursor/hooks.json",
	Trust:    "Cursor runs the hooks once its workspace is trusted: it asks.",
	comments: expression.Of(`//.*|(?s:/\*.*?\*/)`),
	version:  true, versioned: true,
	events: []string{"sessionStart", "postToolUse", "postToolUseFailure", "stop"},
	entry:  `{"command":%s}`,
}

// Gemini is Gemini CLI.
var Gemini = &File{
	Harness: harness.Gemini, Path: ".gemini/settings.json",
	Trust:    "Gemini CLI runs the hooks once its folder is trusted (it asks; with --skip-trust it runs none), and reads the file only if it is started in the root of the work tree.",
	comments: expression.Of(`"(?:[^"\\]|\\.)*"|//.*|(?s:/\*.*?\*/)`),
	off:      [2]string{"/hooksConfig/enabled", "false"},
	events:   []string{"SessionStart", "AfterTool", "AfterAgent"},
	entry:    `{"hooks":[{"type":"command","command":%s}]}`,
}
