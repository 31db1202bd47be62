package main

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// prelude defines the commands of the scripts of states and wrongs. `entry HH:MM EVIDENCE` appends an entry, `drop` removes one, `before`
// inserts one before another, and `ben` runs something as somebody else. `raw` commits past the hooks.
const prelude = `set -e
log=.small/progress.small.yml
text() { printf '  - task_id: "task-1"\n    timestamp: "2026-03-01T%s:00.000000001Z"\n    status: "completed"\n    evidence: "%s"\n' "$1" "$2"; }
entry() { text "$1" "$2" >>$log; }
edit() { sed -i "s/evidence: \"$1\"/evidence: \"WRONG $1\"/" $log; }
drop() { awk -v e="\"$1\"" '/^  - /{if (b != "" && !d) printf "%s", b; b = ""; d = 0; h = 1} !h{print; next} {b = b $0 "\n"; if (index($0, "evidence: " e)) d = 1} END{if (!d) printf "%s", b}' $log >../dropped; cat ../dropped >$log; }
insert() { { sed -n '1,3p' $log; sed -n '4,7p' $log; text 09:05 'WRONG inserted'; sed -n '8,$p' $log; } >../inserted; cat ../inserted >$log; }
ben() { GIT_AUTHOR_NAME=Ben GIT_AUTHOR_EMAIL=ben@example.com GIT_COMMITTER_NAME=Ben GIT_COMMITTER_EMAIL=ben@example.com "$@"; }
raw() { git -c core.hooksPath=/dev/null commit -q "$@"; }
stops() { if "$@" >../said 2>&1; then echo "it was to stop: $*"; cat ../said; exit 1; fi; }
`

// teamScript is the start of all states: a server with Ben's work, including a merge, and a clone in which Ann has two unpublished commits.
// refs/next/main is what Ben pushes next.
const teamScript = `
git init -q --bare -b main origin.git
git init -q -b main work
cd work
git remote add origin ../origin.git
mkdir .small && cp "$WORKSPACE"/.small/* .small
raw() { git add -A; git commit -q "$@"; }
raw -m 'Start the workspace'
echo 1 >ben.txt; entry 09:10 'ben 1'; ben raw -m 'Ben begins'
git checkout -q -b release; entry 09:15 'release 1'; ben raw -m 'Ben prepares a release'
git checkout -q -b feature main; entry 09:20 'ben 2'; ben raw -m 'Ben works on a feature'
git checkout -q main; echo 2 >ben.txt; ben raw -m 'Ben goes on'
ben git merge -q --no-ff -m 'Ben merges the feature' feature
git checkout -q -b side; echo 1 >side1.txt; entry 09:40 'side 1'; ben raw -m 'Side one'
echo 2 >side2.txt; entry 09:50 'side 2'; ben raw -m 'Side two'
git checkout -q -b edited side; edit 'ben 1'; echo 1 >edited.txt; entry 10:15 'edited 1'; ben raw -m 'Ben edits'
git checkout -q -b next main; echo 3 >ben.txt; entry 10:20 'ben 3'; ben raw -m 'Ben pushes first'
git push -q origin main release side edited next:refs/next/main
git checkout -q main
git branch -q -D feature side edited next release
git fetch -q
git branch -q -u origin/main
git remote set-head origin main
echo 1 >ann1.txt; entry 10:00 'ann 1'; raw -m 'Ann begins'
echo 2 >ann2.txt; entry 10:10 'ann 2'; raw -m 'Ann goes on'
small-hook install >/dev/null
git repack -q -a -d && git pack-refs --all && git -C ../origin.git repack -q -a -d && git -C ../origin.git pack-refs --all
`

// gitState is what git can be in the middle of when a message names a command.
type gitState struct {
	name string
	// script begins it. With fresh set it runs again in each copy, because its result contains absolute paths.
	script string
	fresh  bool
	// conflict is true if the log is in conflict, settled if commits can be made on HEAD's branch past the hooks.
	conflict, settled bool
	// applies is true if only the changes of commits are applied: their entries are then in the work tree alone.
	applies bool
	// dir is the work tree, if it is not "work".
	dir string
}

var gitStates = []gitState{
	{name: "plain", script: `true`, settled: true},
	{name: "merge", script: `stops git merge -q origin/side`, conflict: true},
	{name: "merge_no_commit", script: `git reset -q --hard origin/main; git merge -q --no-ff --no-commit origin/side`},
	{name: "rebase", script: `stops git rebase -q origin/side`, conflict: true, applies: true},
	{name: "rebase_apply", script: `stops git rebase -q --apply origin/side`, conflict: true, applies: true},
	{name: "pick", script: `stops git cherry-pick origin/side`, conflict: true},
	{name: "pick_several", script: `stops git cherry-pick origin/main..origin/side`, conflict: true},
	{name: "pick_no_commit", script: `stops git cherry-pick -n origin/side~1`, conflict: true},
	{name: "revert", script: `stops git revert --no-edit HEAD~1`, conflict: true},
	{name: "revert_several", script: `stops git revert --no-edit HEAD~1 HEAD`, conflict: true, applies: true},
	{name: "reverted", script: `git -c core.hooksPath=/dev/null revert --no-edit HEAD >/dev/null`, settled: true},
	{name: "revert_no_commit", script: `git revert -n HEAD`},
	{name: "merge_edited", script: `stops git merge -q origin/edited`, conflict: true},
	{name: "pick_edited", script: `stops git cherry-pick origin/edited`, conflict: true},
	{name: "rebase_edited", script: `edit 'ben 1'; raw -a -m 'Wrong'; stops git rebase -q origin/side`, conflict: true, applies: true},
	{name: "squash", script: `stops git merge -q --squash origin/side`, conflict: true},
	{name: "squash_clean", script: `git reset -q --hard origin/main; git merge -q --squash origin/side`},
	{name: "detached", script: `git checkout -q --detach`, settled: true},
	{name: "unborn", script: `git checkout -q --orphan fresh`},
	{name: "stash_pop", script: `entry 10:30 'stashed'; git stash -q; entry 10:40 'ann 3'; raw -a -m 'Ann adds'; stops git stash pop`, conflict: true, applies: true},
	{name: "am", script: `git format-patch -q -o ../patches origin/main..origin/side; stops git am -q -3 ../patches/*`, conflict: true, applies: true},
	{name: "published", script: `git reset -q --hard origin/main`, settled: true},
	{name: "merged", script: `stops git merge -q origin/side; small-hook reconcile >/dev/null; git commit -q --no-edit`, settled: true},
	{name: "release", script: `git checkout -q release; entry 10:30 'ann 3'; git commit -q -a -m 'Ann mends the release'`, settled: true},
	{name: "shallow", script: `git clone -q --depth 1 --no-single-branch "file://$(cd .. && pwd)/origin.git" ../shallow; cd ../shallow; git remote set-url origin ../origin.git; small-hook install >/dev/null; entry 10:30 'ann 3'; git commit -q -a -m 'Ann works here'`, settled: true, dir: "shallow", fresh: true},
	{name: "bisect", script: `git bisect start -q HEAD HEAD~4 >/dev/null`, settled: true},
	{name: "linked", script: `git worktree add -q -b linked ../linked >/dev/null; cd ../linked; entry 10:30 'ann 3'; git commit -q -a -m 'Ann works there'`, settled: true, dir: "linked", fresh: true},
	{name: "lock", script: `touch .git/index.lock`, settled: true},
}

// wrong is what somebody does to the log in a state.
type wrong struct {
	name, script string
	// conflict and settled limit it to states with a conflict, or to those where commits can be made past the hooks.
	conflict, settled bool
	// published is true if others already have it, destroys if nothing of the log is left in the work tree.
	published, destroys bool
}

var wrongs = []wrong{
	{name: "nothing", script: `true`},
	{name: "added", script: `entry 11:00 'new'; git add $log`},
	{name: "added_unstaged", script: `entry 11:00 'new'`},
	{name: "modified", script: `edit 'workspace created'; git add $log`},
	{name: "modified_unstaged", script: `edit 'workspace created'`},
	{name: "deleted", script: `drop 'ben 1'; git add $log`},
	{name: "deleted_and_added", script: `drop 'ben 1'; entry 11:00 'new'; git add $log`},
	{name: "inserted", script: `insert; git add $log`},
	{name: "log_deleted", script: `git rm -q -f $log`, destroys: true},
	{name: "workspace_gone", script: `rm -r .small`, destroys: true},
	{name: "too_early", script: `entry 08:00 'new'; git add $log`},
	{name: "no_evidence", script: `entry 11:00 ''; git add $log`},
	{name: "yaml", script: `printf '  - task_id: "task-1\n' >>$log; git add $log`},
	{name: "truncated", script: `: >$log; git add $log`, destroys: true},
	{name: "markers", script: `printf '<<<<<<< ours\n=======\n>>>>>>> theirs\n' >>$log; git add $log`},
	{name: "marked_as_it_is", script: `git add $log`, conflict: true},
	{name: "future", script: `text 11:00 'new' | sed 's/2026/2099/' >>$log; git add $log`},
	{name: "took_ours", script: `git checkout -q --ours $log; git add $log`, conflict: true, destroys: true},
	{name: "took_theirs", script: `git checkout -q --theirs $log; git add $log`, conflict: true},
	{name: "lost_unguarded", script: `cp $log ../was; small-hook append --task task-1 --evidence 'acknowledged' >/dev/null; cat ../was >$log`, settled: true},
	{name: "lost_and_staged", script: `cp $log ../was; small-hook append --task task-1 --evidence 'acknowledged' >/dev/null; cat ../was >$log; entry 11:00 'new'; git add $log`, settled: true},
	{name: "moved_on", script: `git -C ../origin.git update-ref refs/heads/main refs/next/main`},
	{name: "committed_edit", script: `edit 'workspace created'; raw -a -m 'Wrong'`, settled: true},
	{name: "committed_edit_and_work", script: `edit 'ben 1'; echo 3 >more.txt; git add more.txt; raw -a -m 'Wrong'; entry 11:00 'new'; raw -a -m 'Right'`, settled: true},
	{name: "committed_loss", script: `drop 'ben 2'; raw -a -m 'Wrong'`, settled: true},
	{name: "committed_insertion", script: `insert; raw -a -m 'Wrong'`, settled: true},
	{name: "committed_too_early", script: `entry 08:00 'new'; raw -a -m 'Wrong'`, settled: true},
	{name: "committed_no_log", script: `git rm -q $log; raw -m 'Wrong'`, settled: true},
	{name: "committed_yaml", script: `printf '  - task_id: "task-1\n' >>$log; raw -a -m 'Wrong'`, settled: true},
	{name: "committed_merge_with_loss", script: `stops git merge -q origin/side; git checkout -q --ours $log; git add $log; raw --no-edit`, settled: true},
	{name: "pushed_edit", script: `edit 'workspace created'; raw -a -m 'Wrong'; git push -q --no-verify origin HEAD:refs/heads/pushed; git fetch -q`, settled: true, published: true},
}

// applies reports whether a wrong is possible in a state.
func (w wrong) applies(s gitState) bool {
	switch {
	case s.name == "unborn" && w.destroys: // there is no log to remove
		return false
	case s.name == "lock":
		return !strings.Contains(w.script, "git ") && !strings.Contains(w.script, "raw ")
	case w.name == "committed_merge_with_loss":
		return s.settled && s.name != "shallow" && s.name != "merged" && s.name != "bisect" && s.name != "published"
	case w.name == "committed_loss" && s.name == "release", w.name == "committed_edit_and_work" && s.name == "merged": // the entries that follow would be too early
		return false
	}
	return (!w.conflict || s.conflict) && (!w.settled || s.settled)
}

// going is the command that continues what is under way, or commits.
const going = "go on"

// speakers are the commands that have something to say.
var speakers = []string{
	going, "small-hook check", "small-hook audit", "git commit -q -a -m all", "small-hook restore", "small-hook reconcile", "git push -q origin HEAD",
	"small-hook append --task task-1 --evidence appended", "small-hook guard -- true", "small-hook sync", "small-hook check --against HEAD",
	"small-hook range origin/main..HEAD", "small-hook merge-check HEAD origin/side", "small-hook reconcile origin/side", "small-hook replay-id --value",
	"small-hook replay-id --write", "small-hook baseline", "small-hook waive --rule append-only/modified --reason because", "small-hook doctor",
	"git merge -q --no-edit origin/side",
}

// worlds has each state, made once.
type worlds struct {
	env    []string
	team   string
	states map[string]func() string
	// place makes a directory for a copy.
	place func(t *testing.T) string
}

func newWorlds(t *testing.T) *worlds {
	t.Helper()
	workspace, err := filepath.Abs(filepath.Join("testdata", "workspace"))
	if err != nil {
		t.Fatal(err)
	}
	w := &worlds{team: gittest.TempDir(t), states: map[string]func() string{}, place: func(t *testing.T) string { return gittest.TempDir(t) }}
	w.env = append(gittest.New(t).Environ(), "WORKSPACE="+workspace, "NO_COLOR=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	w.run(t, w.team, teamScript)
	for _, s := range gitStates {
		w.states[s.name] = sync.OnceValue(func() string {
			dir := w.copy(t, gittest.TempDir(t), w.team)
			w.run(t, filepath.Join(dir, "work"), s.script)
			return dir
		})
	}
	return w
}

// run runs a script that has to succeed.
func (w *worlds) run(t *testing.T, dir, script string) {
	t.Helper()
	if code, out := runShell(t, dir, w.env, prelude+script); code != 0 {
		t.Fatalf("%s\nended with %d: %s", script, code, out)
	}
}

// enter makes a copy of a state and returns the work tree.
func (w *worlds) enter(t *testing.T, s gitState) string {
	t.Helper()
	if s.fresh {
		dir := w.copy(t, w.place(t), w.team)
		w.run(t, filepath.Join(dir, "work"), s.script)
		return filepath.Join(dir, s.dir)
	}
	return filepath.Join(w.copy(t, w.place(t), w.states[s.name]()), "work")
}

func (w *worlds) copy(t *testing.T, dir, from string) string {
	t.Helper()
	if err := gittest.CopyTree(dir, from); err != nil {
		t.Fatal(err)
	}
	// The copied files have new inodes and times.
	w.run(t, filepath.Join(dir, "work"), "[ -e .git/index.lock ] || git update-index -q --refresh >/dev/null || true")
	return dir
}
