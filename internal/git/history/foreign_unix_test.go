//go:build unix

package githistory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// A repository of another user can be read, although git itself refuses. But that user's configuration runs nothing: an object left out of
// the clone is not fetched with a program that the configuration names.
func TestForeignRepositoryRunsNothing(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a repository to another user, so that its configuration runs nothing is NOT tested")
	}
	origin := gittest.New(t)
	origin.Git("config", "uploadpack.allowFilter", "true")
	first := origin.CommitFile(".small/x", "1")
	second := origin.CommitFile(".small/x", "2")
	for what, settings := range map[string]map[string]string{
		"another upload-pack": {"remote.origin.uploadpack": "CANARY"},
		"another ssh":         {"core.sshCommand": "CANARY", "remote.origin.url": "ssh://example.com/x"},
		"a remote of its own": {"remote.origin.url": "ext::CANARY", "protocol.ext.allow": "always", "protocol.allow": "always"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			clone := origin.Clone("--filter=blob:none", "--no-checkout")
			odd := clone.Dir + "\u00a0" // as no message shows it
			if err := os.Rename(clone.Dir, odd); err != nil {
				t.Fatal(err)
			}
			clone.Dir = odd
			dir := t.TempDir()
			ran, canary := filepath.Join(dir, "ran"), filepath.Join(dir, "canary")
			if err := gittest.WriteProgram(canary, "#!/bin/sh\necho \"$*\" >>'"+ran+"'\nexit 1\n"); err != nil {
				t.Fatal(err)
			}
			for name, value := range settings {
				clone.Git("config", name, strings.ReplaceAll(value, "CANARY", canary))
			}
			repo := open(t, clone)
			files, err := repo.Diff(t.Context(), []history.Edge{{Parent: first, Child: second}}, history.Workspaces())
			if err != nil || len(files[0]) != 1 {
				t.Fatal(files, err)
			}
			object := files[0][0].New.Object

			if err := os.Chown(clone.Dir, 65534, 65534); err != nil {
				t.Fatal(err)
			}
			if _, err := clone.Try("rev-parse", "HEAD"); err == nil {
				t.Skip("SKIPPED: this git does not mind whose a repository is, so that its configuration runs nothing is NOT tested")
			}
			foreign := open(t, clone)
			if head, err := foreign.Head(t.Context()); err != nil || head != second {
				t.Errorf("Head = %q, %v", head, err)
			}
			_, err = foreign.Blob(t.Context(), object, 100)
			wantFailure(t, err, object, "another user", "safe.directory "+wording.ShellWord(clone.Dir)+"`")
			if data, err := os.ReadFile(ran); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("something was run: %s %v", data, err)
			}

			// Once the caller trusts the repository, git fetches as usual.
			trusted := clone.With("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+clone.Dir)
			if _, err = open(t, trusted).Blob(t.Context(), object, 100); err == nil {
				t.Error("the canary served an object")
			}
			if _, err := os.Stat(ran); err != nil {
				t.Errorf("the trap was not armed: %v", err)
			}
		})
	}
}

// A merge in another user's repository, and a comparison of patches, run no merge driver, filter or file system monitor that its configuration
// names. A file without a driver is merged as usual.
func TestForeignMergeRunsNothing(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a repository to another user, so that its configuration runs nothing is NOT tested")
	}
	r := gittest.New(t)
	r.Write(".gitattributes", "driven merge=x=y\nfiltered filter=x\n")
	for _, name := range []string{"driven", "filtered", "plain"} {
		r.Write(name, "1\n2\n3\n4\n5\n")
	}
	r.Commit("base")
	side := func(branch, driven, text string) string {
		r.Git("checkout", "-q", "-B", branch, "main")
		for _, name := range []string{"filtered", "plain"} {
			r.Write(name, text)
		}
		r.Write("driven", driven)
		return r.Commit(branch)
	}
	const first, last = "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"
	a, b := side("a", first, first), side("b", last, last)
	clean := side("clean", "1\n2\n3\n4\n5\n", last)

	dir := t.TempDir()
	ran, canary := filepath.Join(dir, "ran"), filepath.Join(dir, "canary")
	if err := gittest.WriteProgram(canary, "#!/bin/sh\necho \"$*\" >>'"+ran+"'\nexit 1\n"); err != nil {
		t.Fatal(err)
	}
	r.Git("update-index", "--fsmonitor")
	for _, name := range []string{"merge.x=y.driver", "filter.x.clean", "filter.x.smudge", "core.fsmonitor"} {
		r.Git("config", name, canary)
	}
	r.Git("config", "merge.renormalize", "true")
	if err := os.Remove(ran); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Chown(r.Dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Try("rev-parse", "HEAD"); err == nil {
		t.Skip("SKIPPED: this git does not mind whose a repository is, so that its configuration runs nothing is NOT tested")
	}
	repo := open(t, r)
	if merge, conflicts, err := repo.TryMerge(t.Context(), t.TempDir(), a, b); err != nil || merge != "" || !slices.Equal(conflicts, []string{"driven"}) {
		t.Errorf("the merge of two sides that need a driver is %q, %q, %v", merge, conflicts, err)
	}
	if merge, conflicts, err := repo.TryMerge(t.Context(), t.TempDir(), a, clean); err != nil || merge == "" || len(conflicts) > 0 {
		t.Errorf("the merge of two sides that need none is %q, %q, %v", merge, conflicts, err)
	}
	if same, err := SamePatch(t.Context(), repo.Where(), r.Environ(), a, []string{b, a}); err != nil || same != a {
		t.Errorf("the same patch as %s has %q, %v", a, same, err)
	}
	if data, err := os.ReadFile(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was run: %s %v", data, err)
	}
}
