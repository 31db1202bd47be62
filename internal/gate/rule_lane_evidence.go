package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

var ruleLaneEvidence = Rule{
	ID: "lane/evidence", Severity: SeverityError, Stage: StageHistory,
	Lane: checkLaneEvidence,
}

// checkLaneEvidence wants an entry for each pattern that the lane asks for.
func checkLaneEvidence(v *laneView, r *reporter) {
	var first []laneEntry
	for _, pattern := range v.before {
		v.demand(r, pattern, "before the work", func(e laneEntry) string {
			if v.inTime(e) {
				first = append(first, e)
				return ""
			}
			return "was added after it"
		})
	}
	for _, pattern := range v.after {
		v.demand(r, pattern, "after the work", func(e laneEntry) string {
			if at := slices.IndexFunc(first, func(b laneEntry) bool { return v.together(e, b) && e.Index < b.Index }); at >= 0 {
				return "stands before " + entryWords(first[at].Entry) + ", which was to come first"
			}
			return v.misses(e)
		})
	}
}

// demand reports a pattern for which no entry is as it should be. problem says what
// is wrong with one that has evidence.
func (v *laneView) demand(r *reporter, pattern, when string, problem func(laneEntry) string) {
	l := v.state.claim.Lane
	f := Finding{Path: v.log, Fix: v.record(pattern), subject: string(l) + " " + when + " " + pattern}
	found := "this change adds none"
	for _, e := range v.state.entries {
		if !policy.MatchTask(pattern, e.TaskID) {
			continue
		}
		wrong := cmp.Or(e.lacks(), v.specs[e.Digest])
		if wrong == "" {
			if wrong = problem(e); wrong == "" {
				return
			}
			if when == "before the work" {
				f.Fix = v.goOn(l)
			}
		}
		f.Path, f.Line, f.Column, f.Entry = e.path, e.Pos.Line, e.Pos.Column, refOf(e.Entry)
		found = entryWords(e.Entry) + " " + wrong
	}
	f.Message = fmt.Sprintf("lane %q requires a %q entry %s; %s", l, pattern, when, found)
	r.add(f)
}

// inTime reports whether an entry came with or before a commit of the work, or did
// not have to.
func (v *laneView) inTime(e laneEntry) bool {
	work := map[string]bool{}
	for _, w := range v.work {
		work[w.id] = true
	}
	early := withAncestors(v.state.commits, work)
	return len(work) == 0 || v.state.recorded || len(v.state.switches) > 0 ||
		slices.ContainsFunc(v.brought[e.Digest], func(c string) bool { return early[c] })
}

// misses names a commit of the work that an entry does not come with or after; empty
// for none.
func (v *laneView) misses(e laneEntry) (missed string) {
	for _, c := range v.brought[e.Digest] {
		tried := withAncestors(v.state.commits, map[string]bool{c: true})
		at := slices.IndexFunc(v.work, func(w workCommit) bool { return !tried[w.id] })
		if at < 0 {
			return ""
		}
		missed = fmt.Sprintf("does not follow commit %s, which changes %s", short(v.work[at].id), fileList(v.work[at].files))
	}
	return missed
}

// together reports whether one commit added two entries to one log.
func (v *laneView) together(a, b laneEntry) bool {
	return a.path == b.path && slices.ContainsFunc(v.brought[a.Digest], func(c string) bool { return slices.Contains(v.brought[b.Digest], c) })
}

// withAncestors are some commits and those that they follow, as far as they are
// among commits, which are given parents first.
func withAncestors(commits []Commit, from map[string]bool) map[string]bool {
	out := maps.Clone(from)
	for _, c := range slices.Backward(commits) {
		for _, p := range c.Parents {
			out[p] = out[p] || out[c.ID]
		}
	}
	return out
}

// record says how to append an entry for a task.
func (v *laneView) record(task string) string {
	dir, _ := small.WorkspaceOf(v.log)
	command, in, evidence := "", "", "what was found"
	if v.log == "" {
		command = "lanes above fast need a workspace: `small init --intent \"what it is for\"`, then "
	}
	if dir != "" {
		in = " --dir " + shellQuote(dir)
	}
	if task == lane.SpecTask {
		evidence = "spec-md: PATH"
	}
	command += fmt.Sprintf("`small progress add%s --task %s --status completed --evidence %q`, then ", in, shellQuote(task), evidence)
	return command + commitWorkspace(dir, "Record "+task)
}
