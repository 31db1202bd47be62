package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// person is one member of a team, in a work tree.
type person struct {
	*gittest.Repo
	name  string
	day   *teamDay
	env   []string
	clone *clone
	// home is the branch that follows the remote's main.
	home string
}

// clone is what the work trees of a repository share.
type clone struct {
	// dir is the common git directory.
	dir string
	// trees is the number of work trees, stashed the owner of its stash.
	trees   int
	stashed *person
}

// answer is the result of a command.
type answer struct {
	status int
	text   string
}

// types runs a line, and notes it.
func (p *person) types(line string) answer { return p.typesWith(line, p.env) }

func (p *person) typesWith(line string, env []string) answer {
	p.day.Helper()
	out, status := p.day.command(p.Dir, line, env)
	p.day.note("%s (%s)$ %s  # %d", p.name, filepath.Base(p.Dir), line, status)
	if status != 0 || strings.Contains(line, "small-hook sync") {
		lines := strings.SplitAfter(strings.TrimSpace(out), "\n")
		if len(lines) > 40 {
			lines = append(lines[:40], "…")
		}
		p.day.note("    %s", strings.Join(lines, "    "))
	}
	return answer{status, out}
}

// mostTyped is the most commands that somebody types until a failed command succeeds.
const mostTyped = 2

// solve types a command. While it fails, it finishes what git has stopped in, types what is printed, and repeats the command.
func (p *person) solve(line string) {
	p.day.Helper()
	tried, typed := map[string]bool{}, 0
	for {
		a := p.types(line)
		if a.status == 0 || nothingLeft.MatchString(a.text) {
			p.day.counted[fmt.Sprintf("%d typed", typed)]++
			return
		}
		p.day.counted["failed: "+strings.Join(strings.Fields(line)[:2], " ")]++
		stopped := p.settle()
		before := typed
		typed += p.follow(a, tried, p.settle)
		if typed == before && !stopped {
			p.day.fail("%s is stuck at %q: nothing is printed that could be typed and was not", p.name, line)
		}
		if typed > mostTyped {
			p.day.fail("%s typed %d commands, and is still stuck at %q", p.name, typed, line)
		}
	}
}

var nothingLeft = regexp.MustCompile(`nothing to commit|no changes added to commit|nothing added to commit`)

// follow types the first untried fix, and if that fails what it prints, unless git has stopped: then settle takes over. It returns the
// number of commands.
func (p *person) follow(a answer, tried map[string]bool, settle func() bool) (typed int) {
	p.day.Helper()
	fixes := printedFixes(a.text)
	at := slices.IndexFunc(fixes, func(fix []string) bool { return !tried[strings.Join(fix, "\n")] })
	if at < 0 {
		return 0
	}
	tried[strings.Join(fixes[at], "\n")] = true
	for _, command := range fixes[at] {
		typed++
		if typed > mostTyped {
			return typed
		}
		again := p.types(command)
		switch {
		case again.status == 0, nothingLeft.MatchString(again.text):
		case settle():
			return typed // the rest was about that
		default:
			typed += p.follow(again, tried, settle)
		}
	}
	return typed
}

// gitsAdvice is git's own advice about a lock that a killed process has left.
var gitsAdvice = regexp.MustCompile(`(?s)'([^'\n]+\.lock)': File exists.*remove the file`)

// lostRace is git's message where no hook runs: everybody knows by heart what to type then.
var lostRace = regexp.MustCompile(`rejected\].*\((non-fast-forward|fetch first)\)`)

// printedFixes are the printed fixes, each the commands in backticks.
func printedFixes(text string) (fixes [][]string) {
	parts := fixLine.FindAllStringSubmatch(text, -1)
	if _, remedy, cannot := strings.Cut(text, "small-hook: "); cannot {
		parts = append(parts, []string{"", remedy})
	}
	for _, part := range parts {
		var commands []string
		for _, m := range command.FindAllStringSubmatch(part[1], -1) {
			commands = append(commands, m[1])
		}
		if len(commands) > 0 {
			fixes = append(fixes, commands)
		}
	}
	if len(fixes) > 0 {
		return fixes
	}
	if m := gitsAdvice.FindStringSubmatch(text); m != nil {
		fixes = append(fixes, []string{"rm -f '" + m[1] + "'"})
	}
	if lostRace.MatchString(text) {
		fixes = append(fixes, []string{"small-hook sync"})
	}
	return fixes
}

const reconcileCommand = "small-hook reconcile"

// settle finishes what git has stopped in: code keeps both sides, and .small/ is reconciled. It reports whether there was anything.
func (p *person) settle() (was bool) {
	p.day.Helper()
	for range 60 {
		next, paths := p.underWay(), p.unmerged()
		if next == "" && len(paths) == 0 {
			return was
		}
		was = true
		for _, path := range paths {
			if strings.HasPrefix(path, ".small/") {
				next = reconcileCommand
			} else {
				p.writeBothSides(path)
			}
		}
		if next == "" {
			continue
		}
		a := p.types(next)
		switch {
		case strings.Contains(next, "squash") && nothingLeft.MatchString(a.text):
			p.types("rm " + filepath.Join(p.gitDir(), "SQUASH_MSG"))
		case a.status == 0, next != reconcileCommand && len(p.unmerged()) > 0:
		case emptyPick.MatchString(a.text):
			p.types(strings.NewReplacer("-c core.editor=true ", "", "--continue", "--skip").Replace(next))
		default:
			p.day.counted["a stop that needed a fix"]++
			tried := map[string]bool{}
			typed := p.follow(a, tried, func() bool { return false })
			if typed == 0 {
				p.day.fail("%s is stuck at %q: nothing is printed that could be typed", p.name, next)
			}
			if typed > mostTyped {
				p.day.fail("%s typed %d commands, and is still stuck at %q", p.name, typed, next)
			}
		}
	}
	p.day.fail("git stops again and again")
	return was
}

// emptyPick matches git's message about a pick with nothing in it.
var emptyPick = regexp.MustCompile(`is now empty|--allow-empty|nothing to commit`)

// underWay is the command that continues what git has under way.
func (p *person) underWay() string {
	for _, state := range [][2]string{
		{"rebase-merge", "git -c core.editor=true rebase --continue"},
		{"rebase-apply", "git -c core.editor=true rebase --continue"},
		{"MERGE_HEAD", "git commit -q --no-edit"},
		{"CHERRY_PICK_HEAD", "git -c core.editor=true cherry-pick --continue"},
		{"REVERT_HEAD", "git -c core.editor=true revert --continue"},
		{"SQUASH_MSG", "git commit -q -m '[" + p.name + "] squash'"},
	} {
		_, err := os.Stat(filepath.Join(p.gitDir(), state[0]))
		if err == nil {
			return state[1]
		}
		if !errors.Is(err, fs.ErrNotExist) {
			p.day.Fatal(err)
		}
	}
	return ""
}

// gitDir is the work tree's own git directory.
func (p *person) gitDir() string { return p.Git("rev-parse", "--absolute-git-dir") }

func (p *person) unmerged() (paths []string) {
	for line := range strings.Lines(p.Git("ls-files", "-u")) {
		_, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// writeBothSides resolves a conflict in code by keeping both sides.
func (p *person) writeBothSides(path string) {
	text, err := os.ReadFile(p.Path(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.day.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !conflictMarker.MatchString(line) {
			kept.WriteString(line)
		}
	}
	p.Write(path, kept.String())
	p.day.note("%s writes both sides into %s", p.name, path)
	p.types("git add -- " + path)
}

var conflictMarker = regexp.MustCompile(`^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)`)

// tidy demands that once everybody has completed a sync, no work tree or setting of one is left.
func (p *person) tidy() {
	p.day.Helper()
	if trees := strings.Count(p.Git("worktree", "list", "--porcelain"), "worktree "); trees != p.clone.trees {
		p.day.fail("after a sync there are %d work trees and not %d:\n%s", trees, p.clone.trees, p.Git("worktree", "list"))
	}
	err := filepath.WalkDir(p.clone.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != p.clone.dir && entry.Name() == ".git" {
			p.day.Errorf("after a sync there is %s", path)
		}
		return err
	})
	if err != nil {
		p.day.Fatal(err)
	}
	for _, setting := range []string{"core.sparseCheckout", "extensions.worktreeConfig"} {
		if value, err := p.Try("config", setting); err == nil {
			p.day.Errorf("after a sync %s is %s", setting, value)
		}
	}
}
