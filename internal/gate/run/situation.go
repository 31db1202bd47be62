package run

import (
	"cmp"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// base is the last commit of the first-parent line before a commit joined it, by itself or by a merge.
type base struct {
	id     string
	onLine bool
}

// standings are how far commits have got. To find that out, git walks the history: it is done once, when the first remedy depends on it, and
// never if nothing is wrong.
type standings struct {
	find  func() (history.Standings, error) // nil if nobody else has any commit, and once all are found
	found history.Standings
	// err is why they could not be found.
	err error
}

func (s *standings) all() history.Standings {
	if s.find != nil {
		s.found, s.err = s.find()
		s.find = nil
	}
	return s.found
}

// Situation says who already has a commit, or the index. Only remedies ask for it.
func (r *Run) Situation(commit string) remedy.Situation {
	s := remedy.Situation{
		Commit: commit, Agent: r.Options.Agent != "", NoWaiver: r.Options.Floor.ForbidsWaivers(), NoBaseline: r.Options.Floor.ForbidsBaselines(),
	}
	if history.Uncommitted(commit) {
		s.Against, s.Merge = r.Scope.Against, commit == history.Index && len(r.Scope.Parents) > 1
		return s
	}
	if commit == "" {
		return s
	}
	s.Switch = r.Options.Switch
	standings := r.Collector.standings.all()
	s.Standing, s.Remote = standings.At(commit), standings.Remote
	if s.Standing == history.Own {
		s.Deep = r.Scope.Whole && !r.Learned.nearTip(r.Scope.Tip.ID, commit)
		s.First = func(path string) string { return r.Learned.firstRemade(commit, path) }
	}
	return s
}

// nearTip reports whether a commit is one of the last before a tip, the tip among them.
func (s *Learned) nearTip(tip, commit string) bool {
	if s.near == nil {
		parents := make(map[string][]string, len(s.Commits))
		for _, c := range s.Commits {
			parents[c.ID] = c.Parents
		}
		s.near = map[string]bool{}
		level := []string{tip}
		for range remedy.MostRemade {
			var next []string
			for _, id := range level {
				if !s.near[id] {
					s.near[id] = true
					next = append(next, parents[id]...)
				}
			}
			level = next
		}
	}
	return s.near[commit]
}

// firstRemade is the earliest commit that a fix for the log of a path has named, a commit given here among them.
func (s *Learned) firstRemade(commit, path string) string {
	if s.remade == nil {
		s.remade, s.places = map[string]string{}, map[string]int{}
		for i, c := range history.InOrder(s.Commits) {
			s.places[c.ID] = i
		}
	}
	at, known := s.places[commit]
	first, earlier := s.remade[path]
	if !known || earlier && s.places[first] < at {
		return cmp.Or(first, commit)
	}
	s.remade[path] = commit
	return commit
}

// SituationOf is the Situation of what brought an entry of a revision: a commit, or else the uncommitted files. It names no commit
// if the entry came with a commit that is not judged.
func (r *Run) SituationOf(entry small.Digest, revision string) remedy.Situation {
	revision = cmp.Or(r.Learned.origins[entry], revision, history.Index) // without a revision, the files are a directory's
	if r.Learned.origins[entry] == "" && !history.Uncommitted(revision) {
		revision = ""
	}
	return r.Situation(revision)
}

// baseOf finds where a commit joined the tip's first-parent line.
func (r *Run) baseOf(commit string) base {
	s := r.Learned
	if s.bases != nil {
		return s.bases[commit]
	}
	parents := make(map[string][]string, len(s.Commits))
	for _, c := range s.Commits {
		parents[c.ID] = c.Parents
	}
	var line []string
	for id := r.Scope.Tip.ID; id != ""; id = firstOf(parents[id]) {
		if _, listed := parents[id]; listed {
			line = append(line, id)
		}
	}
	s.bases = map[string]base{}
	for _, id := range slices.Backward(line) {
		at := base{id: firstOf(parents[id])}
		for next := []string{id}; len(next) > 0; next = next[1:] {
			above, listed := parents[next[0]]
			if _, seen := s.bases[next[0]]; listed && !seen {
				s.bases[next[0]] = base{at.id, next[0] == id}
				next = append(next, above...)
			}
		}
	}
	return s.bases[commit]
}

func firstOf(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// maxOrigins bounds the entries whose commits are remembered; it is more than reports draw.
const maxOrigins = 1 << 17

// NoteOrigin notes that entries came with a commit; of equal entries the first counts.
func (s *Learned) NoteOrigin(commit string, entries []ledger.Entry) {
	if s.origins == nil {
		s.origins = map[small.Digest]string{}
	}
	for _, e := range entries {
		if _, known := s.origins[e.Digest]; !known && len(s.origins) < maxOrigins {
			s.origins[e.Digest] = commit
		}
	}
}

// Recorded reports whether a commit brought an entry.
func (s *Learned) Recorded() bool { return len(s.origins) > 0 }

// BranchOf names the branch that brought an entry by the last commit of the first-parent line before it was merged; empty for
// that line itself, and if it is not known.
func (r *Run) BranchOf(entry small.Digest) string {
	commit := r.Learned.origins[entry]
	if commit == "" {
		return ""
	}
	at := r.baseOf(commit)
	if at.onLine {
		return ""
	}
	return at.id
}
