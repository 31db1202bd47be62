//go:build unix

package githistory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			wantFailure(t, err, object, "another user", "safe.directory")
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
