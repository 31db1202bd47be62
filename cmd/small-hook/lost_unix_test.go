//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// lossDay is a random day in one work tree: entries are appended, git is used, and sometimes a writer without the lock writes an old copy
// of the log.
type lossDay struct {
	*testing.T
	*gittest.Repo
	random *rand.Rand
	// done has the commands, for the failure message.
	done []string
	n    int
}

// do runs shell commands, and fails with the whole day's commands if they fail.
func (d *lossDay) do(lines string) {
	d.Helper()
	if out, failed := d.try(lines); failed {
		d.Fatalf("%s\nfailed at the end of\n%s", out, strings.Join(d.done, "\n"))
	}
}

func (d *lossDay) try(lines string) (out string, failed bool) {
	d.Helper()
	d.done = append(d.done, lines)
	cmd := exec.Command("sh", "-ec", lines)
	// Both readers judge, and must agree.
	cmd.Dir, cmd.Env = d.Dir, append(d.Environ(), readerVariable+"="+sideBySide, "GIT_EDITOR=true")
	said, err := cmd.CombinedOutput()
	return string(said), err != nil
}

// entry is the text of a new entry in the copy of a log that another writer read.
func (d *lossDay) entry() string {
	d.n++
	return fmt.Sprintf("  - task_id: \"task-2\"\n    timestamp: \"%s\"\n    evidence: \"work %d\"\n", time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z07:00"), d.n)
}

func (d *lossDay) appendEntry() (evidence string) {
	d.n++
	d.do(fmt.Sprintf("small-hook append --task task-1 --evidence 'work %d' >/dev/null", d.n))
	return fmt.Sprintf("work %d\"", d.n)
}

// honest is a step that loses nothing from the work tree, or only on purpose. Git refuses some steps in some states, which is no loss
// either.
func (d *lossDay) honest() {
	d.n++
	steps := []string{
		"git commit -q -a -m entries || git diff --quiet HEAD",
		"git commit -q -a --amend -m amended",
		"git add .small && small-hook append --task task-1 --evidence between >/dev/null && git commit -q -m 'the first' || true",
		"git switch -q -c branch-%d && git commit -q --allow-empty -m there",
		"git switch -q main || git switch -q -",
		"git reset -q --hard",
		"git reset -q && git reset -q --soft HEAD",
		"git rev-parse -q --verify HEAD~3 >/dev/null && git reset -q --hard HEAD~1 || true",
		"git stash -q; git stash pop -q || git reset -q --hard",
		"git stash push -q -- .small",
		"git stash pop -q || git reset -q --hard",
		"git switch -q --detach; echo %d >other; git add other; git commit -q other -m other; other=$(git rev-parse HEAD); git switch -q main || git switch -q -; git merge -q --no-ff --no-edit $other || git merge --abort || git reset -q --merge",
		"git switch -q --detach; echo %d >other; git add other; git commit -q other -m other; other=$(git rev-parse HEAD); git switch -q -; git cherry-pick $other >/dev/null 2>&1 || git cherry-pick --skip || true; git revert --no-edit HEAD >/dev/null 2>&1 || git revert --skip || true",
		"git -c rebase.autoStash=true rebase -q HEAD~1 || git rebase --abort",
		"small-hook guard -- git commit -q --allow-empty -m guarded",
		"small-hook restore >/dev/null",
		"small-hook append --task task-1 --evidence 'thrown away' >/dev/null; git checkout -q -- .small; small-hook restore --discard-new >/dev/null",
		"git clean -fdxq",
	}
	step := steps[d.random.IntN(len(steps))]
	if strings.Contains(step, "%d") {
		step = fmt.Sprintf(step, d.n)
	}
	if out, failed := d.try(step); failed {
		d.done = append(d.done, "# which failed: "+strings.ReplaceAll(out, "\n", "\n# "))
	}
}

// TestLossIsMissed asks an oracle which commits lose a recorded entry: exactly those are rejected, and their fix brings the entry back. Where
// the log is again as HEAD has it, as git checkout leaves it, a commit that does not change the log is warned.
func TestLossIsMissed(t *testing.T) {
	gittest.Long(t)
	seed := uint64(time.Now().UnixNano())
	for i := range gittest.Rounds(1, 20) {
		t.Run(fmt.Sprint(i), func(t *testing.T) { t.Parallel(); aLoss(t, seed, i) })
	}
}

func aLoss(t *testing.T, seed uint64, i int) {
	r := guarded(t)
	d := &lossDay{T: t, Repo: r, random: rand.New(rand.NewPCG(gittest.Seed(seed), uint64(i)))}
	d.done = append(d.done, fmt.Sprintf("seed %d, day %d", seed, i))
	d.do("small-hook install; git commit -q --allow-empty -m one; git commit -q --allow-empty -m two")
	for range 1 + d.random.IntN(5) {
		d.appendEntry()
		for range d.random.IntN(4) {
			d.honest()
		}
		d.do("git commit -q --allow-empty -m honest")
	}
	stale, err := os.ReadFile(r.Path(guardedLog))
	if err != nil {
		t.Fatal(err)
	}
	evidence := d.appendEntry()
	for range d.random.IntN(3) { // neither removes nor commits it
		d.do([]string{"git commit -q --allow-empty -m empty", "echo $(date +%N) >some; git add some; git commit -q some -m some", "git restore --staged .small"}[d.random.IntN(3)])
	}
	text := string(stale)
	if d.random.IntN(3) > 0 {
		text += d.entry()
	}
	r.Write(guardedLog, text)
	commit := "git commit -q --allow-empty -m loss" + []string{"", " -a"}[d.random.IntN(2)]
	is := func(revision string) bool {
		return strings.TrimSpace(r.Git("show", revision+":"+guardedLog)) == strings.TrimSpace(text)
	}
	discarded := is("HEAD") && (is("") || strings.HasSuffix(commit, " -a"))
	if out, failed := d.try(commit); failed == discarded || !strings.Contains(out, "append-only/deleted") {
		t.Fatalf("nobody misses %s: %s\nat the end of\n%s", evidence, out, strings.Join(d.done, "\n"))
	}
	if d.random.IntN(2) > 0 {
		d.do("git -c core.hooksPath=/dev/null commit -q --allow-empty -m unseen -a")
	}
	d.do("small-hook restore >/dev/null && git commit -q --allow-empty -a -m restored && small-hook guard -- true && small-hook audit --quiet")
	if n := strings.Count(r.Git("show", "HEAD:"+guardedLog), evidence); n != 1 {
		t.Fatalf("%s is there %d times at the end of\n%s", evidence, n, strings.Join(d.done, "\n"))
	}
}
