package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
)

var ruleLaneEvidence = Rule{
	ID: "lane/evidence", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkLaneEvidence)},
}

// checkLaneEvidence wants an entry for each pattern that the lane asks for.
func checkLaneEvidence(s *LaneChange, r *Reporter) {
	var first []laneEntry
	for _, pattern := range s.before {
		demand(s, r, pattern, "before the work", func(e laneEntry) string {
			if inTime(s, e) {
				first = append(first, e)
				return ""
			}
			return "was added after it"
		})
	}
	for _, pattern := range s.after {
		demand(s, r, pattern, "after the work", func(e laneEntry) string {
			if at := slices.IndexFunc(first, func(b laneEntry) bool { return together(s, e, b) && e.Index < b.Index }); at >= 0 {
				return "stands before " + entryWords(first[at].Entry) + ", which was to come first"
			}
			return misses(s, e)
		})
	}
}

// demand reports a pattern for which no entry is as it should be. problem says what
// is wrong with one that has evidence.
func demand(s *LaneChange, r *Reporter, pattern, when string, problem func(laneEntry) string) {
	l := s.claim.Lane
	f := Finding{Path: s.log, Fix: recordCommand(s, pattern), subject: string(l) + " " + when + " " + pattern}
	if late := when == "before the work" && len(workSinceClaim(s)) > 0; late {
		f.Fix = switchCommand(s, l) + "; and " + f.Fix
	}
	found := "this change adds none"
	for _, e := range s.entries {
		if !policy.MatchTask(pattern, e.TaskID) {
			continue
		}
		wrong := e.lacks()
		if wrong == "" {
			if wrong = problem(e); wrong == "" {
				return
			}
			if when == "before the work" {
				f.Fix = switchCommand(s, l)
			}
		}
		if e.spec != "" {
			f.Fix = fmt.Sprintf("write the file, then `git add -- %s && git commit -m \"Add the spec\"`", shellQuote(e.spec))
		}
		f.Path, f.Line, f.Column, f.Entry = e.file.Path, e.Pos.Line, e.Pos.Column, refOf(e.Entry)
		found = entryWords(e.Entry) + " " + wrong
	}
	f.Message = fmt.Sprintf("lane %q requires a %q entry %s; %s", l, pattern, when, found)
	r.Add(f)
}

// inTime reports whether an entry came with or before a commit of the work, or did
// not need to.
func inTime(s *LaneChange, e laneEntry) bool {
	work := workSinceClaim(s)
	early := withAncestors(s.commits, work)
	return len(work) == 0 || slices.ContainsFunc(s.brought[e.Digest], func(c string) bool { return early[c] })
}

// workSinceClaim are the commits of the work that do not come before the one that
// claims the lane, be it anew: a wrong guess is mended when it is noticed.
func workSinceClaim(s *LaneChange) map[string]bool {
	claimed := ""
	if own := s.at[s.head]; own.Lane == s.claim.Lane {
		claimed = own.Commit
	}
	before := withAncestors(s.commits, map[string]bool{claimed: true})
	out := map[string]bool{}
	for _, w := range s.work {
		if w.id == claimed || !before[w.id] {
			out[w.id] = true
		}
	}
	return out
}

// misses names a commit of the work that an entry does not come with or after; empty
// for none.
func misses(s *LaneChange, e laneEntry) (missed string) {
	for _, c := range s.brought[e.Digest] {
		tried := withAncestors(s.commits, map[string]bool{c: true})
		at := slices.IndexFunc(s.work, func(w workCommit) bool { return !tried[w.id] })
		if at < 0 {
			return ""
		}
		missed = fmt.Sprintf("does not follow commit %s, which changes %s", short(s.work[at].id), fileList(s.work[at].files))
	}
	return missed
}

// together reports whether one commit added two entries to one log.
func together(s *LaneChange, a, b laneEntry) bool {
	return a.file.Path == b.file.Path && slices.ContainsFunc(s.brought[a.Digest], func(c string) bool { return slices.Contains(s.brought[b.Digest], c) })
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

// recordCommand says how to append an entry for a task.
func recordCommand(s *LaneChange, task string) string {
	evidence := "what was found"
	if task == lane.SpecTask {
		evidence = "spec-md: PATH"
	}
	return inWorkspace(s, "small progress add", "--dir", fmt.Sprintf("--task %s --status completed --evidence %q", shellQuote(task), evidence), "Record "+task)
}
