package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// teamMember is one clone of several that push to one branch.
type teamMember struct {
	*gittest.Repo
	name string
	// flags are those of sync.
	flags []string
	// rejected counts its pushes that lost the race, commands those typed from there until the work was pushed.
	rejected, commands int
}

// membersOf makes a server that judges, and clones with hooks.
func membersOf(t *testing.T, clones int, flags ...string) (server *gittest.Repo, members []*teamMember) {
	t.Helper()
	server, _ = receiver(t)
	for i := range clones {
		clone := server.Clone()
		if status := exitOf(t, smallHook(clone, "install")); status != 0 {
			t.Fatalf("install ended with %d", status)
		}
		members = append(members, &teamMember{Repo: clone, name: fmt.Sprintf("agent-%02d", i), flags: flags})
	}
	return server, members
}

// record appends an entry.
func (m *teamMember) record(task, evidence string) error {
	log, err := os.ReadFile(m.Path(progressFile))
	if err != nil {
		return err
	}
	at := time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z")
	entry := fmt.Sprintf("  - task_id: %q\n    timestamp: %q\n    evidence: %q\n", task, at, evidence)
	return os.WriteFile(m.Path(progressFile), append(log, entry...), 0o644)
}

// work appends an entry and writes code, commits both, and returns what must be found afterwards.
func (m *teamMember) work(piece int) (evidence, file string, err error) {
	evidence, file = fmt.Sprintf("piece %d of %s", piece, m.name), fmt.Sprintf("%s-%d.txt", m.name, piece)
	if err := errors.Join(m.record("task-1", evidence), os.WriteFile(m.Path(file), []byte(evidence), 0o644)); err != nil {
		return "", "", err
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", evidence}} {
		if _, err := m.Try(args...); err != nil {
			return "", "", err
		}
	}
	return evidence, file, nil
}

// publish pushes, and syncs until that succeeds.
func (m *teamMember) publish() error {
	if _, err := m.Try("push", "-q", "origin", "main"); err == nil {
		return nil
	}
	m.rejected++
	for range 10 {
		m.commands++
		cmd := smallHook(m.Repo, append([]string{"sync"}, m.flags...)...)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return nil
		}
		if !bytes.Contains(out, []byte("moved on during each of 10 attempts to push")) {
			return fmt.Errorf("%s: sync ended with %w: %s", m.name, err, out)
		}
	}
	return fmt.Errorf("%s never came to push", m.name)
}

var (
	// clones is how many push at once at most: what that costs grows with its square, and twenty take minutes on two cores.
	clones = flag.Int("clones", gittest.Rounds(3, 7), "how many clones push at once in TestSyncRace")
	pieces = flag.Int("pieces", 1, "pieces of work of each of them")
)

// However many push at once, no commit is lost, and the remote's history is valid.
func TestSyncRace(t *testing.T) {
	gittest.Long(t)
	merge := []string{"--merge"}
	for _, c := range []struct {
		clones, pieces int
		flags          []string
		long           bool
	}{
		{clones: 3, pieces: gittest.Cases(1, 2)},
		{clones: *clones, pieces: *pieces, long: true},
		{clones: *clones, pieces: *pieces, flags: merge, long: true},
	} {
		t.Run(fmt.Sprintf("%d%s", c.clones, strings.Join(c.flags, "")), func(t *testing.T) {
			if c.long {
				gittest.Long(t)
			}
			server, members := membersOf(t, c.clones, c.flags...)
			entries, files := make([][]string, c.clones), make([][]string, c.clones)
			for piece := range c.pieces {
				var all sync.WaitGroup
				for i, m := range members {
					all.Go(func() {
						evidence, file, err := m.work(piece)
						entries[i], files[i] = append(entries[i], evidence), append(files[i], file)
						if err == nil {
							err = m.publish()
						}
						if err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait() // so that all push at once again
			}
			log := server.Git("show", "main:"+progressFile)
			tree := server.Git("ls-tree", "--name-only", "main")
			rejected, commands := 0, 0
			for i, m := range members {
				rejected, commands = rejected+m.rejected, commands+m.commands
				for at := range entries[i] {
					if strings.Count(log, entries[i][at]) != 1 || !strings.Contains(tree, files[i][at]) {
						t.Errorf("%q is not in the log once, or its code is missing", entries[i][at])
					}
				}
				if status := m.Git("status", "--porcelain"); status != "" {
					t.Errorf("%s is left with %s", m.name, status)
				}
				if left := m.Git("for-each-ref", "refs/small-gate"); left != "" {
					t.Errorf("%s is left in the midst of a sync: %s", m.name, left)
				}
			}
			var exit *exec.ExitError
			if out, err := smallHook(server, "audit").CombinedOutput(); err != nil && errors.As(err, &exit) {
				t.Errorf("the remote's history: %s", out)
			}
			if rejected == 0 && c.long {
				t.Error("nobody has lost a race")
			}
			t.Logf("%d pieces of work, %d rejected, %d commands from there to pushed, %d markers, %d merges",
				c.clones*c.pieces, rejected, commands, strings.Count(log, "meta/reconcile-merge"), len(strings.Fields(server.Git("rev-list", "--merges", "main"))))
		})
	}
}
