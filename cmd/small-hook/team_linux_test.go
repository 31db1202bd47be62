package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// A failure of TestTeamDays names the seed: -seed N -days 1 lives that day again.
var (
	teamDays = flag.Int("days", 0, "how many days TestTeamDays lives")
	teamCalm = flag.Int("calm", 4, "in TestTeamDays one of so many commands is killed, and another one meets a full disk")
	teamSeed = flag.Uint64("seed", gittest.Seed(7), "the seed of the first day of TestTeamDays; each day has the next one")
)

// TestTeamDays plays random days of teams: people and agents who commit, amend, revert, pick, squash, rebase, stash, reset, merge, append
// and sync, while programs are killed and the disk fills. They read only what is printed, and type it. At the end of the day the remote has
// each acknowledged entry exactly once, nobody was stuck for more than two commands, and no stash is left.
func TestTeamDays(t *testing.T) {
	gittest.Long(t)
	days := *teamDays
	if days == 0 {
		days = gittest.Rounds(1, 12)
	}
	counted := map[string]int{}
	var one sync.Mutex
	t.Cleanup(func() { t.Log(counted) })
	for i := range days {
		seed := *teamSeed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			d := newTeamDay(t, seed)
			t.Cleanup(func() {
				one.Lock()
				defer one.Unlock()
				for what, n := range d.counted {
					counted[what] += n
				}
			})
			d.live()
		})
	}
}

// teamDay is one day of a team.
type teamDay struct {
	*testing.T
	seed   uint64
	random *rand.Rand
	server *gittest.Repo
	people []*person
	topics []*topic
	disk   *teamDisk
	faults *gitFaults
	// entries are keyed by their text, lines are lines of code.
	entries, lines map[string]*promise
	// numbered counts the names given, counted the things that happened.
	numbered int
	counted  map[string]int
	said     strings.Builder
}

// promise is a recorded entry or written line: in the end it must be on the remote, unless its author took it back. An entry that was not
// acknowledged, because the program was killed, may be there or not.
type promise struct {
	by                     *person
	acknowledged, tookBack bool
}

// topic is a topic branch.
type topic struct {
	name  string
	owner *person
	// landed is the tip that was merged or squashed into main.
	landed string
}

func newTeamDay(t *testing.T, seed uint64) *teamDay {
	d := &teamDay{
		T: t, seed: seed, random: rand.New(rand.NewPCG(seed, 26)), server: gittest.New(t, gittest.Bare()),
		entries: map[string]*promise{}, lines: map[string]*promise{}, counted: map[string]int{},
	}
	d.disk, d.faults = newTeamDisk(t), newGitFaults(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("What was typed. To live this day again: go test ./cmd/small-hook -run TestTeamDays -seed %d -days 1\n%s", seed, d.said.String())
		}
	})
	if d.chance(3) {
		d.must(d.server.Dir, "small-hook install --pre-receive", d.server.Environ())
	}
	first := gittest.New(t)
	if err := os.CopyFS(first.Dir, os.DirFS(filepath.Join("testdata", "workspace"))); err != nil {
		t.Fatal(err)
	}
	first.Write("shared.txt", "code\n")
	driver := d.chance(3)
	if driver {
		d.must(first.Dir, "small-hook install --merge-driver && git add .gitattributes", first.Environ())
	}
	first.Commit("start")
	first.Git("push", "-q", d.server.Dir, "main")
	for i := range 2 + d.random.IntN(3) {
		d.hire(string(rune('a'+i)), driver)
	}
	return d
}

// hire gives somebody a clone, a linked work tree of another's clone, or a share of another's work tree.
func (d *teamDay) hire(letter string, driver bool) {
	d.Helper()
	p := &person{name: "dev-" + letter, day: d, home: "main"}
	place := d.random.IntN(5)
	var with *person
	if len(d.people) > 0 {
		with = d.people[d.random.IntN(len(d.people))]
	}
	dir := filepath.Join(d.disk.dir, p.name)
	switch {
	case with != nil && place == 0:
		p.clone, p.home, dir = with.clone, with.home, with.Dir
	case with != nil && place == 1:
		p.clone, p.home = with.clone, "desk-"+letter
		with.Git("worktree", "add", "-q", "-b", p.home, dir, "origin/main")
		p.clone.trees++
	default:
		d.server.Git("clone", "-q", d.server.Dir, dir)
		p.clone = &clone{trees: 1}
	}
	p.Repo = d.server.In(dir)
	p.env = slices.DeleteFunc(p.Repo.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_EDITOR=") })
	p.env = append(p.env, "HOME="+d.disk.dir, "EDITOR=false", "VISUAL=false", "NO_COLOR=1")
	p.env = append(p.env, "TMPDIR="+gittest.TempDir(d.T))
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		p.env = append(p.env, "GIT_"+role+"_NAME="+p.name, "GIT_"+role+"_EMAIL="+p.name+"@example.com")
	}
	if p.clone.dir == "" {
		p.clone.dir = p.Path(".git")
		install := "small-hook install"
		if driver && d.chance(2) {
			install += " --merge-driver"
		}
		d.must(p.Dir, install, p.env)
		p.Git("update-index", "-q", "--refresh")
	}
	d.people = append(d.people, p)
	d.note("%s works in %s on %s; merge driver: %v", p.name, filepath.Base(dir), p.home, driver)
}

// live runs the day from the first command to the last check.
func (d *teamDay) live() {
	for range 10 + d.random.IntN(25) {
		p := d.people[d.random.IntN(len(d.people))]
		p.act()
	}
	for _, p := range d.people {
		p.finishWork()
	}
	for _, topic := range d.topics {
		topic.owner.land(topic)
	}
	for round := 0; ; round++ {
		before := d.server.ID("main")
		for _, p := range d.people {
			if round == 0 {
				p.disturbed("small-hook sync")
			}
			p.commitAll()
			p.solve("small-hook sync")
		}
		if round > 0 && d.server.ID("main") == before {
			break
		}
		if round == 5 {
			d.fail("five times everybody has typed small-hook sync, and there is still something to push")
		}
	}
	d.judge()
}

// judge checks the day's result.
func (d *teamDay) judge() {
	log := d.server.Git("show", "main:"+progressFile)
	for text, promise := range d.entries {
		n := strings.Count(log, text)
		if n > 1 || n == 0 && promise.acknowledged && !promise.tookBack {
			d.Errorf("the remote has the entry %q of %s %d times (acknowledged: %v, taken back: %v)", text, promise.by.name, n, promise.acknowledged, promise.tookBack)
		}
	}
	code := d.server.Git("grep", "-h", "", "main", "--", "*.txt")
	for text, promise := range d.lines {
		if !promise.tookBack && !strings.Contains(code, text) {
			d.Errorf("the code %q of %s is lost", text, promise.by.name)
		}
	}
	fresh := d.server.Clone()
	if out, status := d.command(fresh.Dir, "small-hook audit", fresh.Environ()); status != 0 {
		d.Errorf("the audit of the remote ends with %d:\n%s", status, out)
	}
	for line := range strings.Lines(d.server.Git("log", "--format=%an%x09%s", "main")) {
		author, subject, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if m := ownSubject.FindStringSubmatch(subject); m != nil && m[1] != author {
			d.Errorf("%q is now a commit of %s", subject, author)
		}
	}
	for _, p := range d.people {
		p.tidy()
		if stash := p.Git("stash", "list"); stash != "" {
			d.Errorf("%s has a stash: %s", p.name, stash)
		}
		if left := p.Git("status", "--porcelain"); left != "" {
			d.Errorf("%s is left with:\n%s", p.name, left)
		}
		if p.ID("HEAD") != d.server.ID("main") {
			d.Errorf("%s is not where the remote is", p.name)
		}
	}
}

// ownSubject matches the subject of a commit whose author is certain.
var ownSubject = regexp.MustCompile(`^\[(dev-[a-z])\] `)

// chance is true once in n times.
func (d *teamDay) chance(n int) bool { return d.random.IntN(n) == 0 }

// number makes a name that nothing else has.
func (d *teamDay) number(kind string) string {
	d.numbered++
	return fmt.Sprintf("%s-%d", kind, d.numbered)
}

// fail ends the day.
func (d *teamDay) fail(format string, args ...any) {
	d.Helper()
	d.Fatalf(format, args...)
}

// note writes down what somebody did.
func (d *teamDay) note(format string, args ...any) {
	fmt.Fprintf(&d.said, format+"\n", args...)
}

// must runs a command that is not part of a day.
func (d *teamDay) must(dir, line string, environ []string) {
	d.Helper()
	if out, status := d.command(dir, line, environ); status != 0 {
		d.fail("%s ends with %d: %s", line, status, out)
	}
}

// command runs a shell line in a process group of its own so that a fault can kill all of it.
func (d *teamDay) command(dir, line string, environ []string) (out string, status int) {
	d.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, environ, ownGroup()
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		d.fail("%s: %v", line, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}
