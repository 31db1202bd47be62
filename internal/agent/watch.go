package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/agent/harness"
	agentnotes "github.com/small-gate/small-gate/internal/agent/notes"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// watchMode is the mode of the reports.
const watchMode = "agent-hook"

// watch is one event in one work tree.
type watch struct {
	event harness.Event
	// id is the harness's name and the session's id.
	id  string
	now time.Time
	// seen are the roots of the work trees that were judged.
	seen map[string]bool

	// top is the root of the work tree.
	top   string
	notes *agentnotes.Notes
	// begun is top if a session begins and there is something to judge; else empty.
	begun string
	// look is the state of the work tree. base is the commit of the branch after which commits are judged; empty for none.
	look agentnotes.Look
	base string
	// more are the roots of other work trees that the session uses in this repository.
	more []string
	// changed is true if the notes have to be saved.
	changed bool
}

// worst returns the first watch whose look is not clean, or else the last one: a work tree is noted as clean only if it passes under the configuration
// and under the floor.
func worst(watches []*watch) watch {
	var w watch
	for _, look := range watches {
		if w = *look; !w.look.Clean {
			break
		}
	}
	return w
}

// save saves the notes if they changed.
func (w *watch) save() error {
	if !w.changed {
		return nil
	}
	return w.notes.Save()
}

func (w *watch) judge(ctx context.Context, s *session.Session) (*finding.Report, error) {
	place := s.Repo.Where()
	if w.top = place.Top; w.top == "" || w.seen[w.top] {
		return run.EmptyReport(s.Opts), nil
	}
	var err error
	if w.notes, err = agentnotes.Read(agentnotes.In(place.GitDir)); err != nil {
		return nil, err
	}
	if err := w.readHead(ctx, s); err != nil {
		return nil, err
	}
	if w.event.Moment == harness.Tool {
		if same, err := w.isUnchanged(place.GitDir); err != nil || same {
			return run.EmptyReport(s.Opts), err
		}
	}
	if err := w.begin(ctx, s); err != nil {
		return nil, err
	}
	if w.event.Moment == harness.Start {
		if err := w.trust(ctx, s); err != nil {
			return nil, err
		}
		files, err := s.Repo.List(ctx, history.Index, history.Judged(s.Opts.Policy))
		if len(files) > 0 {
			w.begun = w.top
		}
		w.changed = true
		report := run.EmptyReport(s.Opts)
		if err == nil {
			report.Hidden, err = s.HiddenLogs(ctx)
		}
		return report, err
	}
	report, err := w.judgeAll(ctx, s)
	if err != nil || report.Verdict == finding.Error {
		return report, err
	}
	w.changed = true
	if w.event.Moment == harness.Stop {
		if report.Hidden, err = s.HiddenLogs(ctx); err == nil {
			w.more, err = w.otherTrees(place)
		}
	}
	return report, err
}

// readHead finds the branch and the commits that the work tree is based on.
func (w *watch) readHead(ctx context.Context, s *session.Session) error {
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return err
	}
	if w.look.Parents, err = s.ParentsOfNextCommit(ctx, head, nil); err != nil {
		return err
	}
	w.look.Branch, err = s.Repo.CurrentBranch(ctx)
	return err
}

// head returns HEAD's commit; empty if there is none.
func (w *watch) head() string { return history.FirstOf(w.look.Parents) }

// isUnchanged reports whether the work tree looks the same as when it was last judged without a finding. It compares sizes, modes and times; a changed
// file with its old size and time is found at the end of the turn.
func (w *watch) isUnchanged(gitDir string) (bool, error) {
	last := w.notes.Look
	if last == nil || !last.Clean || last.Branch != w.look.Branch || !slices.Equal(last.Parents, w.look.Parents) {
		return false, nil
	}
	now, err := w.stats(gitDir, slices.Collect(maps.Keys(last.Files)))
	return maps.Equal(now, last.Files), err
}

// indexKey is the key of the index among the paths of files.
const indexKey = ":index"

// stats returns the states of the index and of files.
func (w *watch) stats(gitDir string, paths []string) (map[string]agentnotes.Stat, error) {
	out := map[string]agentnotes.Stat{}
	for _, path := range append(paths, indexKey) {
		name := filepath.Join(w.top, filepath.FromSlash(path))
		if path == indexKey {
			name = filepath.Join(gitDir, "index")
		}
		var err error
		if out[path], err = agentnotes.StatOf(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// begin notes the tips of all branches when a session begins, so that only later commits are judged. Tips that are noted already stay: a session may
// begin in the middle of work. For a branch that a known session makes, none is noted.
func (w *watch) begin(ctx context.Context, s *session.Session) error {
	trusted := w.head()
	if w.event.Session == "" {
		trusted = "" // an event without an id may belong to any session
	}
	place := s.Repo.Where()
	if err := w.copyNotesFromOtherTree(place); err != nil {
		return err
	}
	trees, err := agentnotes.TreesIn(place.CommonDir)
	if err != nil {
		return errListingTrees(err)
	}
	known := w.notes.NoteSession(w.id, trusted, trees, w.now)
	if w.notes.Begun() && (known || w.event.Moment != harness.Start) {
		return nil
	}
	tips, err := githistory.Branches(ctx, s.Repo, "refs/heads/")
	if err != nil {
		return err
	}
	if !w.notes.Begun() {
		w.notes.Branches = map[string]string{}
	}
	for name, tip := range tips {
		if _, noted := w.notes.Branches[name]; !noted {
			w.notes.Branches[name] = tip
		}
	}
	return nil
}

// judgeAll judges the files of the work tree and, at the end of a turn or if HEAD has moved, the new commits.
func (w *watch) judgeAll(ctx context.Context, s *session.Session) (*finding.Report, error) {
	if err := w.trust(ctx, s); err != nil {
		return nil, err
	}
	files, err := s.Repo.List(ctx, history.Index, history.Judged(s.Opts.Policy))
	if err != nil {
		return nil, err
	}
	paths := []string{policy.File}
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	if w.look.Files, err = w.stats(s.Repo.Where().GitDir, paths); err != nil {
		return nil, err
	}
	report, err := w.judgeFiles(ctx, s)
	if err != nil {
		return nil, err
	}
	last := w.notes.Look
	moved := w.event.Moment == harness.Stop || last == nil || history.FirstOf(last.Parents) != w.head()
	if moved && w.head() != "" {
		made, err := w.judgeCommits(ctx, s)
		if err != nil {
			return nil, err
		}
		report = finding.Combine([]*finding.Report{report, made})
	}
	w.recordLook(report.Verdict == finding.Pass, moved)
	return report, nil
}

// recordLook puts the state of the judged work tree into the notes. moved is true if commits were judged.
func (w *watch) recordLook(clean, moved bool) {
	w.look.Clean = clean
	for path, state := range w.look.Files {
		if state.Size < 0 && path != policy.File {
			w.look.Clean = false // it may have moved to a path that the next event would not look at
		}
	}
	w.notes.Look = &w.look
	if _, noted := w.notes.Branches[w.look.Branch]; !noted && w.look.Branch != "" {
		w.notes.Branches[w.look.Branch] = ""
	}
	if clean && moved && w.look.Branch != "" && w.head() != "" {
		w.notes.Branches[w.look.Branch] = w.head()
	}
}

// trust takes the policy from the commit at which the session began; if that policy is invalid, from HEAD, which may have corrected it.
func (w *watch) trust(ctx context.Context, s *session.Session) (err error) {
	if w.base, err = ifPresent(ctx, s, w.notes.Branches[w.look.Branch]); err != nil {
		return err
	}
	from, err := ifPresent(ctx, s, w.notes.Sessions[w.id].Policy)
	if err != nil {
		return err
	}
	from = cmp.Or(from, w.base, w.head())
	err = s.Trust(ctx, from, history.Short(from))
	var wrong *policy.InvalidError
	if errors.As(err, &wrong) && from != w.head() {
		err = s.Trust(ctx, w.head(), "HEAD")
	}
	return err
}

// ifPresent returns a noted commit if the repository still has it; else empty.
func ifPresent(ctx context.Context, s *session.Session, commit string) (string, error) {
	if commit == "" {
		return "", nil
	}
	_, here, err := s.Repo.Peel(ctx, commit)
	if !here {
		commit = ""
	}
	return commit, err
}

// judgeFiles judges the files of the work tree.
func (w *watch) judgeFiles(ctx context.Context, s *session.Session) (*finding.Report, error) {
	if err := s.CheckRootConfig(w.top); err != nil {
		return nil, err
	}
	files, err := s.OpenWithWorkTree()
	if err != nil {
		return nil, err
	}
	abandoned, fork, err := w.findAbandonedTip(ctx, s)
	if err != nil {
		return nil, err
	}
	return gate.WorkTree(ctx, files, w.look.Parents, abandoned, fork, s.Opts), nil
}

// findAbandonedTip returns the noted tip of the branch if the branch was moved off it, as by a reset or a rebase, to commits that do not follow it. fork is
// the commit from which the branch's own new commits start: HEAD if there are none, empty if they share no history with the tip. abandoned is empty if a
// pull moved the branch, or if commits that were never pushed were dropped for those of the remote.
func (w *watch) findAbandonedTip(ctx context.Context, s *session.Session) (abandoned, fork string, err error) {
	head := w.head()
	switch {
	case head == "":
		return w.base, "", nil
	case w.base == "" || w.base == head:
		return "", "", nil
	}
	remote, err := findRemote(ctx, s)
	if err != nil || slices.Contains(remote.tipsByOthers, head) {
		return "", "", err
	}
	if goesOn, err := s.Repo.IsAncestor(ctx, w.base, head); err != nil || goesOn {
		return "", "", err
	}
	if fork, err = w.forkOf(ctx, s, append(remote.lastReceived, w.base)); err != nil || fork == "" {
		return w.base, "", err
	}
	if own, err := s.Repo.IsAncestor(ctx, fork, w.base); err != nil || !own {
		return "", "", err
	}
	if fork == head {
		pushed, err := remote.had(ctx, s, w.base)
		if err != nil || pushed {
			return w.base, fork, err
		}
		if there, err := remote.has(ctx, s, head); err != nil || there {
			return "", "", err
		}
	}
	return w.base, fork, nil
}

// forkOf returns the last commit of HEAD's first-parent line that is reachable from known commits; empty if there is none.
func (w *watch) forkOf(ctx context.Context, s *session.Session, known []string) (string, error) {
	own, err := s.Repo.Commits(ctx, []string{w.head()}, known)
	if err != nil {
		return "", err
	}
	line := history.FirstParentLine(history.InOrder(own), w.head())
	if len(line) == 0 {
		return w.head(), nil
	}
	return history.FirstOf(line[0].Parents), nil
}

// judgeCommits judges the commits that are reachable from HEAD, but from no noted tip and from no commit to which others moved a remote-tracking branch.
// So it also judges what this clone has pushed.
func (w *watch) judgeCommits(ctx context.Context, s *session.Session) (*finding.Report, error) {
	remote, err := findRemote(ctx, s)
	if err != nil {
		return nil, err
	}
	known := remote.lastReceived
	tips, err := githistory.Branches(ctx, s.Repo, "refs/heads/")
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(w.notes.Branches, func(name, _ string) bool {
		_, is := tips[name]
		return !is && name != w.look.Branch
	})
	for name, noted := range w.notes.Branches {
		if noted != tips[name] {
			if noted, err = ifPresent(ctx, s, noted); err != nil {
				return nil, err
			}
		}
		if noted != "" {
			known = append(known, noted)
		}
	}
	if slices.Contains(known, w.head()) {
		return run.EmptyReport(s.Opts), nil
	}
	slices.Sort(known)
	s.SetStandings(ctx, w.head())
	s.Opts.Branch = history.ShortRef(w.look.Branch)
	return gate.NewCommits(ctx, s.Repo, w.base, w.head(), slices.Compact(known), s.Opts), nil
}
