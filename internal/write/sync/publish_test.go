package publish

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
)

// Only lines that the remote rejected are a refusal: an up-to-date ref, or a broken connection, is not.
func TestRejections(t *testing.T) {
	t.Parallel()
	for porcelain, want := range map[string]string{
		"": "",
		"To ../origin.git\n=\trefs/heads/main:refs/heads/main\t[up to date]\nDone\n":                                   "",
		"To x\n!\trefs/heads/main:refs/heads/main\t[remote rejected] (hook declined)\nDone\n":                          "refs/heads/main:refs/heads/main [remote rejected] (hook declined)",
		"!\ta:b\t[rejected] (fetch first)\n \tc:d\t1..2\n!\te:f\t[rejected] (stale info)\n":                            "a:b [rejected] (fetch first)\ne:f [rejected] (stale info)",
		"!\trefs/heads/main:refs/heads/main\t[remote failure] (remote failed to report status)\nTo [rejected]\nDone\n": "",
	} {
		if diff := cmp.Diff(want, rejections(porcelain)); diff != "" {
			t.Errorf("%q: %s", porcelain, diff)
		}
	}
}

func TestRemedies(t *testing.T) {
	t.Parallel()
	opts := Options{Remote: "up", Branch: "topic", Merge: true}
	lost := publishing{opts: opts, remote: "up", git: &commandLine{again: opts.command()}}
	for got, want := range map[string]string{
		addCommand([]string{"a.txt", "it's\n"}):                   "`git add -- " + topPaths([]string{"a.txt"}) + " " + topPaths([]string{"it's\n"}) + "`",
		listPaths([]string{"1", "2", "3", "4", "5", "6", "7"}):    "1, 2, 3, 4, 5, 2 more",
		listPaths([]string{"a\x1b"}):                              `a\x1b`,
		failure.Of(lost.errNoRemote([]string{"a;b", "c"})).Remedy: "push to a remote that exists: `small-hook sync --merge 'a;b' topic`",
		failure.Of(lost.errNoRemote(nil)).Remedy:                  "add the remote with git remote add, under the name up; then `small-hook sync --merge up topic`",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
