package main

import (
	"os"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// twoWriters makes a repository in a merge in which the logs of two workspaces conflict. again restores that state.
func twoWriters(t *testing.T) (r *gittest.Repo, again func()) {
	t.Helper()
	r = gittest.New(t)
	for _, dir := range []string{".small", "sub/.small"} {
		if err := os.CopyFS(r.Path(dir), os.DirFS("testdata/workspace/.small")); err != nil {
			t.Fatal(err)
		}
	}
	r.Commit("start")
	add := func(task, minute string) {
		for _, path := range killedLogs {
			old, err := os.ReadFile(r.Path(path))
			if err != nil {
				t.Fatal(err)
			}
			r.Write(path, string(old)+"  - task_id: \""+task+"\"\n    timestamp: \"2026-03-01T09:"+minute+":00.5Z\"\n    evidence: \""+task+" is done\"\n")
		}
		r.Commit(task)
	}
	r.Branch("other", "")
	add("task-2", "20")
	r.Switch("main")
	add("task-1", "10")
	return r, func() {
		r.Git("reset", "-q", "--hard")
		if out, err := r.Try("merge", "-q", "other"); err == nil {
			t.Fatalf("the merge did not stop: %s", out)
		}
	}
}

var killedLogs = []string{".small/progress.small.yml", "sub/.small/progress.small.yml"}

// Whenever reconcile is killed, each file, and the index as a whole, is either unchanged or finished; the same command then completes the
// work.
func TestReconcileKilled(t *testing.T) {
	gittest.Long(t)
	for _, watched := range []string{".small", "sub/.small", ".git"} {
		t.Run(watched, func(t *testing.T) {
			t.Parallel()
			r, again := twoWriters(t)
			before := map[string]string{}
			touched := false
			for n, finished := 0, false; !finished; n++ {
				again()
				for _, path := range killedLogs {
					before[path] = contentOf(t, r.Path(path))
				}
				staged := r.Git("ls-files", "-s")
				finished = killAfter(t, r.Path(watched), n, smallHook(r, "reconcile"))
				written := 0
				for _, path := range killedLogs {
					now := contentOf(t, r.Path(path))
					if now == before[path] {
						continue
					}
					written++
					for _, part := range []string{"task-1 is done", "task-2 is done", "meta/reconcile-merge"} {
						if !strings.Contains(now, part) || strings.Contains(now, "<<<<<<<") {
							t.Fatalf("killed after %d changes, %s holds:\n%s", n, path, now)
						}
					}
				}
				if err := os.Remove(r.Path(".git/index.lock")); err == nil {
					t.Log("git was killed while it wrote the index, and its lock had to be taken away")
				}
				index := r.Git("ls-files", "-s")
				if index != staged && (written != len(killedLogs) || r.Git("ls-files", "-u") != "") {
					t.Fatalf("killed after %d changes: %d files are written, and the index is\n%s", n, written, index)
				}
				touched = touched || index != staged
				if status := exitOf(t, smallHook(r, "reconcile")); status != 0 {
					t.Fatalf("killed after %d changes, the next one ended with %d", n, status)
				}
				if left := r.Git("ls-files", "--others", "--exclude-standard"); left != "" {
					t.Fatalf("killed after %d changes and done again, there is %s", n, left)
				}
				if status := exitOf(t, smallHook(r, "pre-commit")); status != 0 {
					t.Fatalf("killed after %d changes and done again, pre-commit ends with %d", n, status)
				}
				for _, path := range killedLogs {
					if now := contentOf(t, r.Path(path)); strings.Count(now, "meta/reconcile-merge") != 1 || r.Git("show", ":"+path)+"\n" != now {
						t.Fatalf("killed after %d changes and done again, %s holds:\n%s", n, path, now)
					}
				}
				if n > 300 {
					t.Fatal("it never came to an end")
				}
			}
			if !touched {
				t.Error("it was never left to its end")
			}
		})
	}
}

// Whenever restore --commit is killed, recorded entries are in the work tree and in HEAD's commits; the same command then completes the
// work.
func TestMendKilled(t *testing.T) {
	gittest.Long(t)
	for _, watched := range []string{".small", ".git"} {
		t.Run(watched, func(t *testing.T) {
			t.Parallel()
			r, _ := twoWriters(t)
			log := killedLogs[0]
			sound := contentOf(t, r.Path(log))
			r.Write(log, strings.Replace(sound, "task-1 is done", "TAMPERED", 1)+"  - {task_id: task-3, timestamp: \"2026-03-01T09:30:00.5Z\", evidence: task-3 is done}\n")
			bad := r.Commit("bad")
			r.Write("code", "code\n")
			r.Commit("code")
			tip := r.ID("HEAD")
			dirty := contentOf(t, r.Path(log)) + "  - {task_id: task-4, timestamp: \"2026-03-01T09:40:00.5Z\", evidence: task-4 is done}\n"
			for n, finished := 0, false; !finished; n++ {
				r.Git("reset", "-q", "--hard", tip)
				r.Write(log, dirty)
				finished = killAfter(t, r.Path(watched), n, smallHook(r, "restore", "--commit", bad))
				for _, evidence := range []string{"task-3 is done", "task-4 is done"} {
					if now := contentOf(t, r.Path(log)); strings.Count(now, evidence) != 1 {
						t.Fatalf("killed after %d changes, %s holds:\n%s", n, log, now)
					}
				}
				for _, lock := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"} {
					if err := os.Remove(r.Path(".git/" + lock)); err == nil {
						t.Log("git was killed, and its lock had to be taken away: " + lock)
					}
				}
				if r.ID("HEAD") == tip {
					if out, err := smallHook(r, "restore", "--commit", bad).CombinedOutput(); err != nil {
						t.Fatalf("killed after %d changes, the next one: %v\n%s", n, err, out)
					}
				}
				if left := r.Git("status", "--short"); left != " M "+log {
					t.Fatalf("killed after %d changes and done again, this is left:\n%s", n, left)
				}
				now := contentOf(t, r.Path(log))
				for _, evidence := range []string{"task-1 is done", "task-3 is done", "task-4 is done"} {
					if strings.Count(now, evidence) != 1 || strings.Contains(now, "TAMPERED") {
						t.Fatalf("killed after %d changes and done again, %s holds:\n%s", n, log, now)
					}
				}
				if status := exitOf(t, smallHook(r, "audit")); status != 0 {
					t.Fatalf("killed after %d changes and done again, audit ends with %d", n, status)
				}
				if n > 300 {
					t.Fatal("it never came to an end")
				}
			}
		})
	}
}
