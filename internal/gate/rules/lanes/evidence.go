package lanes

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// checkLaneEvidence requires an entry for each pattern of the lane, unless the change touches only documents.
func checkLaneEvidence(ctx context.Context, s *laneChange, r *rule.Reporter) error {
	before, after := s.Rigour.Before, s.Rigour.After
	if settings(s.run).QAAfterMerge {
		after = nil
	}
	if !s.Claim.Made() || !s.Complete || len(before)+len(after) == 0 {
		return nil
	}
	documents, err := changesOnlyDocuments(ctx, s.run, s)
	if err != nil || documents {
		return err
	}
	if s.work, err = listWork(ctx, s.run, s.Commits); err != nil {
		return err
	}
	if err := findAddedBy(ctx, s.run, s); err != nil {
		return err
	}
	if err := checkSpecs(ctx, s.run, s); err != nil {
		return err
	}
	var first []laneEntry
	for _, pattern := range before {
		requireEntry(s, r, pattern, "before the work", func(e laneEntry) string {
			if inTime(s, e) {
				first = append(first, e)
				return ""
			}
			return "was added after it"
		})
	}
	for _, pattern := range after {
		requireEntry(s, r, pattern, "after the work", func(e laneEntry) string {
			if at := slices.IndexFunc(first, func(b laneEntry) bool { return addedTogether(s, e, b) && e.Index < b.Index }); at >= 0 {
				return "stands before " + ledger.Describe(first[at].Entry) + ", which must come first"
			}
			return unfollowedCommit(s, e)
		})
	}
	return nil
}

// requireEntry reports a pattern without a valid entry. problem says what is wrong with an entry that has evidence; empty if it is valid.
func requireEntry(s *laneChange, r *rule.Reporter, pattern, when string, problem func(laneEntry) string) {
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
		wrong := e.evidenceProblem()
		if wrong == "" {
			if wrong = problem(e); wrong == "" {
				return
			}
			if when == "before the work" {
				f.Fix = switchCommand(s, l)
			}
		}
		if e.Spec != "" {
			f.Fix = fmt.Sprintf("write the file, then `git add -- %s && git commit -m \"Add the spec\"`", wording.TopPath(e.Spec))
		}
		f.Path, f.Line, f.Column, f.Entry = e.File.Path, e.Pos.Line, e.Pos.Column, finding.RefOf(e.Entry)
		found = ledger.Describe(e.Entry) + " " + wrong
	}
	f.Message = fmt.Sprintf("lane %q requires a %q entry %s; %s", l, pattern, when, found)
	r.Add(f)
}

// inTime reports whether an entry was added in or before a commit of the work, or there is no such commit.
func inTime(s *laneChange, e laneEntry) bool {
	work := workSinceClaim(s)
	early := withAncestors(s.Commits, work)
	return len(work) == 0 || slices.ContainsFunc(s.AddedBy[e.Digest], func(c string) bool { return early[c] })
}

// workSinceClaim returns the commits of the work, without those before the commit that claims the lane: a wrong claim may
// be corrected.
func workSinceClaim(s *laneChange) map[string]bool {
	claimed := ""
	if own := s.ClaimAt[s.Head]; own.Lane == s.Claim.Lane {
		claimed = own.Commit
	}
	before := withAncestors(s.Commits, map[string]bool{claimed: true})
	out := map[string]bool{}
	for _, w := range s.work {
		if w.ID == claimed || !before[w.ID] {
			out[w.ID] = true
		}
	}
	return out
}

// unfollowedCommit says which commit of the work is neither the one that adds an entry nor an ancestor of it; empty if there is none.
func unfollowedCommit(s *laneChange, e laneEntry) (missed string) {
	for _, c := range s.AddedBy[e.Digest] {
		tried := withAncestors(s.Commits, map[string]bool{c: true})
		at := slices.IndexFunc(s.work, func(w workCommit) bool { return !tried[w.ID] })
		if at < 0 {
			return ""
		}
		missed = fmt.Sprintf("does not follow commit %s, which changes %s", history.Short(s.work[at].ID), fileList(s.work[at].Files))
	}
	return missed
}

// addedTogether reports whether one commit added two entries to one log.
func addedTogether(s *laneChange, a, b laneEntry) bool {
	return a.File.Path == b.File.Path && slices.ContainsFunc(s.AddedBy[a.Digest], func(c string) bool { return slices.Contains(s.AddedBy[b.Digest], c) })
}

// withAncestors returns the commits in from and their ancestors. commits has parents before children.
func withAncestors(commits []history.Commit, from map[string]bool) map[string]bool {
	out := maps.Clone(from)
	for _, c := range slices.Backward(commits) {
		for _, p := range c.Parents {
			out[p] = out[p] || out[c.ID]
		}
	}
	return out
}

// recordEntry returns the fix that appends an entry for a task. It leaves the evidence to whoever did the task.
func recordEntry(s *laneChange, task string) string {
	evidence := "evidence that says what was found"
	if task == lane.SpecTask {
		evidence = "evidence that names the file (spec-md: spec/import.md)"
	}
	words := "once it is done, record it with small-hook append" + remedy.InDirectory(s.Log) + " --task " + wording.ShellWord(task) + " --status completed and " + evidence + ", and commit that"
	if s.Log == "" {
		return makeWorkspace + "; " + words
	}
	return words
}

// listWork returns the commits, without merges, that change a file of the work.
func listWork(ctx context.Context, r *run.Run, commits []history.Commit) ([]workCommit, error) {
	var out []workCommit
	for _, c := range commits {
		if len(c.Parents) > 1 {
			continue
		}
		changes, err := r.Source.History.Diff(ctx, history.EdgesOf(c.ID, c.Parents), history.Filter{All: true})
		if err != nil {
			return nil, err
		}
		w := workCommit{ID: c.ID}
		for _, change := range changes[0] {
			if isWork(r, change) {
				w.Files = append(w.Files, change.Path)
			}
		}
		if len(w.Files) > 0 {
			out = append(out, w)
		}
	}
	return out, nil
}

// checkSpecs sets SpecProblem for entries for a spec that do not name a file of the head, relative to the repository's root or
// to the workspace's directory.
func checkSpecs(ctx context.Context, r *run.Run, s *laneChange) error {
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.TaskID != lane.SpecTask {
			continue
		}
		evidence, err := evidenceOf(ctx, r, *e)
		if err != nil {
			return err
		}
		name := lane.SpecFile(evidence)
		if name == "" {
			e.SpecProblem = "names no spec-md file"
			continue
		}
		dir, _ := small.WorkspaceOf(e.File.Path)
		paths := slices.DeleteFunc([]string{path.Clean(name), path.Join(dir, name)}, func(p string) bool { return !lane.IsBelow(p) })
		if len(paths) == 0 {
			e.SpecProblem = fmt.Sprintf("names the spec-md file %q, which cannot be a file of the repository", name)
			continue
		}
		files, err := r.Source.History.List(ctx, s.Head, history.At(paths...))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(files, history.File.Regular) {
			e.SpecProblem, e.Spec = fmt.Sprintf("names the spec-md file %q, which is not there", name), paths[0]
		}
	}
	return nil
}
