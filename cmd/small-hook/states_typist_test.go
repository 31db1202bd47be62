package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// mostRounds is how often the fixes of a command are typed before it must be silent.
const mostRounds = 2

// needsPerson are messages without a command that can be typed, or with one that changes nothing, and why that is right.
var needsPerson = map[string]string{
	"no merge, rebase, cherry-pick or squash is under way here": "there is nothing to reconcile",
	"no finding":                                "there is nothing to waive",
	`"evidence" of entry`:                       "only who did the work can say what shows it",
	"found unexpected end of stream":            "only who wrote it knows what was meant",
	"the file is empty; a mapping":              "only who wrote it knows what was meant",
	"error [validate/yaml]: not YAML":           "only who wrote it knows what was meant",
	"Others may have this commit":               "what others have is a person's to take back",
	"correct its time: it is not committed yet": "only who wrote it knows when that was",
	"which has no commit":                       "there is nothing to judge or to push yet",
	"no commit yet":                             "there is nothing to judge or to push yet",
}

// unshallow is what a shallow clone needs first.
const unshallow = "git fetch --unshallow"

// typist types, in one cell, what messages say, and has no editor.
type typist struct {
	t *testing.T
	cell
	// lines are the commands and their output, heard only the output.
	env, lines, heard []string
	// dir is the work tree, and git its git directory.
	dir, git string
	before   *holdings
	// done is the last suggested command that succeeded.
	done string
	// persons has the reasons why a person had to take over.
	persons  map[string]bool
	problems []string
}

func newTypist(t *testing.T, w *worlds, c cell) *typist {
	t.Helper()
	a := &typist{t: t, cell: c, env: w.env, dir: w.enter(t, c.gitState), persons: map[string]bool{}}
	w.run(t, a.dir, c.wrong.script)
	a.git = a.ask("rev-parse", "--absolute-git-dir")
	a.before = a.holdings()
	return a
}

func (a *typist) problem(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// report fails the test if there are problems; it prints the story if a cell was asked for.
func (a *typist) report() {
	switch {
	case len(a.problems) > 0:
		a.t.Errorf("%s\n%s", strings.Join(a.problems, "\n"), a.story())
	case *onlyStates != "" && testing.Verbose():
		a.t.Log(a.story())
	}
}

// story is what was typed, and its results.
func (a *typist) story() string {
	return "    " + strings.ReplaceAll(strings.Join(a.lines, "\n"), "\n", "\n    ")
}

// runShell runs a script and returns its exit status and what it said.
func runShell(t testing.TB, dir string, env []string, script string) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// typed runs a command line.
func (a *typist) typed(line string) (code int, said string) {
	code, said = runShell(a.t, a.dir, a.env, line)
	a.heard = append(a.heard, said)
	for part, why := range needsPerson {
		if strings.Contains(said, part) {
			a.persons[why] = true
		}
	}
	told := strings.SplitAfterN(said, "\n", 40)
	a.lines = append(a.lines, fmt.Sprintf("$ %s\n%s[%d]", line, strings.Join(told, ""), code))
	return code, said
}

// ask runs a git query; if it fails, the answer is empty.
func (a *typist) ask(args ...string) string { return a.askOf("", args...) }

func (a *typist) askOf(input string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = a.dir, slices.Concat(a.env, []string{"GIT_OPTIONAL_LOCKS=0"}), strings.NewReader(input)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

var (
	inBackticks = regexp.MustCompile("`([^`\n]+)`")
	// placeholder is a word that somebody has to replace.
	placeholder = regexp.MustCompile(`\b(NAME|REVISION|BRANCH|DIR|BASE|FILE|BYTES|REV|TEXT|ID)\b`)
)

// advice is what a message says to type, in its order. What git says in backticks is not from here.
func advice(said string) (out []string) {
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "You might run `git rm`") {
			continue
		}
		for _, m := range inBackticks.FindAllStringSubmatch(line, -1) {
			if !placeholder.MatchString(m[1]) && !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// gitSays is what git's own messages say to do, in the words of the gate where the log is in conflict.
func (a *typist) gitSays(said string) string {
	settle := "small-hook reconcile"
	if a.ask("ls-files", "-u") == "" {
		settle = "git restore :/" // what git says no more of is a file that is gone
	}
	for _, known := range []struct{ part, command string }{
		{"index.lock': File exists", "rm -f " + a.git + "/index.lock"},
		{"The previous cherry-pick is now empty", "git cherry-pick --skip"},
		{"No changes - did you forget", strings.Replace(a.natural(), "--continue", "--skip", 1)},
		{"stash failed", "rm -f " + a.git + "/index.lock"},
		{"commit your changes or stash them to proceed", "git commit -q -a -m first"},
		{"would be overwritten by merge", "git commit -q -a -m first"},
		{"your index contains uncommitted changes", "git commit -q -a -m first"},
		{"You have unstaged changes", "git commit -q -a -m first"},
		{"You have not concluded", "git commit --no-edit"},
		{"Updates were rejected", "small-hook sync"},
		{"unmerged files", "small-hook reconcile"},
		{"unmerged paths", "small-hook reconcile"},
		{"Automatic merge failed", "small-hook reconcile"},
		{"could not apply", "small-hook reconcile"},
		{"Failed to merge in the changes", "small-hook reconcile"},
		{"You must edit all merge conflicts", settle},
	} {
		if strings.Contains(said, known.part) {
			return known.command
		}
	}
	return ""
}

// natural is how git is told to go on with what is under way; empty if nothing is.
func (a *typist) natural() string {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(a.git, name))
		return err == nil
	}
	for _, u := range [][2]string{
		{"rebase-apply/applying", "git am --continue"},
		{"rebase-merge", "git rebase --continue"},
		{"rebase-apply", "git rebase --continue"},
		{"MERGE_HEAD", "git commit -q --no-edit"},
		{"CHERRY_PICK_HEAD", "git cherry-pick --continue"},
		{"REVERT_HEAD", "git revert --continue"},
	} {
		if there(u[0]) {
			return u[1]
		}
	}
	todo, err := os.ReadFile(filepath.Join(a.git, "sequencer", "todo"))
	switch {
	case err != nil:
		return ""
	case strings.HasPrefix(string(todo), "revert"):
		return "git revert --continue"
	}
	return "git cherry-pick --continue"
}

// line is the command that speaks.
func (a *typist) line() string {
	if a.speaker != going {
		return a.speaker
	}
	if line := a.natural(); line != "" {
		return line
	}
	if _, err := os.Stat(filepath.Join(a.git, "SQUASH_MSG")); err == nil {
		return "git commit -q --no-edit"
	}
	return "git commit -q -m work"
}

// run plays a cell.
func (a *typist) run() {
	a.persist(a.line())
	a.settle()
}

// settle ends what is under way, has the whole judged, and holds it to what there was.
func (a *typist) settle() {
	a.finish()
	if len(a.problems) == 0 && !a.waits() && !a.published {
		if a.gitState.name != "shallow" {
			a.persist("small-hook audit")
		}
		a.persist("small-hook check")
		a.finish()
	}
	a.judge()
}

// waits reports whether only somebody who thinks can go on.
func (a *typist) waits() bool {
	for why := range a.persons {
		if !strings.HasPrefix(why, "there is nothing") {
			return true
		}
	}
	return false
}

// persist types a command, and what it says, until it is silent.
func (a *typist) persist(line string) {
	hints := 0
	for round := 0; ; round++ {
		code, said := a.typed(line)
		commands := advice(said)
		if hint := a.gitSays(said); len(commands) == 0 && code != 0 && hint != "" && hints < 5 {
			commands = []string{hint}
			hints++
			round-- // git's own messages do not count
		}
		if slices.Contains(commands, unshallow) && hints < 5 {
			hints++
			round-- // what is wrong besides is seen only then
		}
		switch {
		case strings.Contains(said, "nothing to commit") && strings.HasSuffix(line, "--continue"):
			a.typed(strings.TrimSuffix(line, "continue") + "skip")
			return
		case code == 0 && round > 0, strings.Contains(said, "nothing to commit"), strings.Contains(said, "nothing added to commit"),
			strings.Contains(said, "no changes added to commit"):
			return
		case code == 0:
			a.follow(commands, 0)
			return
		case len(a.persons) > 0 && (len(commands) == 0 || round == mostRounds), a.published && round == mostRounds:
			return
		case round == mostRounds:
			a.problem("round and round: %s", line)
			return
		case len(commands) == 0 && round > 0:
			a.problem("no command: %s", line)
			return
		}
		begun := a.natural()
		if a.follow(commands, 0); a.done == line {
			return
		}
		if now := a.natural(); begun == line && now != line || now != "" && now != line && !strings.HasPrefix(line, "git commit") {
			return // it has ended, or what was begun is finished later
		}
	}
}

// follow types commands, and what those say that fail.
func (a *typist) follow(commands []string, depth int) {
	for _, c := range commands {
		if c == "git commit" {
			c = "git commit -q -m agent"
		}
		code, said := a.typed(c)
		if code == 0 {
			a.done = c
		}
		if code == 0 || depth == mostRounds {
			continue
		}
		if hint := a.gitSays(said); hint != "" {
			a.follow([]string{hint, c}, depth+1)
			continue
		}
		a.follow(slices.DeleteFunc(advice(said), func(m string) bool { return slices.Contains(commands, m) }), depth+1)
	}
}

// finish ends what is under way, and commits what is left.
func (a *typist) finish() {
	for range 10 {
		if len(a.problems) > 0 || a.waits() {
			return
		}
		going, unmerged := a.natural(), a.ask("ls-files", "-u") != ""
		switch {
		case unmerged:
			a.persist("small-hook reconcile")
		case going != "":
			a.persist(going)
		case a.ask("status", "--porcelain", "-uno") != "":
			a.persist("git commit -q -a -m rest")
			if a.ask("diff", "--name-only", "HEAD") == "" {
				a.ask("add", "-u") // the work tree is as HEAD has it, and the index is not
			}
		default:
			return
		}
	}
	a.problem("not finished: %s", a.ask("status"))
}
