package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

const progressFile = ".small/progress.small.yml"

// receiver makes a server that judges what it receives, with the valid
// workspace on main, and a clone.
func receiver(t testing.TB, config ...string) (server, first *gittest.Repo) {
	t.Helper()
	server = gittest.New(t, gittest.Bare())
	for _, setting := range config {
		name, value, _ := strings.Cut(setting, "=")
		server.Git("config", name, value)
	}
	install := exec.Command("small-hook", "install", "--pre-receive")
	install.Dir, install.Env = server.Dir, server.Environ()
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first = gittest.New(t)
	if err := os.CopyFS(first.Dir, os.DirFS(filepath.Join("testdata", "workspace"))); err != nil {
		t.Fatal(err)
	}
	first.Commit("start")
	first.Git("push", "-q", server.Dir, "main")
	return server, first
}

// appended is a log with one entry more.
func appended(t testing.TB, r *gittest.Repo, task string, minute int) string {
	t.Helper()
	log, err := os.ReadFile(r.Path(progressFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(log) + fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-01T10:%02d:00.000000001Z\"\n    evidence: \"done\"\n", task, minute)
}

// push is the result of one client's push.
type push struct {
	status int
	said   string
}

// pushAll pushes from every client at once.
func pushAll(t testing.TB, clients []*gittest.Repo, args func(i int) []string) []push {
	t.Helper()
	out := make([]push, len(clients))
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for i, client := range clients {
		ready.Add(1)
		done.Go(func() {
			cmd := exec.Command("git", append([]string{"push"}, args(i)...)...)
			cmd.Dir, cmd.Env = client.Dir, client.Environ()
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			ready.Done()
			<-begin
			var exit *exec.ExitError
			if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
				t.Error(err)
			}
			out[i] = push{cmd.ProcessState.ExitCode(), said.String()}
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	return out
}

func refsOfServer(server *gittest.Repo) map[string]string {
	refs := map[string]string{}
	for line := range strings.Lines(server.Git("for-each-ref", "--format=%(refname) %(objectname)")) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = id
	}
	return refs
}

// Twenty clients push two refs each at once. Every push is accepted or refused as a whole, and a refused client sees the reason for its own
// change and nobody else's. The quarantines hold loose objects, or packs.
func TestReceiveFromManyAtOnce(t *testing.T) {
	gittest.Long(t)
	for _, unpackLimit := range []string{"1", "1000"} {
		t.Run("receive.unpackLimit="+unpackLimit, func(t *testing.T) {
			t.Parallel()
			server, _ := receiver(t, "receive.unpackLimit="+unpackLimit, "receive.autogc=false")
			const clients = 20
			bad := func(i int) bool { return i%3 == 0 }
			var all []*gittest.Repo
			for i := range clients {
				c := server.Clone()
				c.CommitFile(progressFile, appended(t, c, fmt.Sprintf("meta/client-%d", i), i))
				c.Git("branch", fmt.Sprintf("first-%d", i))
				if bad(i) {
					log, err := os.ReadFile(c.Path(progressFile))
					if err != nil {
						t.Fatal(err)
					}
					c.CommitFile(progressFile, strings.Replace(string(log), "workspace created", fmt.Sprintf("made by %d", i), 1))
				} else {
					c.CommitFile("code.go", "package code\n")
				}
				c.Git("branch", fmt.Sprintf("second-%d", i))
				all = append(all, c)
			}
			pushes := pushAll(t, all, func(i int) []string {
				return []string{"-q", "origin", fmt.Sprintf("first-%d", i), fmt.Sprintf("second-%d", i)}
			})
			refs := refsOfServer(server)
			for i, p := range pushes {
				first, second := refs[fmt.Sprintf("refs/heads/first-%d", i)], refs[fmt.Sprintf("refs/heads/second-%d", i)]
				if !bad(i) {
					if p.status != 0 || p.said != "" || first != all[i].ID("HEAD~1") || second != all[i].ID("HEAD") {
						t.Errorf("client %d: status %d, refs %q and %q:\n%s", i, p.status, first, second, p.said)
					}
					continue
				}
				if p.status != 1 || first != "" || second != "" {
					t.Errorf("client %d: status %d, refs %q and %q", i, p.status, first, second)
				}
				if !strings.Contains(p.said, "[append-only/modified]") || !strings.Contains(p.said, fmt.Sprintf("+ made by %d", i)) ||
					strings.Count(p.said, "+ made by") != 1 || strings.Count(p.said, "pre-receive hook declined") != 2 {
					t.Errorf("client %d was told:\n%s", i, p.said)
				}
			}
			server.Git("fsck", "--strict")
		})
	}
}

// Twenty clients append to one branch at once. One wins; the others are refused, as is any later push without the winner's entry.
func TestReceiveOnOneBranch(t *testing.T) {
	gittest.Long(t)
	server, _ := receiver(t, "receive.autogc=false")
	const clients = 20
	var all []*gittest.Repo
	for i := range clients {
		c := server.Clone()
		c.CommitFile(progressFile, appended(t, c, fmt.Sprintf("meta/client-%d", i), i))
		all = append(all, c)
	}
	pushes := pushAll(t, all, func(int) []string { return []string{"-q", "origin", "main"} })
	tip := refsOfServer(server)["refs/heads/main"]
	winner := -1
	for i, p := range pushes {
		switch {
		case p.status == 0 && winner < 0 && tip == all[i].ID("HEAD"):
			winner = i
		case p.status == 0:
			t.Errorf("client %d was accepted as well", i)
		case !strings.Contains(p.said, "rejected"):
			t.Errorf("client %d was not told why:\n%s", i, p.said)
		}
	}
	if winner < 0 {
		t.Fatal("nobody was accepted")
	}

	// A forced push would lose the first client's entry.
	pushes = pushAll(t, all, func(int) []string { return []string{"-q", "--force", "origin", "main"} })
	for i, p := range pushes {
		if i != winner && (p.status != 1 || !strings.Contains(p.said, "[append-only/")) {
			t.Errorf("client %d: status %d:\n%s", i, p.status, p.said)
		}
	}
	if now := refsOfServer(server)["refs/heads/main"]; now != tip {
		t.Errorf("main was %s and is %s", tip, now)
	}
}

// BenchmarkRefusedPush measures a refused ordinary push, as the pusher waits for it: git, the transfer, and the gate on the server, on a
// log of 1,200 entries and 1.1 MB. TwoAlone is the same push and another one back, without a gate.
func BenchmarkRefusedPush(b *testing.B) {
	server, first := receiver(b)
	evidence := strings.Repeat("importer reads every row; ", 35)
	var log strings.Builder
	log.WriteString(appended(b, first, "meta/first", 1))
	for i := range 1200 {
		fmt.Fprintf(&log, "  - task_id: \"task-1\"\n    timestamp: \"2026-03-02T%02d:%02d:00.%09dZ\"\n    evidence: %q\n", i/60, i%60, i+1, evidence)
	}
	first.CommitFile(progressFile, log.String())
	first.Git("push", "-q", server.Dir, "main")
	first.CommitFile(progressFile, strings.Replace(log.String(), "workspace created", "workspace made", 1))
	b.Logf("the log has %d bytes", log.Len())
	b.Run("Refused", func(b *testing.B) {
		for b.Loop() {
			if _, err := first.Try("push", "-q", server.Dir, "main"); err == nil || !strings.Contains(err.Error(), "append-only/modified") {
				b.Fatal("it was not refused: ", err)
			}
		}
	})
	if err := os.Remove(server.Path("hooks/pre-receive")); err != nil {
		b.Fatal(err)
	}
	b.Run("TwoAlone", func(b *testing.B) {
		for b.Loop() {
			first.Git("push", "-q", "--force", server.Dir, "main")
			first.Git("push", "-q", "--force", server.Dir, "main~1:main")
		}
	})
}
