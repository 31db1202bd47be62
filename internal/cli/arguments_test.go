package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArguments has the program called under the names of hooks, as by a link
// in a hooks directory.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"small-hook", "check"}, []string{"check"}},
		{[]string{"/usr/bin/small-hook"}, []string{}},
		{[]string{".git/hooks/pre-commit"}, []string{"pre-commit"}},
		{[]string{".git/hooks/pre-push", "origin", "url"}, []string{"pre-push", "origin", "url"}},
		{[]string{"pre-merge-commit.exe"}, []string{"pre-merge-commit"}},
		{[]string{"hooks/pre-receive"}, []string{"pre-receive"}},
		{[]string{"hooks/post-commit", "version"}, []string{"version"}},
	} {
		if diff := cmp.Diff(c.want, arguments(c.args)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.args, diff)
		}
	}
}
