package settings

// All are the harnesses, in the order of their names. What each was looked up in stands in internal/harness/SOURCES.md.
var All = []*File{Claude, Codex, Copilot, Cursor, Gemini}

// Claude is Claude Code. A command that fails is an event of its own there.
var Claude = &File{
	Harness: "claude", Title: "Claude Code", Path: ".claude/settings.json",
	Trust:   "Claude Code runs a repository's hooks once its folder is trusted (it asks), and reads the file only where it is started: start it in the root of the repository.",
	off:     "disableAllHooks",
	events:  []event{{"SessionStart", ""}, {"PostToolUse", "*"}, {"PostToolUseFailure", "*"}, {"Stop", ""}},
	grouped: true,
	handler: `{"type":"command","command":%s}`,
}

// Codex is OpenAI's Codex.
var Codex = &File{
	Harness: "codex", Title: "Codex", Path: ".codex/hooks.json",
	Trust:   "Codex runs a repository's hooks once its folder and the hooks are trusted: it asks, and asks again when they change.",
	events:  []event{{"SessionStart", ""}, {"PostToolUse", ""}, {"Stop", ""}},
	grouped: true,
	handler: `{"type":"command","command":%s}`,
}

// Copilot is GitHub Copilot. It reads every file of that folder, so that this one is ours alone. The events' names in capitals are those at
// which it says in its JSON which event it is.
var Copilot = &File{
	Harness: "copilot", Title: "GitHub Copilot", Path: ".github/hooks/small-gate.json",
	Trust:   "Copilot runs a repository's hooks once its folder is trusted: it asks, and in headless runs the flag --trust-folder says so. Its cloud agent reads the default branch, and needs small-hook in copilot-setup-steps.yml.",
	version: true,
	off:     "disableAllHooks",
	events:  []event{{"SessionStart", ""}, {"PostToolUse", ""}, {"PostToolUseFailure", ""}, {"Stop", ""}},
	handler: `{"type":"command","command":%s,"timeout":120}`,
}

// Cursor is Cursor, the editor and its command line.
var Cursor = &File{
	Harness: "cursor", Title: "Cursor", Path: ".cursor/hooks.json",
	Trust:   "Cursor runs a repository's hooks once its folder is trusted: it asks.",
	version: true,
	events:  []event{{"sessionStart", ""}, {"postToolUse", ""}, {"stop", ""}},
	handler: `{"command":%s,"timeout":120}`,
}

// Gemini is Gemini CLI.
var Gemini = &File{
	Harness: "gemini", Title: "Gemini CLI", Path: ".gemini/settings.json",
	Trust:    "Gemini CLI runs a repository's hooks once its folder is trusted: it asks.",
	comments: true,
	events:   []event{{"SessionStart", ""}, {"AfterTool", "*"}, {"AfterAgent", ""}},
	grouped:  true,
	handler:  `{"type":"command","command":%s,"timeout":120000}`,
}
