package entrypoint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/entrypoint/writers"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gittest"
	"github.com/small-gate/small-gate/internal/repository"
)

const log = ".small/progress.small.yml"

// entries is a log with n entries.
func entries(n int) string {
	var s strings.Builder
	s.WriteString("small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n")
	for i := range n {
		fmt.Fprintf(&s, "  - task_id: \"meta/t%d\"\n    timestamp: \"2026-01-01T00:%02d:00.5Z\"\n    evidence: \"done\"\n", i, i)
	}
	return s.String()
}

// workspace makes a repository whose workspace is sound, with two commits.
func workspace(t *testing.T, opts ...gittest.Option) *gittest.Repo {
	t.Helper()
	r := gittest.New(t, opts...)
	if err := os.CopyFS(r.Path(".small"), os.DirFS(filepath.Join("..", "..", "cmd", "small-hook", "testdata", "workspace", ".small"))); err != nil {
		t.Fatal(err)
	}
	r.CommitFile(log, entries(1))
	r.CommitFile(log, entries(2))
	return r
}

func request(r *gittest.Repo, reader string) session.Request {
	return session.Request{Dir: r.Dir, Environ: r.Environ(), Reader: reader, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
}

// noGit leaves the test without a git program from here on.
func noGit(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
}

func wantReport(t *testing.T, what string, r *finding.Report, verdict finding.Verdict, reader string, words ...string) {
	t.Helper()
	if r.Verdict != verdict || r.Examined.Reader != reader {
		t.Errorf("%s: %s by %q, want %s by %q: %v", what, r.Verdict, r.Examined.Reader, verdict, reader, r.Failure)
	}
	for _, word := range words {
		if r.Failure == nil || !strings.Contains(r.Failure.Error(), word) {
			t.Errorf("%s: the failure does not say %q: %v", what, word, r.Failure)
		}
	}
}

// everyMode judges a repository in all the ways that read one.
func everyMode(t *testing.T, r *gittest.Repo, reader string) map[string]*finding.Report {
	t.Helper()
	req := request(r, reader)
	id := tip(t, r)
	zero := strings.Repeat("0", len(id))
	return map[string]*finding.Report{
		"audit":            entrypoint.Audit(t.Context(), req, ""),
		"range":            entrypoint.Range(t.Context(), req, "HEAD~1..HEAD"),
		"merge-check":      entrypoint.MergeCheck(t.Context(), req, "HEAD~1", "HEAD"),
		"check --staged":   entrypoint.Check(t.Context(), req, session.What{Staged: true}),
		"check --ref":      entrypoint.Check(t.Context(), req, session.What{Ref: "main"}),
		"pre-commit":       entrypoint.PreCommit(t.Context(), req),
		"pre-merge-commit": entrypoint.PreMergeCommit(t.Context(), req),
		"pre-push":         push(t, r, reader),
		"pre-receive":      entrypoint.PreReceive(t.Context(), req, strings.NewReader(zero+" "+id+" refs/heads/main\n")),
	}
}

// tip is the commit of main, found without git.
func tip(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	head, err := os.ReadFile(r.Path(".git/refs/heads/main"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(head))
}

// push judges a push of main to where nothing is yet.
func push(t *testing.T, r *gittest.Repo, reader string) *finding.Report {
	t.Helper()
	id := tip(t, r)
	return entrypoint.PrePush(t.Context(), request(r, reader), []string{"other", "url"},
		strings.NewReader("refs/heads/main "+id+" refs/heads/main "+strings.Repeat("0", len(id))+"\n"))
}

func TestEveryReaderInEveryMode(t *testing.T) {
	r := workspace(t)
	r.Write(log, entries(3))
	r.Git("add", "-A")
	for reader, name := range map[string]string{"": "go-git", repository.Auto: "go-git", repository.Embedded: "go-git", repository.Git: "git"} {
		for what, report := range everyMode(t, r, reader) {
			wantReport(t, reader+" "+what, report, finding.Pass, name)
		}
	}
	wantReport(t, "an unknown reader", entrypoint.Audit(t.Context(), request(r, "svn"), ""), finding.Error, "", `"svn"`, "--reader auto, go-git or git")
}

// Without a git program the embedded reader does it all.
func TestWithoutGit(t *testing.T) {
	r := workspace(t)
	r.Write(log, entries(3))
	r.Git("add", "-A")
	bad := workspace(t)
	bad.CommitFile(log, entries(1))
	bad.Write(log, "entries: []\n")
	bad.Git("add", "-A")
	noGit(t)
	for what, report := range everyMode(t, r, "") {
		wantReport(t, what, report, finding.Pass, "go-git")
	}
	for what, report := range everyMode(t, bad, "") {
		if what == "check --ref" || what == "merge-check" || what == "pre-receive" {
			continue // which do not look at what is wrong here
		}
		wantReport(t, what, report, finding.Fail, "go-git")
	}
	wantReport(t, "git by name", entrypoint.Audit(t.Context(), request(r, repository.Git), ""), finding.Error, "", "git was not found", "install git")
	if _, err := writers.Baseline(t.Context(), request(r, ""), "", "accepted"); err != nil {
		t.Error("a baseline: ", err)
	}
	scope, err := entrypoint.Survey(t.Context(), request(r, ""))
	if err != nil || !strings.HasPrefix(scope.Reader, "go-git") || scope.Why == "" {
		t.Errorf("Survey = %+v, %v", scope, err)
	}
}

// What the embedded reader refuses when it opens a repository, git reads.
func TestGitStandsIn(t *testing.T) {
	r := workspace(t, gittest.SHA256())
	for what, report := range everyMode(t, r, "") {
		wantReport(t, what, report, finding.Pass, "git")
	}
	scope, err := entrypoint.Survey(t.Context(), request(r, ""))
	if err != nil || !strings.HasPrefix(scope.Reader, "git ") || !strings.Contains(scope.Why, "extensions.objectformat") {
		t.Errorf("Survey = %+v, %v", scope, err)
	}
	for what, report := range everyMode(t, r, repository.Embedded) {
		wantReport(t, what, report, finding.Error, "", "sha256", "--reader git")
	}
	noGit(t)
	for what, report := range everyMode(t, r, "") {
		wantReport(t, what, report, finding.Error, "", "sha256", "git was not found", "install git")
	}
}

// What it finds out only while it judges, git judges anew: the lines of a push
// are read once and judged twice.
func TestGitJudgesAnew(t *testing.T) {
	split := workspace(t)
	split.Git("update-index", "--split-index")
	included := workspace(t)
	included.Git("config", "include.path", "more")
	wantReport(t, "split", entrypoint.PreCommit(t.Context(), request(split, "")), finding.Pass, "git")
	pushed := push(t, included, "")
	wantReport(t, "push", pushed, finding.Pass, "git")
	if pushed.Examined.Commits != 2 {
		t.Errorf("the push had %d commits", pushed.Examined.Commits)
	}
	wantReport(t, "push, by name", push(t, included, repository.Embedded), finding.Error, "go-git", "init.defaultBranch", "--reader git")
	noGit(t)
	wantReport(t, "split, no git", entrypoint.PreCommit(t.Context(), request(split, "")), finding.Error, "go-git", "the index is split", "git was not found")
	wantReport(t, "push, no git", push(t, included, ""), finding.Error, "go-git", "init.defaultBranch", "git was not found")
}

// Only the remedy of a finding depends on the remote's default branch: then git takes over to find it.
func TestStandingsByGit(t *testing.T) {
	r := workspace(t).Clone()
	r.Git("remote", "set-head", "origin", "--delete")
	r.Git("config", "include.path", "more")
	wantReport(t, "nothing found", entrypoint.Range(t.Context(), request(r, ""), "HEAD~1..HEAD"), finding.Pass, "go-git")
	r.CommitFile(log, entries(1))
	wantReport(t, "found", entrypoint.Range(t.Context(), request(r, ""), "HEAD~1..HEAD"), finding.Fail, "git")
	wantReport(t, "by name", entrypoint.Range(t.Context(), request(r, repository.Embedded), "HEAD~1..HEAD"), finding.Error, "go-git", "init.defaultBranch", "--reader git")
}

// An ordinary clone, whose branch has an upstream, is served but for the commit
// that touches a workspace.
func TestClone(t *testing.T) {
	r := workspace(t).Clone()
	wantReport(t, "nothing staged", entrypoint.PreCommit(t.Context(), request(r, "")), finding.Pass, "go-git")
	r.Write(log, entries(3))
	r.Git("add", "-A")
	for what, report := range everyMode(t, r, "") {
		name := "go-git"
		if what == "pre-commit" {
			name = "git"
		}
		wantReport(t, what, report, finding.Pass, name)
	}
	wantReport(t, "by name", entrypoint.PreCommit(t.Context(), request(r, repository.Embedded)), finding.Error, "go-git", "the branch main has an upstream", "--reader git")
}

// A long history is git's, where there is a git.
func TestLargeRepositories(t *testing.T) {
	r := workspace(t)
	index := r.Path(".git/objects/pack/pack-large.idx")
	r.Write(".git/objects/pack/pack-large.idx", "")
	walks := func(what string) bool { return !strings.HasPrefix(what, "check") && !strings.HasSuffix(what, "commit") }
	want := func(objects int64, byGit func(what string) bool) {
		t.Helper()
		if err := os.Truncate(index, objects*28); err != nil {
			t.Fatal(err)
		}
		for what, report := range everyMode(t, r, "") {
			name := "go-git"
			if byGit(what) {
				name = "git"
			}
			wantReport(t, what, report, finding.Pass, name)
		}
	}
	want(90_000, func(string) bool { return false })
	want(1_000_000, walks)
	noGit(t)
	want(1_000_000, func(string) bool { return false })
}

// Outside a repository it is said so, whoever looks.
func TestNoRepository(t *testing.T) {
	r := workspace(t)
	req := request(r, "")
	req.Dir = t.TempDir()
	wantReport(t, "nowhere", entrypoint.Audit(t.Context(), req, ""), finding.Error, "", "is not in a git repository", "git init")
}

// What no reader can open is told once, with a way out.
func TestNowhereToRead(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "nowhere")
	r := entrypoint.Range(t.Context(), session.Request{Dir: dir, Environ: os.Environ(), Now: time.Now()}, "main..HEAD")
	if r.Failure == nil || strings.Count(r.Failure.Message, "cannot open") != 1 || r.Failure.Remedy == "" {
		t.Errorf("%+v", r.Failure)
	}
}
