package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

const logFile = ".small/progress.small.yml"

// clone is one of several clones of a repository in which git always stops if a log must be merged, as it does for sync.
type clone struct {
	*gittest.Repo
	*rand.Rand
	t   *testing.T
	now time.Time
	// skew is the error of the clock.
	skew time.Duration
}

// clonesOf makes a server with a log, and clones.
func clonesOf(t *testing.T, n int, random *rand.Rand) []*clone {
	t.Helper()
	server := gittest.New(t, gittest.Bare())
	first := &clone{Repo: gittest.New(t), Rand: random, t: t, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	first.Git("remote", "add", "origin", server.Dir)
	first.Git("config", "merge.stop.driver", "git merge-file -q %A %O %B; exit 1")
	if err := os.WriteFile(filepath.Join(first.Dir, ".git", "info", "attributes"), []byte(logFile+" merge=stop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first.CommitFile(logFile, strings.Replace(combine.Empty, " []", "", 1)+first.entry("start"))
	first.Git("push", "-q", "origin", "main")
	out := []*clone{first}
	for len(out) < n {
		c := *first
		c.Repo = first.Copy(t)
		out = append(out, &c)
	}
	return out
}

func (c *clone) log() string {
	data, err := os.ReadFile(c.Path(logFile))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(data)
}

// entry is the text of an entry with the time of the clone's clock.
func (c *clone) entry(what string) string {
	at := c.now.Add(c.skew).Format(combine.TimestampForm)
	return fmt.Sprintf("  - task_id: \"task-1\"\n    evidence: %q\n    timestamp: %q\n", what, at)
}

// entriesIn are the texts of a log's entries.
func entriesIn(log string) []string { return strings.Split(log, "  - task_id:")[1:] }

var timestamp = regexp.MustCompile(`timestamp: "(.*)"`)

// record appends an entry and commits it. It is not earlier than the last one.
func (c *clone) record(what string) {
	c.now = c.now.Add(time.Minute + time.Duration(c.IntN(1_000_000)))
	times := timestamp.FindAllStringSubmatch(c.log(), -1)
	last, err := time.Parse(combine.TimestampForm, times[len(times)-1][1])
	if err != nil {
		c.t.Fatal(err)
	}
	if !c.now.Add(c.skew).After(last) {
		c.now = last.Add(time.Duration(1+c.IntN(1_000_000)) - c.skew)
	}
	entry := c.entry(what)
	c.CommitFile(logFile, c.log()+entry)
}

// reconcile reconciles what git has under way and says whether there is anything to commit.
func (c *clone) reconcile() (bool, error) {
	repo, err := githistory.Open(context.Background(), c.Dir, githistory.Options{Environ: c.Environ()})
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := reconcile.Run(context.Background(), repo, reconcile.Options{Environ: c.Environ(), Now: c.now, Policy: policy.Default()})
	if err == nil && len(out.Conflicts) > 0 {
		c.t.Fatalf("still in conflict: %v", out.Conflicts)
	}
	if err != nil {
		return false, err
	}
	_, same := c.Try("diff", "--cached", "--quiet", "HEAD")
	return same != nil, nil
}

// do runs a git command that merges, and reconciles at each stop.
func (c *clone) do(args ...string) error {
	c.t.Helper()
	_, err := c.Try(args...)
	command, file := args[0], map[string]string{"rebase": "rebase-merge", "cherry-pick": "CHERRY_PICK_HEAD", "merge": "MERGE_HEAD"}[args[0]]
	if args[0] == "merge" && args[1] == "--squash" {
		command, file = "squash", "SQUASH_MSG"
	}
	for range 30 {
		if _, missing := os.Stat(filepath.Join(c.Dir, ".git", file)); missing != nil {
			return err
		}
		changed, refused := c.reconcile()
		switch {
		case refused != nil:
			return refused
		case command == "merge" || command == "squash" && changed:
			_, err = c.Try("commit", "-q", "--no-edit")
		case command == "squash":
			err = os.Remove(filepath.Join(c.Dir, ".git", file))
		case !changed && command == "cherry-pick":
			_, err = c.Try(command, "--skip")
		default:
			_, err = c.Try(command, "--continue")
		}
	}
	c.t.Fatalf("no end: %v %v\n%s", args, err, c.Git("status"))
	return nil
}

func (c *clone) must(args ...string) {
	c.t.Helper()
	if err := c.do(args...); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, c.Git("log", "--graph", "--oneline", "--all"))
	}
}

// onTop rebases the branch onto the remote's, or merges if a rebase is impossible.
func (c *clone) onTop(merge bool) {
	c.t.Helper()
	c.Git("fetch", "-q", "origin")
	if !merge && c.Git("rev-list", "--merges", "origin/main..HEAD") == "" {
		err := c.do("rebase", "-q", "--no-autosquash", "origin/main")
		if err == nil {
			return
		}
		if !errors.Is(err, reconcile.ErrNeedsMerge) {
			c.t.Fatalf("rebase: %v\n%s\n%s", err, c.Git("log", "--graph", "--oneline", "--all"), c.Git("diff"))
		}
		c.Git("rebase", "--abort")
	}
	c.must("merge", "-q", "--no-edit", "origin/main")
}

// If a merge is possible and a pick is not, the error says so.
func TestNeedsMerge(t *testing.T) {
	c := clonesOf(t, 1, rand.New(rand.NewPCG(1, 1)))[0]
	c.Branch("side", "")
	c.record("side")
	c.Switch("main")
	c.record("main")
	c.must("merge", "-q", "--no-edit", "side")
	c.Branch("merged", "")
	c.Switch("main")
	c.Git("reset", "-q", "--hard", "origin/main")
	c.record("other")
	err := c.do("cherry-pick", "-m", "1", "merged")
	if !errors.Is(err, reconcile.ErrNeedsMerge) {
		t.Fatalf("it ended with %v", err)
	}
	for command := range strings.SplitSeq(strings.Trim(failure.Of(err).Remedy, "`"), "`; `") {
		if args := strings.Fields(command); args[0] == "git" {
			_, err = c.Try(args[1:]...) // the merge stops
		} else if _, err = c.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(c.log(), "task-1"); err != nil || n != 4 {
		t.Errorf("the remedy ended with %v and %d entries:\n%s", err, n, c.log())
	}
}

// TestPublishedStays lets clones record, branch, push, pick, squash, merge and rebase in random order. In the end every entry is there
// once, and each that any branch of the server ever had is as it was there, to the byte.
func TestPublishedStays(t *testing.T) {
	gittest.Long(t)
	for seed := range uint64(gittest.Rounds(1, 100)) {
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) { t.Parallel(); aTeam(t, seed+1) })
	}
}

// team is a random history.
type team struct {
	*rand.Rand
	t      *testing.T
	clones []*clone
	// recorded are all that was recorded, pushed the text of every entry that the server has ever had.
	recorded []string
	pushed   map[string]bool
	branches int
}

func aTeam(t *testing.T, seed uint64) {
	r := &team{Rand: rand.New(rand.NewPCG(gittest.Seed(seed), 1)), t: t, pushed: map[string]bool{}}
	r.clones = clonesOf(t, 2+r.IntN(2), r.Rand)
	for i, c := range r.clones {
		c.skew = time.Duration(r.IntN(7)-3) * time.Minute * time.Duration(i)
	}
	for range 12 {
		c := r.clones[r.IntN(len(r.clones))]
		for _, other := range r.clones {
			other.now = other.now.Add(10 * time.Second)
		}
		switch r.IntN(5) {
		case 0:
			r.record(c)
		case 1:
			r.branch(c)
		case 2, 3:
			r.take(c)
		case 4:
			c.onTop(r.IntN(3) == 0)
			r.push(c, "main")
		}
	}
	r.end()
}

func (r *team) record(c *clone) {
	what := fmt.Sprintf("piece %d", len(r.recorded))
	c.record(what)
	r.recorded = append(r.recorded, what)
}

func (r *team) push(c *clone, branch string) {
	r.t.Helper()
	c.Git("push", "-q", "origin", branch)
	for _, e := range entriesIn(c.Git("show", branch+":"+logFile) + "\n") {
		r.pushed[e] = true
	}
}

// branch records on a branch, which is pushed or taken in at once: what nobody else has must not be on two branches.
func (r *team) branch(c *clone) {
	r.branches++
	name := fmt.Sprintf("f%d", r.branches)
	c.Git("switch", "-q", "-c", name)
	for range 1 + r.IntN(2) {
		r.record(c)
	}
	published := r.IntN(3) > 0
	if published && c.Git("rev-list", "origin/main..main") == "" {
		c.onTop(false)
	}
	if published {
		r.push(c, name)
	}
	c.Git("switch", "-q", "main")
	if r.IntN(2) == 0 {
		r.record(c)
	}
	if !published {
		r.takeIn(c, name)
		c.Git("branch", "-q", "-D", name)
	}
}

// take takes a branch of the server in.
func (r *team) take(c *clone) {
	c.Git("fetch", "-q", "origin")
	names := strings.Fields(c.Git("for-each-ref", "--format=%(refname:short)", "refs/remotes/origin/f*"))
	if len(names) > 0 {
		r.takeIn(c, names[r.IntN(len(names))])
	}
}

func (r *team) takeIn(c *clone, name string) {
	r.t.Helper()
	switch r.IntN(3) {
	case 0:
		c.must("merge", "-q", "--no-edit", name)
	case 1:
		if c.Git("rev-list", "HEAD.."+name) != "" {
			c.must("merge", "--squash", "-q", name)
		}
	default:
		if c.Git("rev-list", "HEAD.."+name) != "" && c.Git("rev-list", "--merges", "HEAD.."+name) == "" {
			c.must("cherry-pick", "HEAD.."+name)
		} else {
			c.must("merge", "-q", "--no-edit", name)
		}
	}
}

// end brings all of it together.
func (r *team) end() {
	t := r.t
	for range 2 {
		for _, c := range r.clones {
			c.onTop(r.IntN(2) == 0)
			r.push(c, "main")
		}
	}
	c := r.clones[0]
	c.Git("fetch", "-q", "origin")
	c.Git("reset", "-q", "--hard", "origin/main")
	for _, name := range strings.Fields(c.Git("for-each-ref", "--format=%(refname:short)", "refs/remotes/origin/f*")) {
		c.must("merge", "-q", "--no-edit", name)
	}
	log := c.log()
	for _, what := range r.recorded {
		if n := strings.Count(log, fmt.Sprintf("%q", what)); n != 1 {
			t.Errorf("%s is there %d times", what, n)
		}
	}
	for e := range r.pushed {
		if strings.Count(log, e) != 1 {
			t.Errorf("this was published and has changed: %s", e)
		}
	}
	repo, err := githistory.Open(context.Background(), c.Dir, githistory.Options{Environ: c.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	report := gate.Audit(context.Background(), repo, c.ID("HEAD"), run.Options{Mode: "audit", Policy: policy.Default(), Now: c.now.Add(time.Hour)})
	for _, f := range report.Findings {
		// The workspace has nothing but a log.
		if f.Severity == finding.SeverityError && !strings.HasPrefix(f.Rule, "validate/") && !strings.HasPrefix(f.Rule, "verify/") || f.Rule == "divergence/duplicate-entry" {
			t.Errorf("%s: %s", f.Rule, f.Message)
		}
	}
	if t.Failed() {
		t.Log("\n" + c.Git("log", "--graph", "--oneline", "--all") + "\n" + log)
	}
}
