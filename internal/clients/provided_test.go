//go:build !windows

package clients_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gittest"
	"github.com/small-gate/small-gate/internal/wording"
)

// The hooks that this repository provides in .pre-commit-hooks.yaml work from a clone of it, built from source or with the program on PATH,
// under pre-commit and under prek.
func TestProvidedHooks(t *testing.T) {
	installed(t)
	source := sourceRepository(t)
	for _, tool := range []string{"pre-commit", "prek"} {
		programs := managers[tool].path(t)
		for name, end := range map[string]string{"built": "", "on PATH": "-system"} {
			t.Run(tool+", "+name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, programs).with(goCaches(t)...)
				d.must(0, tool+" validate-manifest "+wording.ShellQuote(source.Path(".pre-commit-hooks.yaml")))
				d.Write(".pre-commit-config.yaml", "repos:\n"+provided(t, source, end))
				d.must(0, tool+" install --install-hooks --hook-type pre-commit --hook-type pre-merge-commit --hook-type pre-push")
				d.Git("add", "-A")
				d.committed("commit", "-q", "-m", "add the gate")
				d.must(0, "small-hook doctor")
				if end == "" {
					// What is built is what runs: none is on PATH.
					d = d.with("PATH=" + strings.TrimPrefix(search(programs), program()+string(os.PathListSeparator)))
					d.must(127, "small-hook version")
				}
				d.rewrite()
				d.stopped("append-only/modified", "commit", "-a", "-m", "rewrite")
				d.entry()
				d.committed("commit", "-q", "-a", "-m", "append")
				d.pushed("main")
				d.rewrite()
				d.Git("commit", "-q", "--no-verify", "-a", "-m", "past the hook")
				d.held("append-only/modified", "main")
			})
		}
	}
}

// revision matches the release in the documented lines.
var revision = regexp.MustCompile(`rev: v\S+.*`)

// provided is the documented lines, with ids that have the given end, and with a repository that is here and its latest commit.
func provided(t *testing.T, source *gittest.Repo, end string) string {
	t.Helper()
	blocks := fence.FindAllStringSubmatch(section(t, "From this repository"), -1)
	if len(blocks) != 1 || !revision.MatchString(blocks[0][1]) {
		t.Fatalf("docs/installation.md has %d blocks where one is expected", len(blocks))
	}
	text := strings.Replace(blocks[0][1], "https://github.com/small-gate/small-gate", source.Dir, 1)
	text = revision.ReplaceAllLiteralString(text, "rev: "+source.ID("HEAD"))
	return regexp.MustCompile(`(id: \S+)`).ReplaceAllString(text, "${1}"+end)
}

// pre-commit try-repo tries a hook without a configuration.
func TestTryRepo(t *testing.T) {
	installed(t)
	source := sourceRepository(t)
	for _, tool := range []string{"pre-commit", "prek"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, managers[tool].path(t))
			d.rewrite()
			d.Git("add", "-A")
			if said := d.must(1, tool+" try-repo "+wording.ShellQuote(source.Dir)+" small-gate-pre-commit-system"); !strings.Contains(said, "append-only/modified") {
				t.Error(said)
			}
		})
	}
}

// sourceRepository is a repository that holds this module as it stands, but for its tests.
func sourceRepository(t *testing.T) *gittest.Repo {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	repo := gittest.New(t)
	for _, path := range []string{"go.mod", "go.sum", ".pre-commit-hooks.yaml", "cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, path), func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || file == filepath.Join(root, "internal", "clients")):
				return fs.SkipDir
			case entry.IsDir() || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			repo.Write(filepath.ToSlash(name), string(text))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	repo.Commit("as it stands")
	return repo
}

// goCaches are the variables by which a build in another home finds what this machine has fetched and built already.
func goCaches(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, name+"="+strings.TrimSpace(string(out)))
	}
	return found
}
