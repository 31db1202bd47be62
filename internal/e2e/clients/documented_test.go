//go:build !windows

package clients_test

import "testing"

// TestRecipes parses the recipe of each manager in docs/installation.md, even if no manager is installed.
func TestRecipes(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string][2]int{"husky": {5, 0}, "lefthook": {1, 1}, "pre-commit": {1, 1}, "prek": {0, 1}, "A directory of hooks that the team keeps": {5, 0}} {
		if m := recipe(t, heading); len(m.additions) != want[0] || len(m.commands) != want[1] {
			t.Errorf("%s: %d additions and %d commands", heading, len(m.additions), len(m.commands))
		}
	}
}
