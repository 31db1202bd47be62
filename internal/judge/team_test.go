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

// TestTeam plays random teams, with CI on a private server whose checkouts keep no credentials: work on branches and in a fork, pull requests,
// a merge queue with either grouping, merges past the check, direct and forced pushes, cancelled or skipped runs, changed configurations. No
// green run of a queue lands a rewrite. In the end the run of an honest push names every rewrite in the default branch's history that nobody
// has accepted, and reports none for a team that rewrote nothing.
func TestTeam(t *testing.T) {
	gittest.Long(t)
	for seed := range uint64(gittest.Rounds(1, 12)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newTeam(t, seed).play(gittest.Cases(14, 30))
		})
	}
}

// team is a random team. It knows the truth about its logs from the digests of entries alone.
type team struct {
	*testing.T
	*rand.Rand
	server   *gittest.Repo
	token    judge.Token
	commits  map[string]*teamCommit
	branches map[string]string
	// fork is the tip of a stranger's own main; empty before the fork.
	fork     string
	serial   int
	accepted map[string]bool
	steps    []string
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

func (w *team) one(in int) bool { return w.IntN(in) == 0 }

func (w *team) note(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

// entry is a new entry, later than all others.
func (w *team) entry(task string) string {
	w.serial++
	return fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-02T%02d:%02d:00.000000001Z\"\n    status: \"in_progress\"\n    evidence: \"work %d\"\n", task, w.serial/60, w.serial%60, w.serial)
}

// commit makes a commit on the server.
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
		w.workspace(&s)
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

// workspace adds the files of a valid workspace.
func (w *team) workspace(s *strings.Builder) {
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

// ancestors are a commit and all before it.
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

// rewritten lists the entries of a log that a later one has lost, and those that it has only in another order.
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

// edges calls do for each edge of a history.
func (w *team) edges(tip string, do func(child string, lost, moved []string)) {
	for id := range w.ancestors(tip) {
		for _, parent := range w.commits[id].parents {
			lost, moved := rewritten(w.commits[parent].digests, w.commits[id].digests)
			do(id, lost, moved)
		}
	}
}

// honest reports whether no edge of a history rewrites anything.
func (w *team) honest(tip string) bool {
	honest := true
	w.edges(tip, func(_ string, lost, moved []string) { honest = honest && len(lost)+len(moved) == 0 })
	return honest
}

// work is a log with one more entry or, sometimes, a rewritten one.
func (w *team) work(log []string) []string {
	out := slices.Clone(log)
	if !w.one(4) || len(out) < 3 {
		return append(out, w.entry("task-1"))
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

// merged is an honest merge of two logs and their configurations.
func (w *team) merged(ours, theirs string) (log []string, config string) {
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
	return append(log, w.entry("meta/reconcile-merge")), config
}

func firstParent(c *teamCommit) string {
	if len(c.parents) == 0 {
		return ""
	}
	return c.parents[0]
}

// job runs CI for an event, in a fresh checkout without credentials.
func (w *team) job(event, sha, payload string) *finding.Report {
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

// push moves a branch, and has the push judged unless its run is skipped.
func (w *team) push(branch, to string, judged bool) *finding.Report {
	w.Helper()
	before := w.branches[branch]
	w.branches[branch] = to
	w.server.Git("update-ref", "refs/heads/"+branch, to)
	w.note("push %s to %.7s, judged: %v", branch, to, judged)
	if !judged {
		return nil
	}
	if before == "" {
		before = strings.Repeat("0", 40)
	}
	return w.job("push", to, fmt.Sprintf(`{"ref": "refs/heads/%s", "before": %q, "after": %q}`, branch, before, to))
}

// named are the entries that a report's errors name.
func named(r *finding.Report) map[string]bool {
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

// forced moves a branch back and on again. The report names what the old tip had and the new one lacks.
func (w *team) forced(branch string) {
	old := w.branches[branch]
	to := firstParent(w.commits[old])
	if to == "" {
		return
	}
	c := w.commits[to]
	tip := w.commit(append(slices.Clone(c.log), w.entry("task-1")), c.config, to)
	clean := branch == "main" || w.honest(old) // a rewrite on a branch may be taken back
	lost, _ := rewritten(w.commits[old].digests, w.commits[tip].digests)
	w.note("forced: %s from %.7s", branch, old)
	names := named(w.push(branch, tip, true))
	for _, d := range lost {
		if clean && !names[d] {
			w.Errorf("a forced push of %s drops %s, and nobody says so\n%s", branch, d, strings.Join(w.steps, "\n"))
		}
	}
}

// queue has a merge queue judge a group of pull requests, each put on top of the one before. It lands what is green: each entry up to the
// first red one or, if the queue asks for the last one alone, all of them. A green run leaves no rewrite in what lands.
func (w *team) queue(heads ...string) {
	main, each := w.branches["main"], w.one(2)
	before, landed := main, main
	for i, head := range heads {
		if head == "" || w.ancestors(before)[head] {
			continue
		}
		log, config := w.merged(before, head)
		entry := w.commit(log, config, before, head)
		ref := fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-%d-%s", i, before)
		w.server.Git("update-ref", ref, entry)
		report := w.job("merge_group", entry, fmt.Sprintf(
			`{"action": "checks_requested", "merge_group": {"head_sha": %q, "base_sha": %q, "base_ref": "refs/heads/main"}}`, entry, before))
		w.server.Git("update-ref", "-d", ref)
		w.note("queue, each has to be green: %v: %.7s on %.7s, status %d", each, head, before, report.ExitStatus())
		before = entry
		if report.ExitStatus() == 0 {
			w.lands(main, entry, report)
			landed = entry
		} else if each {
			break
		}
	}
	if landed != main && (each || landed == before) {
		w.push("main", landed, !w.one(3))
	}
}

// lands checks that the green run of a queue that lands to on main names each entry that a commit with one parent rewrites there.
func (w *team) lands(main, to string, r *finding.Report) {
	w.Helper()
	here, names := w.ancestors(main), named(r)
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

// stranger works on the main branch of a fork, and proposes it.
func (w *team) stranger() {
	tip := w.fork
	if tip == "" || w.ancestors(w.branches["main"])[tip] {
		tip = w.branches["main"]
	}
	c := w.commits[tip]
	w.fork = w.commit(w.work(c.log), c.config, tip)
	w.propose("main", w.fork)
}

// propose has a pull request of a branch judged, and merges it if it passes, or sometimes anyway.
func (w *team) propose(branch, head string) {
	main := w.branches["main"]
	if head == "" || w.ancestors(main)[head] {
		return
	}
	log, config := w.merged(main, head)
	merge := w.commit(log, config, main, head)
	w.server.Git("update-ref", "refs/pull/7/head", head)
	w.server.Git("update-ref", "refs/pull/7/merge", merge)
	w.note("pull request of %s, %.7s into %.7s", branch, head, main)
	report := w.job("pull_request", merge, fmt.Sprintf(`{"pull_request": {"number": 7, "head": {"ref": %q, "sha": %q}, "base": {"ref": "main", "sha": %q}}}`, branch, head, main))
	if report.ExitStatus() != 0 && !w.one(3) {
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
		w.queue(head, w.branches["one"], w.branches["two"], w.fork)
		return
	}
	w.push("main", to, !w.one(3))
}

// accept has a person accept the past with a baseline, in a push whose run notes it.
func (w *team) accept() {
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
	w.edges(main, func(_ string, lost, moved []string) {
		for _, d := range slices.Concat(lost, moved) {
			w.accepted[d] = true
		}
	})
}

func (w *team) play(steps int) {
	w.push("main", w.commit([]string{w.entry("meta/init"), w.entry("task-1"), w.entry("task-1")}, ""), true)
	for range steps {
		branch := []string{"one", "two"}[w.IntN(2)]
		main := w.branches["main"]
		tip := w.branches[branch]
		switch n := w.IntN(23); {
		case n >= 20:
			heads := []string{w.branches["one"], w.branches["two"], w.fork}
			w.Shuffle(len(heads), func(i, k int) { heads[i], heads[k] = heads[k], heads[i] })
			w.queue(heads...)
		case tip == "" || n < 3 || w.ancestors(main)[tip]:
			tip = main
			fallthrough
		case n < 9:
			c := w.commits[tip]
			config := c.config
			if w.one(8) {
				config = teamObserves // a pull request that turns the gate off
			}
			w.push(branch, w.commit(w.work(c.log), config, tip), !w.one(3))
		case n < 10:
			log, config := w.merged(main, tip)
			w.push(branch, w.commit(log, config, tip, main), w.one(2))
		case n < 14:
			w.propose(branch, tip)
		case n < 15:
			w.stranger()
		case n < 16:
			c := w.commits[main]
			w.push("main", w.commit(w.work(c.log), c.config, main), w.one(2))
		case n < 17:
			w.forced("main")
		case n < 18:
			w.forced(branch)
		case n < 19:
			w.accept()
		default:
			c := w.commits[main]
			config := teamObserves
			if c.config != "" {
				config = ""
			}
			w.push("main", w.commit(c.log, config, main), w.one(2))
		}
	}
	c := w.commits[w.branches["main"]]
	w.check(w.push("main", w.commit(append(slices.Clone(c.log), w.entry("task-1")), c.config, w.branches["main"]), true))
}

// check compares the last run with the truth.
func (w *team) check(r *finding.Report) {
	w.Helper()
	names, main := named(r), w.branches["main"]
	is := func(d string) bool { return names[d] || w.accepted[d] }
	w.edges(main, func(child string, lost, moved []string) {
		for _, d := range lost {
			if !is(d) {
				w.Errorf("%.7s rewrites %s, and nobody says so", child, d)
			}
		}
		if len(moved) > 0 && !slices.ContainsFunc(w.commits[child].digests, is) {
			w.Errorf("%.7s reorders %s, and nobody says so", child, moved)
		}
	})
	if w.honest(main) {
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
