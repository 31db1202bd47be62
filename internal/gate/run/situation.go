package run

import (
	"cmp"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// base is the last commit of a first-parent line before a commit came to it, by itself or by a merge.
type base struct {
	id     string
	onLine bool
}

// Situation is where a commit, or the index, stands.
func (r *Run) Situation(commit string) subject.Situation {
	s := subject.Situation{Commit: commit}
	if history.Uncommitted(commit) {
		s.Reverting, s.Against = r.Options.Reverting, r.Scope.Against
		return s
	}
	if r.Options.Standing != nil {
		var err error
		s.Standing, err = r.Options.Standing(commit)
		r.Collector.err = cmp.Or(r.Collector.err, err)
	}
	s.Remote = r.remote
	return s
}

func (r *Run) remote() history.Remote {
	if r.Options.Remote == nil {
		return history.Remote{}
	}
	out, err := r.Options.Remote()
	r.Collector.err = cmp.Or(r.Collector.err, err)
	return out
}

// SituationOf is that of what brought an entry of a revision: a commit, or else the files that are not committed. It is the zero Situation
// if the entry came with a commit that is not judged.
func (r *Run) SituationOf(entry small.Digest, revision string) subject.Situation {
	revision = cmp.Or(r.Scope.origins[entry], revision, history.Index) // without a revision, of the files of a directory
	if r.Scope.origins[entry] == "" && !history.Uncommitted(revision) {
		return subject.Situation{}
	}
	return r.Situation(revision)
}

// baseOf finds where a commit came to the tip's first-parent line.
func (s *Scope) baseOf(commit string) base {
	if s.bases != nil {
		return s.bases[commit]
	}
	parents := make(map[string][]string, len(s.Commits))
	for _, c := range s.Commits {
		parents[c.ID] = c.Parents
	}
	var line []string
	for id := s.Tip.ID; id != ""; id = firstOf(parents[id]) {
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
func (s *Scope) NoteOrigin(commit string, entries []ledger.Entry) {
	if s.origins == nil {
		s.origins = map[small.Digest]string{}
	}
	for _, e := range entries {
		if _, known := s.origins[e.Digest]; !known && len(s.origins) < maxOrigins {
			s.origins[e.Digest] = commit
		}
	}
}

// BranchOf names the branch by which an entry came: by the last commit of the first-parent line before it was merged; empty for
// that line itself, and if it is not known.
func (s *Scope) BranchOf(entry small.Digest) string {
	commit := s.origins[entry]
	if commit == "" {
		return ""
	}
	at := s.baseOf(commit)
	if at.onLine {
		return ""
	}
	return at.id
}
