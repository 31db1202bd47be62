package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// documentedFloor is the floor in docs/configuration.md. It must be safe to copy.
func documentedFloor(t *testing.T) string {
	t.Helper()
	_, page, _ := strings.Cut(readPage(t, "../../docs/configuration.md"), "## A floor\n")
	_, page, found := strings.Cut(page, "```yaml\n")
	floor, _, closed := strings.Cut(page, "```")
	if !found || !closed || !strings.Contains(floor, "forbid:") {
		t.Fatalf("the page shows no floor: %q", floor)
	}
	return floor
}

// fleetFloors are the floors in docs/fleet.md: the commands that write floor.yml, and what GitHub and GitLab take as an input.
func fleetFloors(t *testing.T) (floors []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^ *version: 1\n(?: *[a-z]+: .*\n)+`).FindAllString(readPage(t, "../../docs/fleet.md"), -1) {
		floors = append(floors, regexp.MustCompile(`(?m)^ +`).ReplaceAllString(match, ""))
	}
	if len(floors) != 3 {
		t.Fatalf("the page shows %d floors: %q", len(floors), floors)
	}
	return floors
}

// TestFloorOnExcludedWorkspaces: each documented floor holds for a log although an earlier push has excluded all workspaces.
func TestFloorOnExcludedWorkspaces(t *testing.T) {
	for i, floor := range append(fleetFloors(t), documentedFloor(t)) {
		t.Run(strconv.Itoa(i), func(t *testing.T) { excludeAndRewrite(t, floor) })
	}
}

// excludeAndRewrite pushes a configuration without workspaces, and then a rewritten log, which the floor must refuse.
func excludeAndRewrite(t *testing.T, text string) {
	t.Helper()
	server, client := receiver(t)
	floor := filepath.Join(t.TempDir(), "floor.yml")
	if err := os.WriteFile(floor, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	client = client.With("SMALL_GATE_FLOOR=" + floor)
	client.Write(".small-gate.yml", "version: 1\nworkspaces: {exclude: [\"**\"]}\n")
	client.Commit("exclude")
	client.Git("push", "-q", server.Dir, "HEAD:main")
	log, err := os.ReadFile(client.Path(progressFile))
	if err != nil {
		t.Fatal(err)
	}
	client.Write(progressFile, strings.Replace(string(log), "workspace created", "workspace made", 1))
	client.Commit("rewrite")
	if _, err := client.Try("push", "-q", server.Dir, "HEAD:main"); err == nil || !strings.Contains(err.Error(), "[append-only/modified]") {
		t.Errorf("the push of a rewritten log: %v", err)
	}
}

// offByRepository is a configuration that turns off every rule of logs.
func offByRepository() string {
	var s strings.Builder
	s.WriteString("rules:\n")
	for _, r := range catalogue.All() {
		if family, _, _ := strings.Cut(r.ID, "/"); family == "append-only" || family == "divergence" || family == "validate" {
			fmt.Fprintf(&s, "  %s: \"off\"\n", r.ID)
		}
	}
	return s.String()
}

// TestFloorOnAServer: with a floor in the server's hook, random pushes by somebody who may write anything but the server's files land no
// commit that lost an entry of its parent. The oracle knows entries by their text alone.
func TestFloorOnAServer(t *testing.T) {
	gittest.Long(t)
	refused, taken := 0, 0
	for seed := range uint64(gittest.Cases(2, 4)) {
		no, yes := floorTeam(t, seed, gittest.Cases(10, 25))
		refused, taken = refused+no, taken+yes
	}
	if refused == 0 || taken == 0 {
		t.Errorf("%d pushes were refused and %d taken: nothing was tried", refused, taken)
	}
}

// floorTeam plays one server, and counts the pushes.
func floorTeam(t *testing.T, seed uint64, pushes int) (refused, taken int) {
	t.Helper()
	random := rand.New(rand.NewPCG(gittest.Seed(seed), 27))
	server, client := receiver(t)
	floor := filepath.Join(t.TempDir(), "floor.yml")
	if err := os.WriteFile(floor, []byte(documentedFloor(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	client = client.With("SMALL_GATE_FLOOR=" + floor)
	configs := []string{
		"mode: observe\n", "rules: {append-only/modified: \"off\", append-only/deleted: warning, divergence/lost-entry: \"off\"}\n",
		offByRepository(), "workspaces: {exclude: [\"**\"]}\n", "limits: {file_size: 1}\n", "append_only: {scope: published}\n", "strict: true\n",
	}
	var said []string
	for n := range pushes {
		for range 1 + random.IntN(3) {
			floorAct(t, client, random, configs, n)
		}
		target := []string{"HEAD:main", "+HEAD:main", "HEAD:topic", "+HEAD:topic", fmt.Sprintf("HEAD:refs/tags/v%d", n), fmt.Sprintf("HEAD:new-%d", n)}[random.IntN(6)]
		out, err := client.Try("push", "-q", server.Dir, target)
		if said = append(said, target+": "+out); err != nil {
			refused++
		} else {
			taken++
		}
		if lost := lostEntries(t, server); lost != "" {
			t.Fatalf("seed %d: a push brought %s\n%s", seed, lost, strings.Join(said, "\n"))
		}
		if err != nil && random.IntN(2) == 0 { // start again from the server's state
			client.Git("fetch", "-q", server.Dir, "main")
			client.Git("reset", "-q", "--hard", "FETCH_HEAD")
		}
	}
	return refused, taken
}

// floorAct makes a commit.
func floorAct(t *testing.T, r *gittest.Repo, random *rand.Rand, configs []string, n int) {
	t.Helper()
	serial := fmt.Sprintf("%d-%d", n, random.IntN(1_000_000))
	log := floorLog(t, r)
	text, err := os.ReadFile(r.Path(log))
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "workspace created", "workspace made "+serial, 1)
	switch random.IntN(11) {
	case 0, 1, 2:
		r.Write(log, string(text)+fmt.Sprintf("  - task_id: \"task-1\"\n    timestamp: \"2026-03-%02dT10:00:00.%09dZ\"\n    evidence: \"done %s\"\n", 2+n, random.IntN(1e9), serial))
	case 3:
		r.Write(".small-gate.yml", "version: 1\n"+configs[random.IntN(len(configs))])
	case 4:
		r.Write(log, edited)
	case 5:
		r.Write(log, edited)
		r.Write(".small-gate.yml", "version: 1\nmode: observe\n")
	case 6:
		r.Write(log, strings.TrimSuffix(string(text), lastEntry(string(text))))
	case 7:
		to := "moved" + serial
		r.Write(to+"/keep", "")
		r.Git("mv", filepath.Dir(log), to+"/"+small.Dir)
		r.Write(to+"/"+progressFile, edited)
	case 8:
		r.Write(log, strings.Replace(string(text), `task_id: "task-1"`, `task_id: "meta/historical/task-1"`, 1))
	case 9:
		r.Write(log, strings.Replace(string(text), `1Z"`, `2Z"`, 1)) // the time changes in its last digit
	default:
		// Excuse the edit in the same commit.
		r.Write(log, edited)
		r.Git("add", "-A")
		waive := exec.Command("small-hook", "waive", "--rule", "append-only/modified", "--reason", "mine")
		waive.Dir, waive.Env = r.Dir, r.Environ()
		if out, err := waive.CombinedOutput(); err != nil {
			t.Logf("%v: %s", err, out) // there may be nothing to waive
		}
	}
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", serial)
	if random.IntN(6) == 0 { // a merge that takes one side's log
		r.Git("branch", "-f", "side", "HEAD~1")
		r.Git("update-ref", "HEAD", strings.TrimSpace(r.Git("commit-tree", "side^{tree}", "-p", "HEAD", "-p", "side", "-m", "merge "+serial)))
		r.Git("reset", "-q", "--hard")
	}
}

// floorLog is where the log is.
func floorLog(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	for path := range strings.Lines(r.Git("ls-files", "--", "*"+progressFile)) {
		return strings.TrimSpace(path)
	}
	t.Fatal("there is no log")
	return ""
}

// lastEntry is the text of a log's last entry, empty if it is the only one.
func lastEntry(log string) string {
	if strings.Count(log, "\n  - ") < 2 {
		return ""
	}
	return log[strings.LastIndex(log, "\n  - ")+1:]
}

// lostEntries names a commit on the server that lacks an entry of one of its parents, wherever its log is; empty if there is none.
func lostEntries(t *testing.T, server *gittest.Repo) string {
	t.Helper()
	entries := map[string]map[string]bool{}
	of := func(commit string) map[string]bool {
		if known := entries[commit]; known != nil {
			return known
		}
		entries[commit] = map[string]bool{}
		for path := range strings.Lines(server.Git("ls-tree", "-r", "--name-only", commit)) {
			if path = strings.TrimSpace(path); strings.HasSuffix(path, progressFile) {
				for _, e := range strings.Split(server.Git("show", commit+":"+path), "\n  - ")[1:] {
					entries[commit][strings.TrimSpace(e)] = true
				}
			}
		}
		return entries[commit]
	}
	for line := range strings.Lines(server.Git("rev-list", "--all", "--parents")) {
		ids := strings.Fields(line)
		for _, parent := range ids[1:] {
			for e := range of(parent) {
				if !of(ids[0])[e] {
					return fmt.Sprintf("%s, which lacks of %s: %s", ids[0], parent, e)
				}
			}
		}
	}
	return ""
}
