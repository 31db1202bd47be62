package run

import (
	"cmp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// joinPoint says where a commit joined the first-parent line of the tip, by itself or by a merge: id is the commit of the line before that.
// onLine is true if the commit itself is on the line.
type joinPoint struct {
	id     string
	onLine bool
}

// standings finds out how far commits have got. git walks the history for that, so it is done once, for the first remedy that depends on it. If
// nothing is wrong, it is never done.
type standings struct {
	find  func() (history.Standings, error) // nil if nobody else has any commit, and after it was called
	found history.Standings
	// err says why find failed.
	err error
}

func (s *standings) get() history.Standings {
	if s.find != nil {
		s.found, s.err = s.find()
		s.find = nil
	}
	return s.found
}

// Situation returns what a remedy depends on: what is to be undone, the index or a commit, and who has it already. Only remedies ask for it.
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
	standings := r.Collector.standings.get()
	s.Standing, s.Remote, s.Last = standings.At(commit), standings.Remote, commit == standings.Head
	if s.Standing == history.Own {
		s.Deep = r.Scope.Whole && !r.Learned.isNearTip(r.Scope.Tip.ID, commit)
		s.Mend = func(path string, files []string) string { return r.Learned.mend(commit, path, files) }
	}
	return s
}

// isNearTip reports whether a commit is one of the last commits up to a tip: at most remedy.MostRemade generations of them.
func (s *Learned) isNearTip(tip, commit string) bool {
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

// mend is the command that mends a commit. It is noted: see joinMends.
func (s *Learned) mend(commit, path string, files []string) string {
	if len(files) == 0 {
		commit = s.earliestNamed(commit, path)
	}
	command := remedy.Mend(path, commit, files...)
	if s.mends == nil {
		s.mends = map[string]mend{}
	}
	s.mends[command] = mend{path, commit, files}
	return command
}

// joinMends has all fixes that mend commits name one command, since each one by itself would replace commits that the next one names.
func (r *Run) joinMends() {
	s := r.Learned
	var commands, paths, files []string
	first := ""
	for _, f := range r.Collector.Report.Findings {
		for command, m := range s.mends {
			if slices.Contains(commands, command) || !strings.Contains(f.Fix, wording.Commands(command)) {
				continue
			}
			commands = append(commands, command)
			if len(m.files) == 0 {
				paths = append(paths, m.path)
			}
			files = append(files, m.files...)
			if first == "" || s.place(m.commit) < s.place(first) {
				first = m.commit
			}
		}
	}
	if len(commands) < 2 {
		return
	}
	slices.Sort(paths)
	slices.Sort(files)
	joined := remedy.MendAll(slices.Compact(paths), first, slices.Compact(files)...)
	if joined == "" {
		return
	}
	for i := range r.Collector.Report.Findings {
		f := &r.Collector.Report.Findings[i]
		for _, command := range commands {
			f.Fix = strings.ReplaceAll(f.Fix, wording.Commands(command), wording.Commands(joined))
		}
	}
}

// place says at which place in the order of judging a commit comes.
func (s *Learned) place(commit string) int {
	if s.places == nil {
		s.places = map[string]int{}
		for i, c := range history.InOrder(s.Commits) {
			s.places[c.ID] = i
		}
	}
	if at, known := s.places[commit]; known {
		return at
	}
	return len(s.places)
}

// earliestNamed notes that a fix for a log names a commit, and returns the earliest commit that a fix for this log has named. All these fixes
// can then name the same commit.
func (s *Learned) earliestNamed(commit, path string) string {
	if s.firstNamed == nil {
		s.firstNamed = map[string]string{}
	}
	at := s.place(commit)
	first, earlier := s.firstNamed[path]
	if at == len(s.places) || earlier && s.places[first] < at {
		return cmp.Or(first, commit)
	}
	s.firstNamed[path] = commit
	return commit
}

// SituationOf returns the situation of the commit that brought an entry of a revision, or of the uncommitted files. It names no commit if the
// entry came with a commit that is not judged.
func (r *Run) SituationOf(entry small.Digest, revision string) remedy.Situation {
	revision = cmp.Or(r.Learned.origins[entry], revision, history.Index) // a checked directory has no revision
	if r.Learned.origins[entry] == "" && !history.Uncommitted(revision) {
		revision = ""
	}
	return r.Situation(revision)
}

// findJoinPoint finds where a commit joined the first-parent line of the tip.
func (r *Run) findJoinPoint(commit string) joinPoint {
	s := r.Learned
	if s.joins != nil {
		return s.joins[commit]
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
	s.joins = map[string]joinPoint{}
	for _, id := range slices.Backward(line) {
		at := joinPoint{id: firstOf(parents[id])}
		for next := []string{id}; len(next) > 0; next = next[1:] {
			above, listed := parents[next[0]]
			if _, seen := s.joins[next[0]]; listed && !seen {
				s.joins[next[0]] = joinPoint{at.id, next[0] == id}
				next = append(next, above...)
			}
		}
	}
	return s.joins[commit]
}

func firstOf(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// maxOrigins is how many entries have their commits remembered. Reports draw fewer.
const maxOrigins = 1 << 17

// NoteOrigin notes that a commit brought entries. If it brings an entry equal to an earlier one, the earlier commit stays noted.
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

// Recorded reports whether any judged commit brought an entry.
func (s *Learned) Recorded() bool { return len(s.origins) > 0 }

// BranchOf says from which branch an entry came. A branch is named by the last commit of the tip's first-parent line before the branch was
// merged. The result is empty if the entry came on that line itself, or if that is not known.
func (r *Run) BranchOf(entry small.Digest) string {
	commit := r.Learned.origins[entry]
	if commit == "" {
		return ""
	}
	at := r.findJoinPoint(commit)
	if at.onLine {
		return ""
	}
	return at.id
}
