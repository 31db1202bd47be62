//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// witnessRecipes are the recipes of docs/witness.md, as scripts that run in a clone of the witness's own repository, or, for cron, in the
// server's directory.
func witnessRecipes(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/witness.md")
	if err != nil {
		t.Fatal(err)
	}
	below := func(heading, language string) []string {
		_, text, found := strings.Cut(string(page), "\n## "+heading+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		var blocks []string
		for _, part := range strings.Split(text, "```"+language+"\n")[1:] {
			block, _, _ := strings.Cut(part, "```\n")
			blocks = append(blocks, block)
		}
		if !found || len(blocks) == 0 {
			t.Fatalf("docs/witness.md has no recipe %q", heading)
		}
		return blocks
	}
	var github struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	var gitlab map[string]struct{ Script []string }
	for name, into := range map[string]any{"github.yml": &github, "gitlab.yml": &gitlab} {
		if !strings.Contains(string(page), "(witness/"+name+")") {
			t.Errorf("docs/witness.md does not link %s", name)
		}
		if err := yaml.Unmarshal([]byte(readPage(t, "../../docs/witness/"+name)), into); err != nil {
			t.Fatal(err)
		}
	}
	cron := below("A server's cron", "sh")
	return map[string]string{
		"github": github.Jobs["look"].Steps[1].Run,
		"gitlab": strings.Join(gitlab["witness"].Script, "\n"),
		"cron":   "test -d watched || { " + strings.ReplaceAll(cron[0], "https://git.example.org/watched.git", `"$WATCHED"`) + "}\ncat >look <<'END'\n" + cron[1] + "END\nsh look ${ACCEPT:+--accept \"$ACCEPT\"}",
	}
}

// TestWitnessRecipes runs each recipe of docs/witness.md as its job would: at first, with nothing new, after an append, after the default
// branch has changed, and after a forced push, which it must report, without recording anything, until a person accepts it.
func TestWitnessRecipes(t *testing.T) {
	gittest.Long(t)
	for name, recipe := range witnessRecipes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, gittest.At(t.TempDir()+"/repo"))
			if err := os.CopyFS(r.Path(".small"), os.DirFS("testdata/workspace/.small")); err != nil {
				t.Fatal(err)
			}
			r.Git("add", "-A")
			r.Git("commit", "-q", "-m", "begin")
			dir := filepath.Dir(r.Dir)
			shell(t, r, "git init -q --bare ../watched.git && git push -q ../watched.git HEAD:main && git -C ../watched.git symbolic-ref HEAD refs/heads/main")
			shell(t, r, "git init -q --bare ../own.git && git push -q ../own.git $(git commit-tree -m empty $(git mktree </dev/null)):refs/heads/main && git -C ../own.git symbolic-ref HEAD refs/heads/main")
			// Each job has a fresh clone of the witness's repository; the server keeps its directory.
			job := "export WATCHED=" + dir + "/watched.git PUSH_TO=" + dir + "/own.git CI_DEFAULT_BRANCH=main; cd .. && rm -rf job && mkdir job && git clone -q own.git job/own && cd job/own\n"
			if name == "cron" {
				job = "export WATCHED=" + dir + "/watched.git; mkdir -p ../server && cd ../server\n"
			}
			own := "cp \"$GIT_CONFIG_GLOBAL\" ../config 2>/dev/null || : >../config; export GIT_CONFIG_GLOBAL=" + dir + "/config\n" // a recipe may add to it
			look := func(status string) string {
				said := shell(t, r, "( set -e\n"+own+job+recipe+"\n); echo status $?")
				if !strings.Contains(said, "status "+status+"\n") {
					t.Errorf("status %s is expected:\n%s", status, said)
				}
				return said
			}
			recorded := func() string {
				if name == "cron" {
					return shell(t, r, "cat ../server/state/witness.txt")
				}
				return shell(t, r, "git -C ../own.git show main:state/witness.txt && git -C ../own.git rev-list --count main")
			}
			look("0")
			first := recorded()
			look("0")
			if again := recorded(); again != first {
				t.Errorf("nothing is new, and yet it records\n%s\nafter\n%s", again, first)
			}
			shell(t, r, "small-hook append --task task-1 --evidence more && git commit -q -a -m append && git push -q ../watched.git HEAD:main")
			look("0")
			second := recorded()
			if second == first || strings.Count(second, "  \"sha256:") != strings.Count(first, "  \"sha256:")+1 {
				t.Errorf("it records\n%s\nafter\n%s", second, first)
			}
			shell(t, r, "git push -q --force ../watched.git HEAD~1:main")
			said := look("1")
			if !strings.Contains(said, "[witness/rewritten]") || recorded() != second {
				t.Errorf("%s\n%s", said, recorded())
			}
			_, fingerprint, _ := strings.Cut(said, "fingerprint ")
			fingerprint, _, _ = strings.Cut(fingerprint, "\n")
			own += "export ACCEPT=" + fingerprint + "\n"
			look("0")
			own = strings.TrimSuffix(own, "export ACCEPT="+fingerprint+"\n")
			third := recorded()
			if strings.Count(third, "  \"sha256:") != strings.Count(first, "  \"sha256:") {
				t.Errorf("what was accepted is not recorded:\n%s", third)
			}
			shell(t, r, "git push -q ../watched.git HEAD:trunk && git -C ../watched.git symbolic-ref HEAD refs/heads/trunk")
			look("0")
			if switched := recorded(); strings.Contains(third, `/trunk"`) || !strings.Contains(switched, `"ref": "refs/remotes/origin/trunk"`) || !strings.Contains(switched, `"ref": "refs/remotes/origin/main"`) {
				t.Errorf("the new default branch is not watched:\n%s", switched)
			}
		})
	}
}
