package harness

import "strings"

// In is the harness that really calls, by the environment: Cursor and Copilot run the hooks of Claude Code's settings as well, with
// events of their own, and obey their own answers alone. Claude Code may be started in a shell of either.
func (h *Harness) In(environ []string) *Harness {
	if h != Claude || set(environ, "CLAUDECODE") {
		return h
	}
	switch {
	case set(environ, "CURSOR_VERSION"):
		return Cursor
	case set(environ, "COPILOT_CLI"):
		return Copilot
	}
	return h
}

func set(environ []string, name string) bool {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok && value != "" {
			return true
		}
	}
	return false
}
