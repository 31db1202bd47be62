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

// watchMode is what the reports are called.
const watchMode = "agent-hook"

// watch is one event in one work tree.
type watch struct {
	event harness.Event
	// id is the session's, with the harness.
	id  string
	now time.Time
	// seen are the roots of work trees that were looked at.
	seen map[string]bool

	top   string
	notes *agentnotes.Notes
	// begun is the root if a session begins and there is something to judge.
	begun string
	// look is what there is, and base the commit of the branch from which on commits are judged; empty for none.
	look agentnotes.Look
	base string
	// more are further work trees of the session in this repository.
	more []string
	// changed is true if the notes are to be saved.
	changed bool
}

// worst is the first look that found something, else the last: only what every configuration passes is noted as clean.
func worst(looks []*watch) watch {
	var w watch
	for _, look := range looks {
		if w = *look; !w.look.Clean {
			break
		}
	}
	return w
}

// save writes the notes, if there is something to note.
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
	if err := w.stand(ctx, s); err != nil {
		return nil, err
	}
	if w.event.Moment == harness.Tool {
		if same, err := w.untouched(place.GitDir); err != nil || same {
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
			w.more, err = w.others(place)
		}
	}
	return report, err
}

// stand finds out where the work tree stands.
func (w *watch) stand(ctx context.Context, s *session.Session) error {
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return err
	}
	if w.look.Parents, err = s.ParentsOf(ctx, head, nil); err != nil {
		return err
	}
	w.look.Branch, err = s.Repo.CurrentBranch(ctx)
	return err
}

// head is HEAD's commit; empty if it has none.
func (w *watch) head() string {
	if len(w.look.Parents) == 0 {
		return ""
	}
	return w.look.Parents[0]
}

// untouched reports whether all is as it was when last nothing was found. A restored mtime is caught at the end of the turn.
func (w *watch) untouched(gitDir string) (bool, error) {
	last := w.notes.Look
	if last == nil || !last.Clean || last.Branch != w.look.Branch || !slices.Equal(last.Parents, w.look.Parents) {
		return false, nil
	}
	now, err := w.stats(gitDir, slices.Collect(maps.Keys(last.Files)))
	return maps.Equal(now, last.Files), err
}

// indexKey stands for the index among the paths of files.
const indexKey = ":index"

// stats are the states of the index and of files.
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

// begin notes where branches are, so that only what is committed from here on is judged. What is noted already stays: a session may begin
// in the middle of work. A branch that a known session makes has nothing noted.
func (w *watch) begin(ctx context.Context, s *session.Session) error {
	trusted := w.head()
	if w.event.Session == "" {
		trusted = "" // these events may be of many sessions
	}
	place := s.Repo.Where()
	if err := w.follow(place); err != nil {
		return err
	}
	trees, err := agentnotes.TreesIn(place.CommonDir)
	if err != nil {
		return cannotLook(err)
	}
	known := w.notes.Meet(w.id, trusted, trees, w.now)
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

// judgeAll judges the work tree, and, at the end of a turn or if HEAD has moved, what was committed.
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
	moved := w.event.Moment == harness.Stop || last == nil || len(last.Parents) == 0 || last.Parents[0] != w.head()
	if moved && w.head() != "" {
		made, err := w.judgeCommits(ctx, s)
		if err != nil {
			return nil, err
		}
		report = finding.Combine([]*finding.Report{report, made})
	}
	w.note(report.Verdict == finding.Pass, moved)
	return report, nil
}

// note remembers what was judged.
func (w *watch) note(clean, moved bool) {
	w.look.Clean = clean
	for path, state := range w.look.Files {
		if state.Size < 0 && path != policy.File {
			w.look.Clean = false // it may have moved to where no file is known
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

// trust takes the policy from where the session began; if that is invalid, from HEAD, which may have corrected it.
func (w *watch) trust(ctx context.Context, s *session.Session) (err error) {
	if w.base, err = present(ctx, s, w.notes.Branches[w.look.Branch]); err != nil {
		return err
	}
	from, err := present(ctx, s, w.notes.Sessions[w.id].Policy)
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

// present is a commit that was noted, if it is still there; else empty.
func present(ctx context.Context, s *session.Session, commit string) (string, error) {
	if commit == "" {
		return "", nil
	}
	_, here, err := s.Repo.Peel(ctx, commit)
	if !here {
		commit = ""
	}
	return commit, err
}

// judgeFiles judges the work tree.
func (w *watch) judgeFiles(ctx context.Context, s *session.Session) (*finding.Report, error) {
	if err := s.CheckRoot(w.top); err != nil {
		return nil, err
	}
	files, err := s.WithFiles()
	if err != nil {
		return nil, err
	}
	left, fork, err := w.left(ctx, s)
	if err != nil {
		return nil, err
	}
	return gate.WorkTree(ctx, files, w.look.Parents, left, fork, s.Opts), nil
}

// left is where the branch was, if it has been moved to commits of the user's own that do not go on from there; fork is the last commit
// before those, HEAD itself if there are none, and empty if all of the history is another. What a pull puts in the place of something is
// the others'; and what was never pushed may be given up for what was.
func (w *watch) left(ctx context.Context, s *session.Session) (left, fork string, err error) {
	head := w.head()
	switch {
	case head == "":
		return w.base, "", nil
	case w.base == "" || w.base == head:
		return "", "", nil
	}
	remote, err := findRemote(ctx, s)
	if err != nil || slices.Contains(remote.given, head) {
		return "", "", err
	}
	if goesOn, err := s.Repo.IsAncestor(ctx, w.base, head); err != nil || goesOn {
		return "", "", err
	}
	if fork, err = w.forkOf(ctx, s, append(remote.received, w.base)); err != nil || fork == "" {
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

// forkOf is the last commit of HEAD's first-parent line that some known ones reach.
func (w *watch) forkOf(ctx context.Context, s *session.Session, known []string) (string, error) {
	own, err := s.Repo.Commits(ctx, []string{w.head()}, known)
	if err != nil {
		return "", err
	}
	above := map[string][]string{}
	for _, c := range own {
		above[c.ID] = append(c.Parents, "")
	}
	fork := w.head()
	for parents, instead := above[fork]; instead; parents, instead = above[fork] {
		fork = parents[0]
	}
	return fork, nil
}

// judgeCommits judges the commits that nothing noted and no remote-tracking branch reaches.
func (w *watch) judgeCommits(ctx context.Context, s *session.Session) (*finding.Report, error) {
	remote, err := findRemote(ctx, s)
	if err != nil {
		return nil, err
	}
	known := remote.received
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
			if noted, err = present(ctx, s, noted); err != nil {
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
