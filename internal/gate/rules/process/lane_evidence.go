package process

import (
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/wording"
)

// LaneEvidence is lane/evidence: the claimed lane requires entries that the change does not add.
var LaneEvidence = rule.New("lane/evidence", finding.SeverityError, finding.StageHistory, rule.On(checkLaneEvidence))

// checkLaneEvidence requires an entry for each pattern of the lane.
func checkLaneEvidence(s *subject.LaneChange, r *rule.Reporter) {
	var first []subject.LaneEntry
	for _, pattern := range s.Before {
		requireEntry(s, r, pattern, "before the work", func(e subject.LaneEntry) string {
			if inTime(s, e) {
				first = append(first, e)
				return ""
			}
			return "was added after it"
		})
	}
	for _, pattern := range s.After {
		requireEntry(s, r, pattern, "after the work", func(e subject.LaneEntry) string {
			if at := slices.IndexFunc(first, func(b subject.LaneEntry) bool { return addedTogether(s, e, b) && e.Index < b.Index }); at >= 0 {
				return "stands before " + ledger.Describe(first[at].Entry) + ", which must come first"
			}
			return unfollowedCommit(s, e)
		})
	}
}

// requireEntry reports a pattern without a valid entry. problem says what is wrong with one that has evidence.
func requireEntry(s *subject.LaneChange, r *rule.Reporter, pattern, when string, problem func(subject.LaneEntry) string) {
	l := s.Claim.Lane
	f := finding.Finding{Path: s.Log, Fix: recordEntry(s, pattern), Subject: string(l) + " " + when + " " + pattern}
	if late := when == "before the work" && len(workSinceClaim(s)) > 0; late {
		f.Fix = switchCommand(s, l) + "; and " + f.Fix
	}
	found := "this change adds none"
	for _, e := range s.Entries {
		if !policy.MatchTask(pattern, e.TaskID) {
			continue
		}
		wrong := e.EvidenceProblem()
		if wrong == "" {
			if wrong = problem(e); wrong == "" {
				return
			}
			if when == "before the work" {
				f.Fix = switchCommand(s, l)
			}
		}
		if e.Spec != "" {
			f.Fix = fmt.Sprintf("write the file, then `git add -- %s && git commit -m \"Add the spec\"`", wording.ShellWord(e.Spec))
		}
		f.Path, f.Line, f.Column, f.Entry = e.File.Path, e.Pos.Line, e.Pos.Column, finding.RefOf(e.Entry)
		found = ledger.Describe(e.Entry) + " " + wrong
	}
	f.Message = fmt.Sprintf("lane %q requires a %q entry %s; %s", l, pattern, when, found)
	r.Add(f)
}

// inTime reports whether an entry came with or before a commit of the work, or there is none.
func inTime(s *subject.LaneChange, e subject.LaneEntry) bool {
	work := workSinceClaim(s)
	early := withAncestors(s.Commits, work)
	return len(work) == 0 || slices.ContainsFunc(s.AddedBy[e.Digest], func(c string) bool { return early[c] })
}

// workSinceClaim are the commits of the work that do not come before the one that claims the lane, perhaps again:
// a wrong guess may be corrected.
func workSinceClaim(s *subject.LaneChange) map[string]bool {
	claimed := ""
	if own := s.ClaimAt[s.Head]; own.Lane == s.Claim.Lane {
		claimed = own.Commit
	}
	before := withAncestors(s.Commits, map[string]bool{claimed: true})
	out := map[string]bool{}
	for _, w := range s.Work {
		if w.ID == claimed || !before[w.ID] {
			out[w.ID] = true
		}
	}
	return out
}

// unfollowedCommit names a commit of the work that an entry does not come with or after; empty for none.
func unfollowedCommit(s *subject.LaneChange, e subject.LaneEntry) (missed string) {
	for _, c := range s.AddedBy[e.Digest] {
		tried := withAncestors(s.Commits, map[string]bool{c: true})
		at := slices.IndexFunc(s.Work, func(w subject.WorkCommit) bool { return !tried[w.ID] })
		if at < 0 {
			return ""
		}
		missed = fmt.Sprintf("does not follow commit %s, which changes %s", history.Short(s.Work[at].ID), fileList(s.Work[at].Files))
	}
	return missed
}

// addedTogether reports whether one commit added two entries to one log.
func addedTogether(s *subject.LaneChange, a, b subject.LaneEntry) bool {
	return a.File.Path == b.File.Path && slices.ContainsFunc(s.AddedBy[a.Digest], func(c string) bool { return slices.Contains(s.AddedBy[b.Digest], c) })
}

// withAncestors are some commits and their ancestors among commits, which are given parents first.
func withAncestors(commits []history.Commit, from map[string]bool) map[string]bool {
	out := maps.Clone(from)
	for _, c := range slices.Backward(commits) {
		for _, p := range c.Parents {
			out[p] = out[p] || out[c.ID]
		}
	}
	return out
}

// recordEntry says how to append an entry for a task. What was found, only who did it can say.
func recordEntry(s *subject.LaneChange, task string) string {
	evidence := "evidence that says what was found"
	if task == lane.SpecTask {
		evidence = "evidence that names the file (spec-md: spec/import.md)"
	}
	words := "once it is done, record it with small-hook append" + subject.InDirectory(s.Log) + " --task " + wording.ShellWord(task) + " --status completed and " + evidence + ", and commit that"
	if s.Log == "" {
		return makeWorkspace + "; " + words
	}
	return words
}
