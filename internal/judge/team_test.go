//go:build !windows

package judge_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestTeam simulates random teams whose CI runs on a private server, in checkouts that keep no credentials. The teams work on branches and in a fork, open
// pull requests, use a merge queue with either grouping, merge what the check has rejected, push directly and by force, cancel or skip runs, and
// change the configuration. No green run of a queue lands a rewrite. At the end, the run of a push without a rewrite names every rewrite in the
// default branch's history that nobody has accepted; if nobody has rewritten anything, it names none.
func TestTeam(t *testing.T) {
	gittest.Long(t)
	for seed := range uint64(gittest.Rounds(1, 12)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newTeam(t, seed).play(gittest.Cases(14, 30))
		})
	}
}

// team is a random team. From the digests of entries alone, it knows what was rewritten.
type team struct {
	*testing.T
	*rand.Rand
	server   *gittest.Repo
	token    judge.Token
	commits  map[string]*teamCommit
	branches map[string]string
	// fork is the tip of the branch main in a stranger's fork; empty before there is a fork.
	fork string
	// serial numbers entries and commits.
	serial int
	// accepted are the digests of the rewritten entries that a baseline accepts.
	accepted map[string]bool
	// steps are the notes on what the team did, for the messages of a failing test.
	steps []string
}

type teamCommit struct {
	parents []string
	log     []string // the texts of entries
	config  string
	digests []string
}

const teamObserves = "version: 1\nmode: observe\n"

func newTeam(t *testing.T, seed uint64) *team {
	t.Helper()
	dir := gittest.TempDir(t)
	w := &team{T: t, Rand: rand.New(rand.NewPCG(gittest.Seed(seed), 27)), commits: map[string]*teamCommit{}, branches: map[string]string{}, accepted: map[string]bool{}}
	w.server = gittest.New(t, gittest.At(filepath.Join(dir, "team", "log.git")), gittest.Bare())
	git := &cgi.Handler{
		Path: filepath.Join(w.server.Git("--exec-path"), "git-http-backend"),
		Env:  append(w.server.Environ(), "GIT_PROJECT_ROOT="+dir, "GIT_HTTP_EXPORT_ALL=1"),
	}
	w.token.Value = "s3cret"
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if _, shown, _ := in.BasicAuth(); shown != w.token.Value {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		git.ServeHTTP(out, in)
	}))
	t.Cleanup(server.Close)
	w.token.Server = server.URL
	return w
}

// oneIn returns true once in n calls, at random.
func (w *team) oneIn(n int) bool { return w.IntN(n) == 0 }

func (w *team) note(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

// newEntry makes an entry that is later than all others.
func (w *team) newEntry(task string) string {
	w.serial++
	return fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-02T%02d:%02d:00.000000001Z\"\n    status: \"in_progress\"\n    evidence: \"work %d\"\n", task, w.serial/60, w.serial%60, w.serial)
}

// commit makes a commit on the server and returns its id.
func (w *team) commit(entries []string, config string, parents ...string) string {
	w.Helper()
	w.serial++
	text := "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" + strings.Join(entries, "")
	var s strings.Builder
	fmt.Fprintf(&s, "commit refs/made/%d\nmark :1\ncommitter A <a@example.com> %d +0000\ndata 2\nx\n", w.serial, 1772400000+w.serial)
	for i, parent := range parents {
		fmt.Fprintf(&s, "%s %s\n", []string{"from", "merge"}[i], parent)
	}
	if len(parents) == 0 {
		w.writeWorkspace(&s)
	}
	fmt.Fprintf(&s, "M 644 inline %s\ndata %d\n%s\nM 644 inline code\ndata <<E\n%d\nE\n", log, len(text), text, w.serial)
	if config != "" {
		fmt.Fprintf(&s, "M 644 inline .small-gate.yml\ndata %d\n%s\n", len(config), config)
	} else if len(parents) > 0 && w.commits[parents[0]].config != "" {
		s.WriteString("D .small-gate.yml\n")
	}
	s.WriteString("get-mark :1\n")
	id := strings.TrimSpace(w.server.GitInput(s.String(), "fast-import", "--quiet", "--force"))
	w.server.Git("update-ref", "-d", fmt.Sprintf("refs/made/%d", w.serial))
	read, problems := ledger.ReadLog([]byte(text), small.Limits{})
	if read == nil {
		w.Fatalf("%v in\n%s", problems, text)
	}
	c := &teamCommit{parents: parents, log: entries, config: config}
	for _, d := range ledger.DigestsOf(read.Ledger) {
		c.digests = append(c.digests, d.String())
	}
	w.commits[id] = c
	return id
}

// writeWorkspace writes the files of a valid workspace into s, the input of git fast-import.
func (w *team) writeWorkspace(s *strings.Builder) {
	from := filepath.Join("..", "..", "cmd", "small-hook", "testdata", "workspace", ".small")
	files, err := os.ReadDir(from)
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			w.Fatal(err)
		}
		fmt.Fprintf(s, "M 644 inline .small/%s\ndata %d\n%s\n", f.Name(), len(text), text)
	}
}

// ancestors returns the ids of a commit and of all its ancestors.
func (w *team) ancestors(id string) map[string]bool {
	seen := map[string]bool{}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		if next[0] != "" && !seen[next[0]] {
			seen[next[0]] = true
			next = append(next, w.commits[next[0]].parents...)
		}
	}
	return seen
}

// rewritten compares the digests of a log with those of a later version. lost are missing in the later version; moved are in another order there.
func rewritten(before, after []string) (lost, moved []string) {
	last := -1
	for _, d := range before {
		switch at := slices.Index(after, d); {
		case at < 0:
			lost = append(lost, d)
		case at < last:
			moved = append(moved, d)
		default:
			last = at
		}
	}
	return lost, moved
}

// forEachEdge calls do for each commit in tip's history and each of the commit's parents, with what the commit has lost and moved.
func (w *team) forEachEdge(tip string, do func(child string, lost, moved []string)) {
	for id := range w.ancestors(tip) {
		for _, parent := range w.commits[id].parents {
			lost, moved := rewritten(w.commits[parent].digests, w.commits[id].digests)
			do(id, lost, moved)
		}
	}
}

// isHonest reports whether no commit in tip's history rewrites anything.
func (w *team) isHonest(tip string) bool {
	honest := true
	w.forEachEdge(tip, func(_ string, lost, moved []string) { honest = honest && len(lost)+len(moved) == 0 })
	return honest
}

// nextLog returns a log with one more entry or, sometimes, with a rewrite.
func (w *team) nextLog(log []string) []string {
	out := slices.Clone(log)
	if !w.oneIn(4) || len(out) < 3 {
		return append(out, w.newEntry("task-1"))
	}
	at := w.IntN(len(out) - 1)
	switch w.IntN(3) {
	case 0:
		w.serial++
		out[at] = strings.Replace(out[at], "work ", fmt.Sprintf("other %d work ", w.serial), 1)
	case 1:
		out = slices.Delete(out, at, at+1)
	default:
		out[at], out[at+1] = out[at+1], out[at]
	}
	return out
}

// mergeLogs merges the logs and the configurations of two commits without a rewrite.
func (w *team) mergeLogs(ours, theirs string) (log []string, config string) {
	base := ""
	theirPast := w.ancestors(theirs)
	for id := ours; id != ""; id = firstParent(w.commits[id]) { // the last commit that the first-parent lines share
		if theirPast[id] {
			base = id
			break
		}
	}
	o, t, b := w.commits[ours], w.commits[theirs], w.commits[base]
	config = o.config
	if o.config == b.config {
		config = t.config
	}
	switch {
	case slices.Equal(t.log, b.log):
		return o.log, config
	case slices.Equal(o.log, b.log):
		return t.log, config
	}
	for _, e := range slices.Concat(o.log, t.log) {
		if !slices.Contains(log, e) {
			log = append(log, e)
		}
	}
	time := func(e string) string { _, after, _ := strings.Cut(e, "timestamp:"); return after[:32] }
	slices.SortStableFunc(log, func(a, b string) int { return strings.Compare(time(a), time(b)) })
	return append(log, w.newEntry("meta/reconcile-merge")), config
}

func firstParent(c *teamCommit) string {
	if len(c.parents) == 0 {
		return ""
	}
	return c.parents[0]
}

// runJob runs CI for an event in a new checkout without credentials.
func (w *team) runJob(event, sha, payload string) *finding.Report {
	w.Helper()
	r := gittest.New(w.T)
	r.Git("fetch", "-q", w.server.Dir, "+refs/heads/*:refs/remotes/origin/*", "+refs/pull/*:refs/remotes/pull/*")
	r.Git("remote", "add", "origin", w.token.Server+"/team/log.git")
	plan, err := ci.Decide(map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_SHA": sha},
		[]byte(strings.TrimSuffix(payload, "}")+`, "repository": {"default_branch": "main", "full_name": "team/log"}}`), ci.Inputs{})
	if err != nil {
		w.Fatal(err)
	}
	report, _ := judge.CI(w.Context(), request(r, ""), plan, w.token)
	if report.Failure != nil {
		w.Errorf("%s: %v\n%s", event, report.Failure, strings.Join(w.steps, "\n"))
	}
	return report
}

// push moves a branch. If runsCI is true, CI judges the push.
func (w *team) push(branch, to string, runsCI bool) *finding.Report {
	w.Helper()
	before := w.branches[branch]
	w.branches[branch] = to
	w.server.Git("update-ref", "refs/heads/"+branch, to)
	w.note("push %s to %.7s, judged: %v", branch, to, runsCI)
	if !runsCI {
		return nil
	}
	if before == "" {
		before = strings.Repeat("0", 40)
	}
	return w.runJob("push", to, fmt.Sprintf(`{"ref": "refs/heads/%s", "before": %q, "after": %q}`, branch, before, to))
}

// entriesNamedBy returns the digests of the entries that a report's errors name.
func entriesNamedBy(r *finding.Report) map[string]bool {
	out := map[string]bool{}
	for _, f := range r.Findings {
		if f.Severity == finding.SeverityError {
			out[f.EditFrom] = true
			for _, e := range f.Edits {
				out[e.From] = true
			}
		}
	}
	return out
}

// forcePush replaces a branch's tip by another commit on the tip's parent. The report has to name the entries that the old tip has and the new tip lacks.
func (w *team) forcePush(branch string) {
	old := w.branches[branch]
	to := firstParent(w.commits[old])
	if to == "" {
		return
	}
	c := w.commits[to]
	tip := w.commit(append(slices.Clone(c.log), w.newEntry("task-1")), c.config, to)
	clean := branch == "main" || w.isHonest(old) // on another branch, a force-push may undo a rewrite
	lost, _ := rewritten(w.commits[old].digests, w.commits[tip].digests)
	w.note("forced: %s from %.7s", branch, old)
	names := entriesNamedBy(w.push(branch, tip, true))
	for _, d := range lost {
		if clean && !names[d] {
			w.Errorf("a forced push of %s drops %s, and nobody says so\n%s", branch, d, strings.Join(w.steps, "\n"))
		}
	}
}

// runQueue simulates a merge queue: it merges the heads of pull requests one after another, and CI judges each merge. Some queues require each run to be
// green: they land the merges before the first red run. Others require only the last run to be green: then they land all merges. No merge that lands
// after a green run brings a rewrite.
func (w *team) runQueue(heads ...string) {
	main, each := w.branches["main"], w.oneIn(2)
	before, landed := main, main
	for i, head := range heads {
		if head == "" || w.ancestors(before)[head] {
			continue
		}
		log, config := w.mergeLogs(before, head)
		entry := w.commit(log, config, before, head)
		ref := fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-%d-%s", i, before)
		w.server.Git("update-ref", ref, entry)
		report := w.runJob("merge_group", entry, fmt.Sprintf(
			`{"action": "checks_requested", "merge_group": {"head_sha": %q, "base_sha": %q, "base_ref": "refs/heads/main"}}`, entry, before))
		w.server.Git("update-ref", "-d", ref)
		w.note("queue, each has to be green: %v: %.7s on %.7s, status %d", each, head, before, report.ExitStatus())
		before = entry
		if report.ExitStatus() == 0 {
			w.checkLanding(main, entry, report)
			landed = entry
		} else if each {
			break
		}
	}
	if landed != main && (each || landed == before) {
		w.push("main", landed, !w.oneIn(3))
	}
}

// checkLanding checks r, the report of a green run after which a queue moves main to the commit to: r has to name each entry that a new commit with one
// parent rewrites.
func (w *team) checkLanding(main, to string, r *finding.Report) {
	w.Helper()
	here, names := w.ancestors(main), entriesNamedBy(r)
	for id := range w.ancestors(to) {
		c := w.commits[id]
		if here[id] || len(c.parents) != 1 {
			continue
		}
		lost, _ := rewritten(w.commits[c.parents[0]].digests, c.digests)
		for _, d := range lost {
			if !names[d] && !w.accepted[d] {
				w.Errorf("a green run of the queue lands %.7s, which rewrites %s\n%s", id, d, strings.Join(w.steps, "\n"))
			}
		}
	}
}

// proposeFromFork adds a commit to main in a stranger's fork, and opens a pull request for it.
func (w *team) proposeFromFork() {
	tip := w.fork
	if tip == "" || w.ancestors(w.branches["main"])[tip] {
		tip = w.branches["main"]
	}
	c := w.commits[tip]
	w.fork = w.commit(w.nextLog(c.log), c.config, tip)
	w.propose("main", w.fork)
}

// propose opens a pull request for a branch, which CI judges. The pull request is merged if it passes, and sometimes even if it does not.
func (w *team) propose(branch, head string) {
	main := w.branches["main"]
	if head == "" || w.ancestors(main)[head] {
		return
	}
	log, config := w.mergeLogs(main, head)
	merge := w.commit(log, config, main, head)
	w.server.Git("update-ref", "refs/pull/7/head", head)
	w.server.Git("update-ref", "refs/pull/7/merge", merge)
	w.note("pull request of %s, %.7s into %.7s", branch, head, main)
	report := w.runJob("pull_request", merge, fmt.Sprintf(`{"pull_request": {"number": 7, "head": {"ref": %q, "sha": %q}, "base": {"ref": "main", "sha": %q}}}`, branch, head, main))
	if report.ExitStatus() != 0 && !w.oneIn(3) {
		return
	}
	to := merge
	switch w.IntN(4) {
	case 0:
		to = w.commit(log, config, main) // a squash
	case 1:
		if w.ancestors(head)[main] {
			to = head
		}
	case 2:
		w.runQueue(head, w.branches["one"], w.branches["two"], w.fork)
		return
	}
	w.push("main", to, !w.oneIn(3))
}

// acceptPast pushes a baseline that accepts main's history. The report of the push has to note the baseline.
func (w *team) acceptPast() {
	main := w.branches["main"]
	c := w.commits[main]
	read, _ := ledger.ReadLog([]byte("small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n"+strings.Join(c.log, "")), small.Limits{})
	config := fmt.Sprintf("version: 1\nbaseline:\n  - {path: %s, entries: %d, head: %q, reason: \"as it stands\"}\n", log, len(c.log), read.Head())
	if config == c.config {
		return
	}
	w.note("accept the past")
	report := w.push("main", w.commit(c.log, config, main), true)
	if !slices.ContainsFunc(report.Examined.Notes, func(n string) bool { return strings.HasPrefix(n, "this push adds the baseline of "+log) }) {
		w.Errorf("a baseline is added, and nobody says so: %q\n%s", report.Examined.Notes, strings.Join(w.steps, "\n"))
	}
	w.forEachEdge(main, func(_ string, lost, moved []string) {
		for _, d := range slices.Concat(lost, moved) {
			w.accepted[d] = true
		}
	})
}

// play makes the team take random steps, and then checks the run of a last push without a rewrite.
func (w *team) play(steps int) {
	w.push("main", w.commit([]string{w.newEntry("meta/init"), w.newEntry("task-1"), w.newEntry("task-1")}, ""), true)
	for range steps {
		branch := []string{"one", "two"}[w.IntN(2)]
		main := w.branches["main"]
		tip := w.branches[branch]
		switch n := w.IntN(23); {
		case n >= 20:
			heads := []string{w.branches["one"], w.branches["two"], w.fork}
			w.Shuffle(len(heads), func(i, k int) { heads[i], heads[k] = heads[k], heads[i] })
			w.runQueue(heads...)
		case tip == "" || n < 3 || w.ancestors(main)[tip]:
			tip = main
			fallthrough
		case n < 9:
			c := w.commits[tip]
			config := c.config
			if w.oneIn(8) {
				config = teamObserves // a pull request that turns the gate off
			}
			w.push(branch, w.commit(w.nextLog(c.log), config, tip), !w.oneIn(3))
		case n < 10:
			log, config := w.mergeLogs(main, tip)
			w.push(branch, w.commit(log, config, tip, main), w.oneIn(2))
		case n < 14:
			w.propose(branch, tip)
		case n < 15:
			w.proposeFromFork()
		case n < 16:
			c := w.commits[main]
			w.push("main", w.commit(w.nextLog(c.log), c.config, main), w.oneIn(2))
		case n < 17:
			w.forcePush("main")
		case n < 18:
			w.forcePush(branch)
		case n < 19:
			w.acceptPast()
		default:
			c := w.commits[main]
			config := teamObserves
			if c.config != "" {
				config = ""
			}
			w.push("main", w.commit(c.log, config, main), w.oneIn(2))
		}
	}
	c := w.commits[w.branches["main"]]
	w.check(w.push("main", w.commit(append(slices.Clone(c.log), w.newEntry("task-1")), c.config, w.branches["main"]), true))
}

// check compares r, the report of the last run, with what was rewritten on main.
func (w *team) check(r *finding.Report) {
	w.Helper()
	names, main := entriesNamedBy(r), w.branches["main"]
	isKnown := func(d string) bool { return names[d] || w.accepted[d] }
	w.forEachEdge(main, func(child string, lost, moved []string) {
		for _, d := range lost {
			if !isKnown(d) {
				w.Errorf("%.7s rewrites %s, and nobody says so", child, d)
			}
		}
		if len(moved) > 0 && !slices.ContainsFunc(w.commits[child].digests, isKnown) {
			w.Errorf("%.7s reorders %s, and nobody says so", child, moved)
		}
	})
	if w.isHonest(main) {
		for _, f := range r.Findings {
			if slices.Contains([]string{"append-only/modified", "append-only/deleted", "append-only/reordered", "divergence/lost-entry"}, f.Rule) {
				w.Errorf("nobody has rewritten anything: %s: %s", f.Rule, f.Message)
			}
		}
	}
	if w.Failed() {
		w.Logf("%s\nfindings: %v", strings.Join(w.steps, "\n"), r.Findings)
	}
}
