package threeway

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// one is a task of a plan; more are lines such as "status: completed".
func one(id, title string, more ...string) string {
	text := fmt.Sprintf("    - id: %s\n      title: %s\n", id, title)
	for _, line := range more {
		text += "      " + line + "\n"
	}
	return text
}

func planText(tasks ...string) string {
	return "small_version: \"1.0.0\"\nowner: agent\ntasks:\n" + strings.Join(tasks, "")
}

const done = "status: completed"

func TestPlan(t *testing.T) {
	read, write := one("task-1", "Read"), one("task-2", "Write")
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"each completed one": {planText(read, write), planText(one("task-1", "Read", done), write), planText(read, one("task-2", "Write", done)),
			planText(one("task-1", "Read", done), one("task-2", "Write", done))},
		"new ones of both": {planText(read), planText(read, write), planText(read, one("task-3", "Show")), planText(read, write, one("task-3", "Show"))},
		"begun and completed": {planText(read), planText(one("task-1", "Read", "status: in_progress")), planText(one("task-1", "Read", "status: Completed")),
			planText(one("task-1", "Read", "status: Completed"))},
		"reopened":           {planText(one("task-1", "Read", done)), planText(one("task-1", "Read", "status: pending")), planText(one("task-1", "Read it", done)), planText(one("task-1", "Read it", "status: pending"))},
		"removed":            {planText(read, write), planText(write), planText(read, one("task-2", "Write", done)), planText(one("task-2", "Write", done))},
		"removed, completed": {planText(read, write), planText(write), planText(one("task-1", "Read", done), write), planText(one("task-2", "Write"), one("task-1", "Read", done))},
		"the same new one": {planText(read), planText(read, one("task-2", "Write", "status: in_progress")), planText(read, one("task-2", "Write", done)),
			planText(read, one("task-2", "Write", done))},
		"one id, two tasks": {planText(read), planText(read, write), planText(read, one("task-2", "Show", done), one("task-9", "End", "depends_on: [task-1]")),
			planText(read, write, one("task-10", "Show", done), one("task-9", "End", "depends_on: [task-1]"))},
		"no base": {"", planText(read), planText(one("task-1", "Show")), planText(read, one("task-2", "Show"))},
		"other fields": {planText(read), planText(one("task-1", "Read", "steps: [a]", "lease: {agent_id: x}")), planText(one("task-1", "Read it", "acceptance: [b]")),
			planText(one("task-1", "Read it", "steps: [a]", "lease: {agent_id: x}", "acceptance: [b]"))},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := merging(small.Plan, test.base, test.ours, test.theirs).Plan(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanStops(t *testing.T) {
	base, ours, theirs := planText(one("task-1", "Read")), planText(one("task-1", "Read", "status: blocked")), planText(one("task-1", "Read", "status: in_progress"))
	m := merging(small.Plan, base, ours, theirs)
	_, _, err := m.Plan(nil)
	if err == nil || !strings.Contains(err.Error(), `task "task-1", status: "blocked" of main, "in_progress" of agent-2`) || !strings.Contains(failure.Of(err).Remedy, "`small-hook reconcile --plan ours`") {
		t.Errorf("%v", err)
	}
	for prefer, want := range map[Preference]string{Ours: ours, Theirs: theirs} {
		m.PreferPlan = prefer
		if got, _, err := m.Plan(nil); err != nil || string(got) != want {
			t.Errorf("%v: %s", err, got)
		}
	}

	mine, other := one("task-2", "Write"), one("task-2", "Show")
	for name, use := range map[string]func(v *Version){
		"entry":   func(v *Version) { v.Named["task-2"] = true },
		"handoff": func(v *Version) { v.Files[small.Handoff] = []byte(handoffText("x", "task-2", "aaaa")) },
		"depends_on": func(v *Version) {
			v.Files[small.Plan] = []byte(string(v.Files[small.Plan]) + one("task-3", "End", "depends_on:", "    - task-2"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := merging(small.Plan, base, planText(one("task-1", "Read"), mine), planText(one("task-1", "Read"), other))
			use(&m.Theirs)
			got, notes, err := m.Plan(nil)
			if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "of main (\"Write\") is now") || !strings.Contains(string(got), "id: task-2\n      title: Show") {
				t.Errorf("the one that is named did not keep its id: %v %v\n%s", err, notes, got)
			}
			use(&m.Ours)
			if got, _, err := m.Plan(nil); err == nil || !strings.Contains(err.Error(), `"Write" of main, "Show" of agent-2`) {
				t.Errorf("both are named, and that is no stop: %v\n%s", err, got)
			}
			m.PreferPlan = Ours
			if got, notes, err := m.Plan(nil); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "of agent-2 (\"Show\") is now") {
				t.Errorf("%v %v\n%s", err, notes, got)
			}
		})
	}
}

// TestPublishedEntriesStay gives another id only to a task that no published entry names, whatever the caller prefers.
func TestPublishedEntriesStay(t *testing.T) {
	read := one("task-1", "Read")
	kept := map[string]bool{"task-2": true}
	for name, test := range map[string]struct {
		ours, theirs map[string]bool
		prefer       Preference
		picked       bool
		note, stop   string // one of the two
		fix          string
	}{
		"theirs, ours preferred":      {theirs: kept, prefer: Ours, stop: "published entries name that of agent-2", fix: "`small-hook reconcile --plan theirs`"},
		"theirs":                      {theirs: kept, prefer: Theirs, note: "of main (\"Write\") is now \"task-3\""},
		"ours, theirs preferred":      {ours: kept, prefer: Theirs, stop: "published entries name that of main", fix: "`small-hook reconcile --plan ours`"},
		"ours":                        {ours: kept, prefer: Ours, note: "of agent-2 (\"Show\") is now \"task-3\""},
		"both":                        {ours: kept, theirs: kept, stop: "published entries name both", fix: "a person gives one of the two another id"},
		"both, one is preferred":      {ours: kept, theirs: kept, prefer: Ours, stop: "published entries name both", fix: "a person gives one of the two another id"},
		"a picked commit's is in use": {ours: kept, picked: true, note: "of agent-2 (\"Show\") is now \"task-3\""},
	} {
		t.Run(name, func(t *testing.T) {
			m := merging(small.Plan, planText(read), planText(read, one("task-2", "Write")), planText(read, one("task-2", "Show")))
			m.Ours.Named, m.Theirs.Named = kept, kept
			m.Ours.NamedByPublished, m.Theirs.NamedByPublished, m.PreferPlan, m.Theirs.Picked = test.ours, test.theirs, test.prefer, test.picked
			got, notes, err := m.Plan(nil)
			if test.stop == "" {
				if err != nil || len(notes) != 1 || !strings.Contains(notes[0], test.note) {
					t.Errorf("%v %q\n%s", err, notes, got)
				}
				return
			}
			if err == nil || !strings.HasSuffix(failure.Of(err).Message, ", and "+test.stop) || !strings.HasPrefix(failure.Of(err).Remedy, test.fix) {
				t.Errorf("%v\n%s", err, got)
			}
		})
	}
}

// TestRenumbered finds the tasks that have another id in a merged plan.
func TestRenumbered(t *testing.T) {
	read, show := one("task-1", "Read"), one("task-2", "Show")
	for name, test := range map[string]struct{ side, merged, want string }{
		"another id":          {planText(read, show), planText(read, one("task-2", "Write"), one("task-3", "Show")), "map[task-2:task-3]"},
		"another title":       {planText(read, show), planText(read, one("task-2", "Show it")), "map[]"},
		"two with the title":  {planText(read, show), planText(one("task-2", "Write"), one("task-3", "Show"), one("task-4", "Show")), "map[]"},
		"one of its own":      {planText(read, show, one("task-3", "Show")), planText(one("task-2", "Write"), one("task-3", "Show")), "map[]"},
		"the same":            {planText(read, show), planText(read, show), "map[]"},
		"no plan of the side": {"", planText(read, show), "map[]"},
	} {
		t.Run(name, func(t *testing.T) {
			m := merging(small.Plan, planText(read), planText(read), test.side)
			if got := fmt.Sprint(m.Renumbered(m.Theirs, []byte(test.merged))); got != test.want {
				t.Errorf("%s, not %s", got, test.want)
			}
			m.Ours.Files[small.Workspace], m.Theirs.Files[small.Workspace] = []byte(workspaceText(early, runA)), []byte(workspaceText(early, runB))
			if got := m.Renumbered(m.Theirs, []byte(test.merged)); len(got) > 0 {
				t.Errorf("in another run: %v", got)
			}
		})
	}
}

// TestLaterCommitFollows applies what a later commit says of a task that got another id when the earlier commit was put on top.
func TestLaterCommitFollows(t *testing.T) {
	read := one("task-1", "Read")
	m := merging(small.Plan, planText(read, one("task-2", "Show")), planText(read, one("task-2", "Write"), one("task-3", "Show")),
		planText(read, one("task-2", "Show", done), one("task-4", "End", "depends_on: [task-2]")))
	m.Theirs.Picked = true
	want := planText(read, one("task-2", "Write"), one("task-3", "Show", done), one("task-4", "End", "depends_on: [task-3]"))
	if got, _, err := m.Plan(nil); err != nil || string(got) != want || !m.MayRenumber() {
		t.Errorf("%v\n%s", err, got)
	}
	m.Ours.Files[small.Plan] = []byte(planText(read, one("task-2", "Show it")))
	if m.MayRenumber() {
		t.Error("a task with a new title is the same task")
	}
}

// TestHandoffFollows has the merged handoff name the task that a side meant, under its new id.
func TestHandoffFollows(t *testing.T) {
	merged := []byte(planText(one("task-1", "Read"), one("task-2", "Write"), one("task-3", "Show")))
	m := merging(small.Handoff, handoffText("a", "task-1", "aaaa"), handoffText("b", "task-2", "aaaa"), handoffText("c", "task-2", "aaaa"))
	m.Ours.Files[small.Plan], m.Theirs.Files[small.Plan] = []byte(planText(one("task-2", "Write"))), []byte(planText(one("task-2", "Show")))
	for newer, want := range map[string]string{early: handoffText("b", "task-2", "aaaa"), latest: handoffText("c", "task-3", "aaaa")} {
		m.Ours.Files[small.Workspace], m.Theirs.Files[small.Workspace] = []byte(workspaceText(later)), []byte(workspaceText(newer))
		if got, err := m.Handoff(merged, m.Theirs.Files[small.Workspace]); err != nil || string(got) != want {
			t.Errorf("%v\n%s, not\n%s", err, got, want)
		}
	}
}

// Of two merge bases, only what they agree on counts.
func TestSeveralBases(t *testing.T) {
	m := merging(small.Plan, planText(one("task-1", "Read", done), one("task-2", "Write")), planText(one("task-1", "Read", "status: pending"), one("task-2", "Write it")), planText(one("task-1", "Read", done), one("task-2", "Write that")))
	m.Bases = append(m.Bases, Version{Files: map[small.Artifact][]byte{small.Plan: []byte(planText(one("task-1", "Read", done), one("task-2", "Note")))}})
	if _, _, err := m.Plan(nil); err == nil || !strings.Contains(err.Error(), `: task "task-2", title: "Write it" of main, "Write that" of agent-2`) {
		t.Errorf("%v", err)
	}
	m.PreferPlan = Theirs
	if got, _, err := m.Plan(nil); err != nil || string(got) != planText(one("task-1", "Read", "status: pending"), one("task-2", "Write that")) {
		t.Errorf("%v\n%s", err, got)
	}
}

// randomPlan changes a plan at random, or makes one.
func randomPlan(r *rand.Rand, from map[string]string) map[string]string {
	out := map[string]string{}
	for id, status := range from {
		switch r.IntN(8) {
		case 0: // removed
		case 1, 2:
			out[id] = []string{"pending", "in_progress", "completed", "blocked"}[r.IntN(4)]
		default:
			out[id] = status
		}
	}
	for range r.IntN(3) {
		id := fmt.Sprint("task-", 1+r.IntN(9))
		if _, old := from[id]; !old {
			out[id] = []string{"pending", "completed"}[r.IntN(2)]
		}
	}
	return out
}

func textOf(plan map[string]string, side string, base map[string]string) string {
	var ids []string
	for id := range plan {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var tasks []string
	for _, id := range ids {
		title := "The " + id
		if _, old := base[id]; !old {
			title += " of " + side
		}
		tasks = append(tasks, one(id, title, "status: "+plan[id]))
	}
	if len(tasks) == 0 {
		return "small_version: \"1.0.0\"\ntasks: []\n"
	}
	return planText(tasks...)
}

// statuses are the statuses in a plan, by title.
func statuses(t *testing.T, data []byte) map[string]string {
	t.Helper()
	m := Merge{}
	out := map[string]string{}
	ids := map[string]bool{}
	list := get(m.parseOrNil(small.Plan, data), "tasks")
	for _, task := range items(list) {
		out[text(get(task, "title"))] = text(get(task, "status"))
		ids[idOf(task)] = true
	}
	if len(ids) != len(items(list)) || len(out) != len(items(list)) {
		t.Errorf("two tasks are one:\n%s", data)
	}
	return out
}

// TestNothingCompletedIsLost merges random plans: what a side completed is completed, unless the other side reopened or removed it; what a
// side added is there; merging again with either side changes nothing.
func TestNothingCompletedIsLost(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(gittest.Cases(500, 3000)) {
		r := rand.New(rand.NewPCG(gittest.Seed(seed), 1))
		base := randomPlan(r, nil)
		base = randomPlan(r, base)
		ours, theirs := randomPlan(r, base), randomPlan(r, base)
		before, a, b := textOf(base, "", base), textOf(ours, "main", base), textOf(theirs, "agent-2", base)
		m := merging(small.Plan, before, a, b)
		got, notes, err := m.Plan(nil)
		if err != nil {
			seen["stops"]++
			for id, was := range base {
				o, there := ours[id]
				o2, there2 := theirs[id]
				if there && there2 && o != was && o2 != was && o != o2 && o != "completed" && o2 != "completed" {
					err = nil
				}
			}
			if err != nil {
				t.Fatalf("seed %d: it stops for nothing: %v\n%s\n%s\n%s", seed, err, before, a, b)
			}
			continue
		}
		seen["merged"]++
		seen["renumbered"] += len(notes)
		now := statuses(t, got)
		for _, sides := range [][2]map[string]string{{ours, theirs}, {theirs, ours}} {
			side := map[bool]string{true: "main", false: "agent-2"}[fmt.Sprint(sides[0]) == fmt.Sprint(ours)]
			for id, status := range sides[0] {
				was, old := base[id]
				other, there := sides[1][id]
				title := "The " + id
				if !old {
					if status != now[title+" of main"] && status != now[title+" of agent-2"] {
						t.Errorf("seed %d: the new %s of %s is lost:\n%s", seed, id, side, got)
					}
					continue
				}
				reopened := was == "completed" && (!there || other != "completed")
				if status == "completed" && !reopened && now[title] != "completed" {
					t.Errorf("seed %d: %s is not completed any more:\n%s\n%s\n%s\n=\n%s", seed, id, before, a, b, got)
				}
			}
		}
		for _, side := range []string{a, b} {
			for _, again := range []Merge{merging(small.Plan, side, string(got), side), merging(small.Plan, side, side, string(got)), merging(small.Plan, before, string(got), string(got))} {
				if twice, _, err := again.Plan(nil); err != nil || string(twice) != string(got) {
					t.Errorf("seed %d: merged once more it is another plan: %v\n%s\n%s", seed, err, got, twice)
				}
			}
		}
	}
	if seen["merged"] < 100 || seen["stops"] < 2 || seen["renumbered"] < 15 {
		t.Errorf("the plans are not random enough: %v", seen)
	}
}

// TestPlanOfAnotherRun merges plans of two runs: the same id is another task in each, so only one plan counts, with its handoff.
func TestPlanOfAnotherRun(t *testing.T) {
	run := func(id string) []byte {
		return []byte(workspaceText("2026-03-01T09:00:00.5Z", "run: {replay_id: "+id+"}\n"))
	}
	m := merging(small.Plan, planText(one("task-1", "Read")), planText(one("task-1", "Measure")), planText(one("task-1", "Read", done)))
	m.Bases[0].Files[small.Workspace], m.Ours.Files[small.Workspace], m.Theirs.Files[small.Workspace] = run("a"), run("b"), run("a")
	got, notes, err := m.Plan(run("b"))
	if err != nil || string(got) != planText(one("task-1", "Measure")) || len(notes) != 1 || !strings.Contains(notes[0], "the plan of agent-2 belongs to another run") {
		t.Errorf("%s, %q, %v", got, notes, err)
	}
	if got, _, err = m.Plan(run("a")); err != nil || string(got) != planText(one("task-1", "Read", done)) {
		t.Errorf("the other way round: %s, %v", got, err)
	}
	m.Ours.Files[small.Workspace] = run("a")
	if _, notes, err = m.Plan(run("a")); err != nil || len(notes) > 0 {
		t.Errorf("of one run: %q, %v", notes, err)
	}
}

// TestDuplicates finds two tasks with the same id.
func TestDuplicates(t *testing.T) {
	for text, want := range map[string]bool{
		planText(one("task-1", "Read"), one("task-2", "Read")): false,
		planText(one("task-1", "Read"), one("task-1", "Show")): true,
		"": false,
	} {
		if got := HasDuplicates([]byte(text), small.Limits{}); got != want {
			t.Errorf("%v: %q", got, text)
		}
	}
}
