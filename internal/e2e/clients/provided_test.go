//go:build !windows

package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// The hooks in .pre-commit-hooks.yaml work from a clone of this repository: with the package and without Go, and with the program on PATH,
// under pre-commit and under prek. prek installs packages with uv, which is missing here.
func TestProvidedHooks(t *testing.T) {
	installed(t)
	source := sourceRepository(t)
	if gittest.All() {
		text, err := os.ReadFile(source.Path("pyproject.toml"))
		if err != nil || !dependency.Match(text) {
			t.Fatalf("pyproject.toml names no package: %v\n%s", err, text)
		}
		pinned := dependency.ReplaceAllLiteralString(string(text), `dependencies = ["small-gate==`+packaged().version+`"]`)
		source.Write("pyproject.toml", pinned)
		source.Git("commit", "-q", "--allow-empty", "-a", "-m", "pin it, as a release does")
	}
	for _, tool := range []string{"pre-commit", "prek"} {
		programs := managers[tool].path(t)
		for name, end := range map[string]string{"package": "", "on PATH": "-system"} {
			if tool == "prek" && end == "" {
				continue
			}
			t.Run(tool+", "+name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, programs)
				if end == "" {
					needs(t, "python3")
					d = bareDesk(t, programs).with("PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_FIND_LINKS="+filepath.Join(packaged().folder, "pypi")+" "+debianWheels)
					if _, err := os.Stat(debianWheels); err == nil {
						d = d.with("PIP_NO_INDEX=1")
					}
					d.must(127, "small-hook version")
				}
				d.must(0, tool+" validate-manifest "+wording.ShellQuote(source.Path(".pre-commit-hooks.yaml")))
				d.Write(".pre-commit-config.yaml", "repos:\n"+provided(t, source, end))
				d.must(0, tool+" install --install-hooks --hook-type pre-commit --hook-type pre-merge-commit --hook-type pre-push --hook-type prepare-commit-msg")
				d.Git("add", "-A")
				d.committed("commit", "-q", "-m", "add the gate")
				if end != "" {
					d.must(0, "small-hook install")
					d.must(0, "small-hook doctor")
				}
				d.rewrite()
				d.stopped("append-only/modified", "commit", "-a", "-m", "rewrite")
				d.rewrite()
				d.stopped("append-only/modified", "commit", "-a", "--no-verify", "-m", "rewrite past pre-commit")
				d.entry()
				d.committed("commit", "-q", "-a", "-m", "append")
				d.pushed("main")
				d.rewrite()
				d.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-a", "-m", "past the hook")
				d.held("append-only/modified", "main")
			})
		}
	}
}

// debianWheels is Debian's folder for setuptools.
const debianWheels = "/usr/share/python-wheels"

// dependency matches pyproject.toml's dependency on PyPI.
var dependency = regexp.MustCompile(`(?m)^dependencies = \["small-gate.*"\]$`)

// revision matches the release in the documented lines.
var revision = regexp.MustCompile(`rev: v\S+.*`)

// provided is the documented lines, with ids that have the given suffix, and with a local repository and its latest commit.
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

// pre-commit try-repo runs a hook without a configuration.
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

// sourceRepository is a repository with the files of this one that managers read, and some further folders.
func sourceRepository(t *testing.T) *gittest.Repo {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	repo := gittest.New(t)
	for _, path := range []string{"pyproject.toml", ".pre-commit-hooks.yaml", "cmd/small-hook/main.go", "internal/base/version/version.go"} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		repo.Write(path, string(text))
	}
	repo.Commit("as it stands")
	return repo
}
