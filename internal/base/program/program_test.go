package program_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/base/program"
)

func TestGetenv(t *testing.T) {
	t.Parallel()
	p := program.Process{Environ: []string{"A=1", "AB=2", "A=3=4", "=C:=5", "broken"}}
	for key, want := range map[string]string{"A": "3=4", "AB": "2", "B": "", "broken": ""} {
		if got := p.Getenv(key); got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
		if got := p.Variables()[key]; got != want {
			t.Errorf("%s is %q, not %q, among the variables", key, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3"}
	for name, want := range map[string]string{"A": "3", "AB": "2", "B": ""} {
		if got := program.Environ(env).Get(name); got != want {
			t.Errorf("lookup(%q) = %q, want %q", name, got, want)
		}
	}
}
