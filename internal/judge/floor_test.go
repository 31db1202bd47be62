package judge_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// TestFloorIsTheLeast judges ranges of random histories with random configurations. With a floor, no range is judged more mildly than by the floor alone
// or by the repository's configuration alone.
func TestFloorIsTheLeast(t *testing.T) {
	gittest.Long(t)
	const floor = "version: 1\nmode: enforce\nstrict: true\nworkspaces: {include: [\"**\"], exclude: []}\nappend_only: {scope: committed}\nlimits: {file_size: 100000}\n" +
		"rules: {append-only/modified: error, append-only/deleted: error, append-only/log-deleted: warning}\n"
	file := filepath.Join(t.TempDir(), "floor.yml")
	if err := os.WriteFile(file, []byte(floor), 0o600); err != nil {
		t.Fatal(err)
	}
	stanzas := []string{"mode: observe\n", "strict: false\n", "workspaces: {exclude: [\"**\"]}\n", "limits: {file_size: 10}\n", "rules: {append-only/modified: \"off\", append-only/deleted: \"off\"}\n"}
	random, failed := rand.New(rand.NewPCG(gittest.Seed(27), 1)), 0
	for range gittest.Cases(12, 24) {
		r := gittest.New(t)
		config := "version: 1\n"
		for _, s := range stanzas {
			if random.IntN(3) == 0 {
				config += s
			}
		}
		log := smalltest.LogText(4)
		r.Write(".small-gate.yml", config)
		r.CommitFile(".small/progress.small.yml", log)
		switch random.IntN(4) {
		case 0:
			log = strings.Replace(log, "a note", "another note", 1)
		case 1:
			log = smalltest.LogText(3)
		case 2:
			log += smalltest.LogEntry(4)
		}
		if random.IntN(3) == 0 {
			r.Write(".small-gate.yml", "version: 1\nmode: observe\n")
		}
		r.Write("code.go", "package code\n")
		r.CommitFile(".small/progress.small.yml", log)
		req := session.Request{Dir: r.Dir, Environ: r.Environ(), Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
		judged := func(change func(*session.Request)) *finding.Report {
			own := req
			change(&own)
			return judge.Range(t.Context(), own, "HEAD~1..HEAD")
		}
		alone := judged(func(q *session.Request) { q.Config = file })
		own := judged(func(*session.Request) {})
		both := judged(func(q *session.Request) { q.Floor = floor + "forbid: [waivers, baseline, since]\n" })
		if both.ExitStatus() < alone.ExitStatus() || both.ExitStatus() < own.ExitStatus() || both.Examined.Floor == "" {
			t.Fatalf("%s\nthe floor alone ends in %d, the repository in %d, both in %d", config, alone.ExitStatus(), own.ExitStatus(), both.ExitStatus())
		}
		if own.ExitStatus() == 0 && both.ExitStatus() == 1 {
			failed++
		}
	}
	if failed == 0 {
		t.Error("the floor never made a difference")
	}
}
