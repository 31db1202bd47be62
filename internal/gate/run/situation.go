package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// standings finds out who has commits besides this clone, and whether they have landed. git walks the history for that, so it is done once, for the
// first remedy that depends on it. If nothing is wrong, it is never done.
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

// Situation returns what a remedy depends on: whether the index or a commit is to be undone, and who already has that commit. Only remedies need it.
func (r *Run) Situation(commit string) remedy.Situation {
	s := remedy.Situation{
		Commit: commit, Agent: r.Options.Agent != "",
		NoWaiver: r.Options.Floor.ForbidsWaivers(), NoBaseline: r.Options.Floor.ForbidsBaselines(), NoSince: r.Options.Floor.ForbidsSince(),
	}
	if history.Uncommitted(commit) {
		s.Against, s.Merge = r.Scope.Against, commit == history.Index && len(r.Scope.Parents) > 1
		return s
	}
	if commit == "" {
		return s
	}
	standings := r.Collector.standings.get()
	s.Elsewhere = standings.Elsewhere
	s.Standing, s.Remote, s.Last = standings.At(commit), standings.Remote, commit == standings.Head
	if s.Standing == history.Own || s.Standing == history.Published {
		s.Deep = s.Standing == history.Own && r.Scope.Whole && !r.Learned.isNearTip(r.Scope.Tip.ID, commit)
		s.Mend = func(path string, files []string) string {
			return r.Learned.mendCommand(s.Standing, commit, path, files)
		}
	}
	return s
}

// OnBranch returns the fix that runs commands on the judged branch: see [remedy.OnBranch].
func (r *Run) OnBranch(commands ...string) string {
	return remedy.OnBranch(r.Collector.standings.get().Elsewhere, commands...)
}

// isNearTip reports whether a commit is one of the last commits up to a tip: at most remedy.MostRemade generations of them.
func (s *Learned) isNearTip(tip, commit string) bool {
	if s.nearTip == nil {
		parents := make(map[string][]string, len(s.Commits))
		for _, c := range s.Commits {
			parents[c.ID] = c.Parents
		}
		s.nearTip = map[string]bool{}
		generation := []string{tip}
		for range remedy.MostRemade {
			var next []string
			for _, id := range generation {
				if !s.nearTip[id] {
					s.nearTip[id] = true
					next = append(next, parents[id]...)
				}
			}
			generation = next
		}
	}
	return s.nearTip[commit]
}

// mendCommand returns the command that mends a commit of some standing, and notes it for joinMends.
func (s *Learned) mendCommand(standing history.Standing, commit, path string, files []string) string {
	if len(files) == 0 {
		commit = s.earliestNamed(standing, commit, path)
	}
	command := remedy.MendCommand(standing, remedy.Mend(path, commit, files...))
	if s.mends == nil {
		s.mends = map[string]mend{}
	}
	s.mends[command] = mend{standing, path, commit, files}
	return command
}

// joinMends replaces the different commands that fixes name to mend commits of one standing by one command.
func (r *Run) joinMends(standing history.Standing) {
	s := r.Learned
	var paths, files []string
	named, first := map[string]bool{}, ""
	for _, f := range r.Collector.Report.Findings {
		for _, command := range wording.SplitCommands(f.Fix) {
			m, mends := s.mends[command]
			if !mends || m.standing != standing || named[command] {
				continue
			}
			named[command] = true
			if len(m.files) == 0 {
				paths = append(paths, m.path)
			}
			files = append(files, m.files...)
			if first == "" || s.placeOf(m.commit) < s.placeOf(first) {
				first = m.commit
			}
		}
	}
	if len(named) < 2 {
		return
	}
	slices.Sort(paths)
	slices.Sort(files)
	joined := remedy.MendAll(slices.Compact(paths), first, slices.Compact(files)...)
	if joined == "" {
		return
	}
	joined = remedy.MendCommand(standing, joined)
	for i := range r.Collector.Report.Findings {
		f := &r.Collector.Report.Findings[i]
		parts := wording.SplitCommands(f.Fix)
		for k, command := range parts {
			if named[command] {
				parts[k] = joined
			}
		}
		f.Fix = wording.JoinCommands(parts)
	}
}

// placeOf returns the place of a commit in the order of judging; commits that are not judged come last.
func (s *Learned) placeOf(commit string) int {
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

// JudgesCommit reports whether one of the commits to be judged has an id that begins with a text of at least one hex digit.
func (s *Learned) JudgesCommit(beginning string) bool {
	if s.sortedIDs == nil {
		for _, c := range s.Commits {
			s.sortedIDs = append(s.sortedIDs, c.ID)
		}
		slices.Sort(s.sortedIDs)
	}
	i, _ := slices.BinarySearch(s.sortedIDs, beginning)
	return i < len(s.sortedIDs) && strings.HasPrefix(s.sortedIDs[i], beginning)
}

// earliestNamed notes that a fix for a log names a commit, and returns the earliest commit that a fix for this log has named. All these fixes
// can then name the same commit.
func (s *Learned) earliestNamed(standing history.Standing, commit, path string) string {
	if s.firstNamed == nil {
		s.firstNamed = map[string]string{}
	}
	at, key := s.placeOf(commit), fmt.Sprint(standing, path)
	first, earlier := s.firstNamed[key]
	if at == len(s.places) || earlier && s.places[first] < at {
		return cmp.Or(first, commit)
	}
	s.firstNamed[key] = commit
	return commit
}

// SituationOf returns the situation of the commit that brought an entry of a revision, or of the uncommitted files. It names no commit if the
// entry came with a commit that is not judged.
func (r *Run) SituationOf(entry small.Digest, revision string) remedy.Situation {
	return r.situationIn(r.Learned.origins[entry], revision)
}

// SituationOfCopy is SituationOf for an entry that a log has twice: the commit is the last one that brought it again.
func (r *Run) SituationOfCopy(entry small.Digest, revision string) remedy.Situation {
	return r.situationIn(cmp.Or(r.Learned.copies[entry], r.Learned.origins[entry]), revision)
}

func (r *Run) situationIn(commit, revision string) remedy.Situation {
	revision = cmp.Or(commit, revision, history.Index) // a checked directory has no revision
	if commit == "" && !history.Uncommitted(revision) {
		revision = ""
	}
	return r.Situation(revision)
}

// maxOrigins is the largest number of entries whose commits are remembered. Reports draw fewer.
const maxOrigins = 1 << 17

// NoteOrigin notes that a commit brought entries. If it brings an entry equal to an earlier one, the earlier commit stays noted.
func (s *Learned) NoteOrigin(commit string, entries []ledger.Entry) {
	if s.origins == nil {
		s.origins, s.copies = map[small.Digest]string{}, map[small.Digest]string{}
	}
	for _, e := range entries {
		if _, known := s.origins[e.Digest]; known {
			s.copies[e.Digest] = commit
		} else if len(s.origins) < maxOrigins {
			s.origins[e.Digest] = commit
		}
	}
}

// BroughtEntries reports whether any judged commit brought an entry.
func (s *Learned) BroughtEntries() bool { return len(s.origins) > 0 }

// BranchOf says from which branch an entry came. A branch is named by the last commit of the tip's first-parent line before the branch was
// merged. The result is empty if the entry came on that line itself, or if that is not known.
func (r *Run) BranchOf(entry small.Digest) string {
	s := r.Learned
	commit := s.origins[entry]
	if commit == "" {
		return ""
	}
	if s.broughtBy == nil {
		s.line = history.FirstParentLine(s.Commits, r.Scope.Tip.ID)
		s.broughtBy = history.BroughtBy(s.line, s.Commits)
	}
	at, known := s.broughtBy[commit]
	if !known || s.line[at].ID == commit {
		return ""
	}
	return history.FirstOf(s.line[at].Parents)
}
