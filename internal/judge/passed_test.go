package judge_test

import (
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// If an index passes pre-commit, the next hook does not judge it again, unless something has changed that the judgement depends on.
func TestOneCommitIsJudgedOnce(t *testing.T) {
	gittest.Long(t)
	changed := map[string]func(r *gittest.Repo, req *session.Request){
		"nothing":   func(*gittest.Repo, *session.Request) {},
		"HEAD":      func(r *gittest.Repo, _ *session.Request) { r.Git("commit", "-q", "--amend", "--only", "-m", "Another") },
		"the index": func(r *gittest.Repo, _ *session.Request) { r.Write("code", "1"); r.Git("add", "-A") },
		"the branch": func(r *gittest.Repo, _ *session.Request) {
			r.Git("symbolic-ref", "HEAD", "refs/heads/small/agent-1")
			r.Git("branch", "small/agent-1", "main")
		},
		"a neighbour": func(r *gittest.Repo, _ *session.Request) { r.Worktree("other") },
		"the merge": func(r *gittest.Repo, _ *session.Request) {
			r.Write(".git/MERGE_HEAD", r.Git("commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}")+"\n")
		},
		"the agent": func(_ *gittest.Repo, req *session.Request) {
			req.Environ = append(req.Environ, "SMALL_AGENT_ID=agent-1")
		},
		"the author": func(_ *gittest.Repo, req *session.Request) {
			req.Environ = append(req.Environ, "GIT_AUTHOR_NAME=agent[bot]")
		},
		"strictness":  func(_ *gittest.Repo, req *session.Request) { req.Strict = true },
		"the day":     func(_ *gittest.Repo, req *session.Request) { req.Now = req.Now.Add(24 * time.Hour) },
		"the program": func(_ *gittest.Repo, req *session.Request) { req.Version = "another" },
		"the configuration": func(r *gittest.Repo, req *session.Request) {
			r.Write(".git/config.yml", "version: 1\n")
			req.Config = r.Path(".git/config.yml")
		},
		"what is remembered": func(r *gittest.Repo, _ *session.Request) { r.Write(".git/small-gate/passed", "half") },
	}
	for name, change := range changed {
		for _, reader := range []string{repository.Git, repository.Embedded} {
			r := workspace(t)
			r.Write(log, entries(3))
			r.Git("add", "-A")
			req := request(r, reader)
			if report := judge.PreCommit(t.Context(), req); report.Verdict != finding.Pass || report.Examined.Workspaces != 1 {
				t.Fatalf("%+v", report)
			}
			change(r, &req)
			if name == "a neighbour" {
				req.Reader = "" // the reader on go-git leaves it to git
			}
			report := judge.PrepareCommitMsg(t.Context(), req)
			if again := report.Examined.Workspaces > 0; again == (name == "nothing") || report.Failure != nil {
				t.Errorf("%s has changed, by %s: judged again: %v, %v %v", name, reader, again, report.Verdict, report.Failure)
			}
		}
	}
}
