package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// These tests run, as they are, the pages that say how to get one thing done.

func TestReadme(t *testing.T) {
	gittest.Long(t)
	typePage(t, "../../README.md", "testdata/workspace/.small", 3, "git init -q -b main && git add -A && git commit -q -m Start")
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	installation, err := os.ReadFile("../../docs/installation.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"npm install --global small-gate@", "pipx install small-gate==", "go install github.com/small-gate/small-gate/cmd/small-hook@"} {
		version := regexp.MustCompile(regexp.QuoteMeta(command) + `v?(latest|\d+\.\d+\.\d+)`)
		here, there := version.FindSubmatch(readme), version.FindSubmatch(installation)
		if here == nil || there == nil || string(here[1]) != string(there[1]) && string(here[1]) != "latest" {
			t.Errorf("%s: the README says %q, and docs/installation.md, which is tried, %q", command, here, there)
		}
	}
	clone := regexp.MustCompile(`\| a clone of this repository[^|]*\| \x60(go install [^\x60]+)\x60 \|`).FindSubmatch(readme)
	if clone == nil {
		t.Fatal("the README does not say how to install from a clone")
	}
	bin := t.TempDir()
	cmd := exec.Command("sh", "-c", string(clone[1])+" && "+bin+"/small-hook version")
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "GOBIN="+bin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", clone[1], err, out)
	}
}

// TestLogsPage runs docs/logs.md, and limits its length to a reader's patience.
func TestLogsPage(t *testing.T) {
	r := typePage(t, "../../docs/logs.md", "", 2,
		"git init -q -b main && echo '{\"decision\": \"SQLite\"}' >decisions.jsonl && git add -A && git commit -q -m Start && small-hook install")
	if log := r.Git("show", "HEAD:decisions.jsonl"); !strings.Contains(log, "SQLite") {
		t.Errorf("the page has rewritten the log:\n%s", log)
	}
	page, err := os.ReadFile("../../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(page))); n > 1300 {
		t.Errorf("docs/logs.md has %d words", n)
	}
}

func TestRejectedPage(t *testing.T) {
	gittest.Long(t)
	r := typeSections(t, "../../docs/rejected.md", "testdata/workspace/.small", 2, map[string]string{
		"An older entry was changed, or is gone": `small-hook append --task task-1 --evidence "importer reads 1204 rows"
git commit -q -a -m "Read the export"
perl -pi -e 's/1204 rows/1205 rows/' .small/progress.small.yml
! git commit -q -a -m "Correct the count"`,
		"The push was rejected, or CI is red": `perl -pi -e 's/1204 rows/1206 rows/' .small/progress.small.yml
git -c core.hooksPath=/dev/null commit -q -a -m "Tidy the log up"
echo "more work" >importer.txt; git add importer.txt; git commit -q -m "More work"
! git push -q`,
	}, "git init -q -b main && small-hook install && git add -A && git commit -q -m Start",
		"git init -q --bare -b main ../origin.git && git remote add origin ../origin.git && git push -q -u origin main")
	if log := r.Git("show", "origin/main:.small/progress.small.yml"); !strings.Contains(log, "importer reads 1204 rows") || !strings.Contains(log, "correction") {
		t.Errorf("the page has published another log:\n%s", log)
	}
	if r.Git("show", "origin/main:importer.txt") == "" {
		t.Error("the work beside the log is gone")
	}
}

func TestReconcilePage(t *testing.T) {
	gittest.Long(t)
	records := func(branch, task, evidence string) string {
		return fmt.Sprintf("git switch -q %s; small-hook append --task %s --evidence %q; git commit -q -a -m Work\n", branch, task, evidence)
	}
	r := typeSections(t, "../../docs/reconcile.md", "testdata/workspace/.small", 5, map[string]string{
		"A merge": "git branch feature\n" + records("feature", "task-2", "checkpoints are written") + "git push -q -u origin feature\n" +
			records("main", "task-1", "importer reads 1204 rows") + "git push -q",
		"The conflict was resolved another way": records("feature", "task-2", "checkpoints are compressed") + "git push -q\n" +
			records("main", "task-1", "the second export is read") +
			"! git merge -q feature; git checkout -q --ours .small; git add .small; ! git commit -q -m Merge",
		"A rebase": "git branch late\n" + records("late", "task-2", "checkpoints are read back") +
			records("main", "task-1", "the third export is read") + "git push -q; git switch -q late",
		"A pull request":   "git push -q -u origin late\n" + records("main", "task-1", "the fourth export is read") + "git push -q; git switch -q late",
		"The merge driver": "git branch driven",
	}, "git init -q -b main && small-hook install && git add -A && git commit -q -m Start",
		"git init -q --bare -b main ../origin.git && git remote add origin ../origin.git && git push -q -u origin main")
	shell(t, r, "set -e\n"+records("driven", "task-2", "recorded on another branch")+records("late", "task-1", "recorded meanwhile")+
		"git switch -q driven; git rebase -q late; small-hook range late..driven")
	log := r.Git("show", "origin/late:.small/progress.small.yml")
	for _, entry := range []string{"1204 rows", "second export", "third export", "fourth export", "are written", "are compressed", "are read back"} {
		if strings.Count(log, entry) != 1 {
			t.Errorf("%q stands %d times in the log:\n%s", entry, strings.Count(log, entry), log)
		}
	}
	if merges := r.Git("log", "--merges", "--format=%s", "origin/main"); strings.Count(merges, "Merge ") != 2 {
		t.Errorf("the page has merged something else: %s", merges)
	}
	driven := r.Git("show", "driven:.small/progress.small.yml")
	if strings.Count(driven, "on another branch") != 1 || strings.Count(driven, "recorded meanwhile") != 1 {
		t.Errorf("the driver has not merged both sides:\n%s", driven)
	}
}

func TestNextRunPage(t *testing.T) {
	gittest.Long(t)
	t.Setenv("PATH", referenceBin(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	r := typePage(t, "../../docs/next-run.md", "", 4,
		`git init -q -b main && small init --intent "Import the billing export" && small-hook install && small plan --add "Read the export"`,
		`small checkpoint --task task-2 --status completed --evidence "importer reads 1204 rows" && git add -A && git commit -q -m "The first run"`)
	if log := r.Git("show", "HEAD:.small/progress.small.yml"); !strings.Contains(log, "importer reads") || !strings.Contains(log, "export writes") {
		t.Errorf("the log has not gone on:\n%s", log)
	}
}

func TestAdoptPage(t *testing.T) {
	gittest.Long(t)
	typePage(t, "../../docs/adopt.md", "testdata/workspace/.small", 4,
		"git init -q -b main && git add -A && git commit -q -m Start",
		"sed -i 's/workspace created/workspace set up/' .small/progress.small.yml && git commit -q -a -m 'Before the gate'")
}
