package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// stuck are the situations in which the agent that types only what a fix says gets stuck, and why that is right.
var stuck = map[string]string{
	"commit_migrated":            "others have a log with old timestamps, which only a person accepts, and before any new work",
	"completed_without_evidence": "only who did the work can say what shows it",
	"config_invalid":             "only who wrote the configuration knows what was meant",
	"entry_without_evidence":     "only who did the work can say what shows it",
	"foreign_lease":              "nobody types past another agent's lease",
}

// leastDone is the number of situations in which such an agent must finish its work.
const leastDone = 30

// TestMechanicalAgent runs the situations of testdata/mechanical with an agent that reads nothing but `fix:` lines and types what is in
// backticks there. Each must end with the work pushed, check and audit passing, and nothing lost, unless it is in the list of those that
// get stuck.
func TestMechanicalAgent(t *testing.T) {
	gittest.Long(t)
	dir := filepath.Join("testdata", "mechanical")
	situations, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(situations) < leastDone+5 {
		t.Errorf("%d situations (%v)", len(situations), err)
	}
	if done := len(situations) - len(stuck); done < leastDone {
		t.Errorf("%d of %d situations end with the work done", done, len(situations))
	}
	bin := t.TempDir()
	reference := os.Getenv(referenceProgram)
	if reference == "" {
		t.Logf("NOT TESTED: %s names no program: the situations that need the protocol's own program are skipped", referenceProgram)
	} else if err := os.Symlink(reference, filepath.Join(bin, "small")); err != nil {
		t.Fatal(err)
	}
	testscript.RunT(expecting{T: t}, testscript.Params{
		Dir:                 dir,
		WorkdirRoot:         gittest.TempDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[keptKey{}] = newKept()
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			return setup(env)
		},
		Cmds: withCommands(map[string]func(*testscript.TestScript, []string){
			"project": project, "colleague": colleague, "agent": agent, "finished": finished,
		}),
		Condition: func(cond string) (bool, error) {
			if cond == "small" {
				return reference != "", nil
			}
			return condition(cond)
		},
	})
}

func withCommands(more map[string]func(*testscript.TestScript, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range commands {
		all[name] = run
	}
	for name, run := range more {
		all[name] = plainly(run)
	}
	return all
}

// expecting is a T whose tests must fail if, and only if, they are in the list of those that get stuck.
type expecting struct {
	*testing.T
	failed *bool
}

func (e expecting) Run(name string, f func(testscript.T)) {
	e.T.Run(name, func(t *testing.T) {
		failed := false
		ended := make(chan struct{})
		// FailNow ends the goroutine of the failed test.
		go func() {
			defer close(ended)
			f(expecting{T: t, failed: &failed})
		}()
		<-ended
		why, known := stuck[name]
		switch {
		case failed && !known:
			t.Error("the agent is stuck")
		case failed:
			t.Log("stuck, as expected: " + why)
		case known && !t.Skipped():
			t.Error("the agent is not stuck any more")
		}
	})
}

// Parallel is left out: expecting would not know which test ended.
func (e expecting) Parallel()     {}
func (e expecting) Verbose() bool { return testing.Verbose() }
func (e expecting) FailNow() {
	*e.failed = true
	runtime.Goexit()
}

func (e expecting) Fatal(args ...any) {
	e.Log(args...)
	e.FailNow()
}

type keptKey struct{}

// kept is what was committed or staged at any time: the evidence of entries, and the lines of files.
type kept struct {
	entries map[string]bool
	lines   map[string]map[string]bool
	// commits are those of HEAD: their authors, messages and numbers of parents.
	commits map[string]bool
	// seen are the files that were read, by path and object.
	seen map[string]bool
}

func newKept() *kept {
	return &kept{entries: map[string]bool{}, lines: map[string]map[string]bool{}, commits: map[string]bool{}, seen: map[string]bool{}}
}

var evidenceLine = regexp.MustCompile(`(?m)^ +(?:- )?evidence: *"?(.*?)"?$`)

// note adds what is committed and staged now. An EDITED entry and an abandoned file may be lost.
func (k *kept) note(ts *testscript.TestScript) {
	k.noteTree(ts, "ls-files", "--stage")
	if head(ts) != "" {
		k.noteTree(ts, "ls-tree", "-r", "HEAD")
		for line := range strings.Lines(output(ts, "log", "--format=%an <%ae> %ad%x00%s%x00%P")) {
			parts := strings.Split(strings.TrimSpace(line), "\x00")
			k.commits[fmt.Sprintf("%s: %q with %d parents", parts[0], parts[1], len(strings.Fields(parts[2])))] = true
		}
	}
}

func (k *kept) noteTree(ts *testscript.TestScript, list ...string) {
	for line := range strings.Lines(output(ts, list...)) {
		about, name, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		fields := strings.Fields(about)
		object := slices.IndexFunc(fields, func(s string) bool { return len(s) == 40 })
		if strings.Contains(name, "abandoned") || object < 0 || k.seen[name+fields[object]] {
			continue
		}
		k.seen[name+fields[object]] = true
		content := output(ts, "cat-file", "blob", fields[object])
		switch {
		case path.Base(name) == "progress.small.yml":
			for _, m := range evidenceLine.FindAllStringSubmatch(content, -1) {
				if !strings.Contains(m[1], "EDITED") {
					k.entries[m[1]] = true
				}
			}
		case !strings.Contains(name, ".small"):
			if k.lines[name] == nil {
				k.lines[name] = map[string]bool{}
			}
			for text := range strings.Lines(content) {
				k.lines[name][text] = true
			}
		}
	}
}

// lost names what is missing from a later state.
func (k *kept) lost(now *kept) (lost []string) {
	for entry := range k.entries {
		if !now.entries[entry] {
			lost = append(lost, fmt.Sprintf("entry %q", entry))
		}
	}
	for commit := range k.commits {
		if !now.commits[commit] {
			lost = append(lost, "commit of "+commit)
		}
	}
	for name, lines := range k.lines {
		for line := range lines {
			if !now.lines[name][line] {
				lost = append(lost, fmt.Sprintf("%s: %q", name, line))
			}
		}
	}
	slices.Sort(lost)
	return lost
}

// project makes a bare repository, and a clone of it with a workspace and hooks, and goes there.
func project(ts *testscript.TestScript, _ []string) {
	repository(ts, []string{"work"})
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", "../remote.git"},
		{"remote", "add", "origin", "../remote.git"},
		{"push", "-q", "-u", "origin", "main"},
		{"remote", "set-head", "origin", "main"},
	} {
		ts.Check(ts.Exec("git", args...))
	}
}

// colleague DIR makes another clone with hooks, and goes there.
func colleague(ts *testscript.TestScript, args []string) {
	ts.Check(ts.Chdir(ts.Getenv("WORK")))
	ts.Check(ts.Exec("git", "clone", "-q", "remote.git", args[0]))
	ts.Check(ts.Chdir(ts.MkAbs(args[0])))
	ts.Check(ts.Exec("small-hook", "install"))
}

// fixLine finds the fix lines of a report, including those printed by a server.
var (
	fixLine = regexp.MustCompile(`(?m)^(?:remote: )? *fix: (.*(?:\n(?:remote: )? {5,7}.*)*)`)
	command = regexp.MustCompile("`([^`]+)`")
)

// agent COMMAND... types a command. While it fails, it takes the first fix that it has not tried, types all that stands there in
// backticks, whatever that says, and types the command again. A commit that has nothing to commit any more was made by a fix.
func agent(ts *testscript.TestScript, args []string) {
	tried := map[string]bool{}
	for range 10 {
		ts.Value(keptKey{}).(*kept).note(ts)
		code := typeIn(ts, args...)
		said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if code == 0 || args[0] == "git" && args[1] == "commit" && strings.Contains(said, "nothing to commit") {
			return
		}
		if !follow(ts, said, tried) {
			ts.Fatalf("no fix is left to type")
		}
	}
	ts.Fatalf("the fixes lead nowhere")
}

// typeIn runs a command as an agent does: without an editor.
func typeIn(ts *testscript.TestScript, args ...string) int {
	return exitStatus(ts, append([]string{"env", "-u", "GIT_EDITOR", "EDITOR=false", "VISUAL=false"}, args...))
}

// follow types the first fix in what a command has said that was not tried, and what the fix of that says, if it fails.
func follow(ts *testscript.TestScript, said string, tried map[string]bool) bool {
	fixes := fixLine.FindAllStringSubmatch(said, -1)
	if _, remedy, cannot := strings.Cut(said, "small-hook: "); cannot {
		fixes = append(fixes, []string{"", remedy})
	}
	for _, fix := range fixes {
		pieces := command.FindAllStringSubmatch(fix[1], -1)
		if tried[fix[1]] || len(pieces) == 0 {
			continue
		}
		tried[fix[1]] = true
		for _, piece := range pieces {
			ts.Value(keptKey{}).(*kept).note(ts)
			ts.Logf("the agent types: %s", piece[1])
			if typeIn(ts, "sh", "-c", piece[1]) != 0 {
				follow(ts, ts.ReadFile("stdout")+ts.ReadFile("stderr"), tried)
			}
		}
		return true
	}
	return false
}

// finished demands that nothing is under way, all is pushed, check and audit pass, nothing was lost, and no entry is there twice. Commits
// have the authors that they had, and merges are merges.
func finished(ts *testscript.TestScript, _ []string) {
	if left := output(ts, "status", "--porcelain"); left != "" {
		ts.Fatalf("this is not committed:\n%s", left)
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Stat(ts.MkAbs(filepath.Join(".git", name))); err == nil {
			ts.Fatalf("%s is still there", name)
		}
	}
	ts.Check(ts.Exec("git", "fetch", "-q"))
	if ahead := output(ts, "rev-list", "--left-right", "@{upstream}...HEAD"); ahead != "" {
		ts.Fatalf("the branch and its upstream differ:\n%s", ahead)
	}
	for _, args := range [][]string{{"check", "--recursive"}, {"audit"}} {
		if code := exitStatus(ts, append([]string{"small-hook"}, args...)); code != 0 {
			ts.Fatalf("small-hook %v: exit status %d", args, code)
		}
	}
	now := newKept()
	now.note(ts)
	if lost := ts.Value(keptKey{}).(*kept).lost(now); len(lost) > 0 {
		ts.Fatalf("lost:\n%s", strings.Join(lost, "\n"))
	}
	for line := range strings.Lines(output(ts, "ls-files")) {
		name, there := strings.TrimSpace(line), map[string]bool{}
		if path.Base(name) != "progress.small.yml" {
			continue
		}
		for _, m := range evidenceLine.FindAllStringSubmatch(output(ts, "show", "HEAD:"+name), -1) {
			if there[m[1]] {
				ts.Fatalf("twice in %s: %s", name, m[1])
			}
			there[m[1]] = true
		}
	}
}

// output is what git writes to standard output. It must not fail, and is not in the log of the script.
func output(ts *testscript.TestScript, args ...string) string {
	git := exec.Command("git", args...)
	git.Dir = ts.MkAbs(".")
	git.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "GIT_CONFIG_GLOBAL=" + ts.Getenv("GIT_CONFIG_GLOBAL"), "GIT_CONFIG_SYSTEM=" + os.DevNull}
	out, err := git.Output()
	ts.Check(err)
	return string(out)
}
