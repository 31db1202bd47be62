package judge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

const log = ".small/progress.small.yml"

// entries returns a log with n entries.
func entries(n int) string {
	var s strings.Builder
	s.WriteString("small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n")
	for i := range n {
		fmt.Fprintf(&s, "  - task_id: \"meta/t%d\"\n    timestamp: \"2026-01-01T00:%02d:00.5Z\"\n    evidence: \"done\"\n", i, i)
	}
	return s.String()
}

// workspace makes a repository with a valid workspace and two commits.
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

// noGit removes the git program for the rest of the test.
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

// everyMode judges a repository with every command that judges a repository, and returns the reports by command.
func everyMode(t *testing.T, r *gittest.Repo, reader string) map[string]*finding.Report {
	t.Helper()
	req := request(r, reader)
	id := tip(t, r)
	zero := strings.Repeat("0", len(id))
	return map[string]*finding.Report{
		"audit":            judge.Audit(t.Context(), req, ""),
		"range":            judge.Range(t.Context(), req, "HEAD~1..HEAD"),
		"merge-check":      judge.MergeCheck(t.Context(), req, "HEAD~1", "HEAD"),
		"check --staged":   judge.Check(t.Context(), req, session.State{Staged: true}),
		"check --ref":      judge.Check(t.Context(), req, session.State{Ref: "main"}),
		"pre-commit":       judge.PreCommit(t.Context(), req),
		"pre-merge-commit": judge.PreMergeCommit(t.Context(), req),
		"pre-push":         push(t, r, reader),
		"pre-receive":      judge.PreReceive(t.Context(), req, strings.NewReader(zero+" "+id+" refs/heads/main\n")),
	}
}

// tip returns main's commit without the help of git.
func tip(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	head, err := os.ReadFile(r.Path(".git/refs/heads/main"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(head))
}

// push judges a push of main to an empty remote.
func push(t *testing.T, r *gittest.Repo, reader string) *finding.Report {
	t.Helper()
	id := tip(t, r)
	return judge.PrePush(t.Context(), request(r, reader), []string{"other", "url"},
		strings.NewReader("refs/heads/main "+id+" refs/heads/main "+strings.Repeat("0", len(id))+"\n"))
}

func TestEveryReaderInEveryMode(t *testing.T) {
	gittest.Long(t)
	r := workspace(t)
	r.Write(log, entries(3))
	r.Git("add", "-A")
	for _, reader := range []string{"", repository.Auto, repository.Embedded, repository.Git} {
		for what, report := range everyMode(t, r, reader) {
			name := reader
			if reader == "" || reader == repository.Auto {
				name = chosen(what)
			}
			wantReport(t, reader+" "+what, report, finding.Pass, name)
		}
	}
	wantReport(t, "an unknown reader", judge.Audit(t.Context(), request(r, "svn"), ""), finding.Error, "", `"svn"`, "--reader auto, go-git or git")
}

// chosen returns the reader that a command chooses in a small, plain repository on a machine with git: git for commands that walk far through history.
func chosen(what string) string {
	if strings.HasPrefix(what, "check") || strings.HasSuffix(what, "commit") || what == "pre-push" {
		return "go-git"
	}
	return "git"
}

// Without a git program, go-git reads for every command.
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
			continue // what is wrong here is not what these commands judge
		}
		wantReport(t, what, report, finding.Fail, "go-git")
	}
	wantReport(t, "git by name", judge.Audit(t.Context(), request(r, repository.Git), ""), finding.Error, "", "git was not found", "install git")
	if _, err := edit.Baseline(t.Context(), request(r, ""), "", "accepted"); err != nil {
		t.Error("a baseline: ", err)
	}
	scope, err := judge.Survey(t.Context(), request(r, ""))
	if err != nil || !strings.HasPrefix(scope.Reader, "go-git") || scope.ReaderReason == "" {
		t.Errorf("Survey = %+v, %v", scope, err)
	}
}

// If the reader on go-git refuses a repository when opening it, git reads it.
func TestGitStandsIn(t *testing.T) {
	gittest.Long(t)
	r := workspace(t, gittest.SHA256())
	for what, report := range everyMode(t, r, "") {
		wantReport(t, what, report, finding.Pass, "git")
	}
	scope, err := judge.Survey(t.Context(), request(r, ""))
	if err != nil || !strings.HasPrefix(scope.Reader, "git ") || !strings.Contains(scope.ReaderReason, "extensions.objectformat") {
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

// If the reader on go-git finds out only during a judgement that it cannot read the repository, the judgement is repeated with git.
func TestGitJudgesAnew(t *testing.T) {
	split := workspace(t)
	split.Git("update-index", "--split-index")
	wantReport(t, "split", judge.PreCommit(t.Context(), request(split, "")), finding.Pass, "git")
	noGit(t)
	wantReport(t, "split, no git", judge.PreCommit(t.Context(), request(split, "")), finding.Error, "go-git", "the index: unknown extension", "git was not found")
}

// A warning about a neighbour's work tree counts only the entries that the neighbour added after the fork, however old the fork is.
func TestOldForks(t *testing.T) {
	gittest.Long(t)
	r := workspace(t)
	task := func(n int) string {
		return fmt.Sprintf("  - task_id: \"task-1\"\n    timestamp: \"2026-01-02T00:%02d:00.5Z\"\n    evidence: \"done\"\n", n)
	}
	r.CommitFile(log, entries(2)+task(1))
	other := filepath.Join(t.TempDir(), "other")
	r.Git("worktree", "add", "-q", "-b", "other", other)
	if err := os.WriteFile(filepath.Join(other, log), []byte(entries(2)+task(1)+task(2)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Git("-C", other, "commit", "-q", "-a", "-m", "theirs")
	var script strings.Builder
	for i := range 50 {
		fmt.Fprintf(&script, "commit refs/heads/main\ncommitter T <t@example.com> %d +0000\ndata 0\n", 1_800_000_000+i)
		if i == 0 {
			fmt.Fprintf(&script, "from %s\n", tip(t, r))
		}
	}
	r.GitInput(script.String(), "fast-import", "--quiet")
	r.Write(log, entries(2)+task(3)) // rewrite the common entry
	r.Git("add", "-A")
	report := judge.PreCommit(t.Context(), request(r, ""))
	wantReport(t, "an old fork", report, finding.Fail, "go-git")
	at := slices.IndexFunc(report.Findings, func(f finding.Finding) bool { return f.Rule == "divergence/concurrent-append" })
	if at < 0 || !strings.Contains(report.Findings[at].Message, "has recorded 1 entry ") {
		t.Errorf("the findings are %+v", report.Findings)
	}
}

// go-git reads an ordinary clone, whose branch has an upstream.
func TestClone(t *testing.T) {
	gittest.Long(t)
	r := workspace(t).Clone()
	wantReport(t, "nothing staged", judge.PreCommit(t.Context(), request(r, "")), finding.Pass, "go-git")
	r.Write(log, entries(3))
	r.Git("add", "-A")
	for what, report := range everyMode(t, r, "") {
		wantReport(t, what, report, finding.Pass, chosen(what))
	}
	wantReport(t, "by name", judge.PreCommit(t.Context(), request(r, repository.Embedded)), finding.Pass, "go-git")
}

// If git is installed, git reads large repositories.
func TestLargeRepositories(t *testing.T) {
	for what, grow := range map[string]func(r *gittest.Repo){
		"packs": func(r *gittest.Repo) {
			// go-git reads packs, but this is not one: only the size of its index counts.
			name := ".git/objects/pack/pack-" + strings.Repeat("0", 40) + ".idx"
			r.Write(name, "")
			if err := os.Truncate(r.Path(name), 40_000*28); err != nil {
				t.Fatal(err)
			}
		},
		"index": func(r *gittest.Repo) {
			id := r.GitInput("x", "hash-object", "-w", "--stdin")
			var list strings.Builder
			for i := range 7500 {
				fmt.Fprintf(&list, "100644 %s\tcode/%d\n", id, i)
			}
			r.GitInput(list.String(), "update-index", "--index-info")
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := workspace(t)
			wantReport(t, "before", judge.PreCommit(t.Context(), request(r, "")), finding.Pass, "go-git")
			grow(r)
			wantReport(t, "after", judge.PreCommit(t.Context(), request(r, "")), finding.Pass, "git")
			wantReport(t, "by name", judge.PreCommit(t.Context(), request(r, repository.Embedded)), finding.Pass, "go-git")
			noGit(t)
			wantReport(t, "no git", judge.PreCommit(t.Context(), request(r, "")), finding.Pass, "go-git")
		})
	}
}

// Outside a repository, the failure says so.
func TestNoRepository(t *testing.T) {
	r := workspace(t)
	req := request(r, "")
	req.Dir = t.TempDir()
	wantReport(t, "nowhere", judge.Audit(t.Context(), req, ""), finding.Error, "", "is not in a git repository", "git init")
}

// A repository that no reader can open is reported once, with a remedy.
func TestNowhereToRead(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "nowhere")
	r := judge.Range(t.Context(), session.Request{Dir: dir, Environ: os.Environ(), Now: time.Now()}, "main..HEAD")
	if r.Failure == nil || strings.Count(r.Failure.Message, "cannot open") != 1 || r.Failure.Remedy == "" {
		t.Errorf("%+v", r.Failure)
	}
}
