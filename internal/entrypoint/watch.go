package entrypoint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/agentnotes"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/harness"
	"github.com/small-gate/small-gate/internal/policy"
)

// watchMode is what the reports are called.
const watchMode = "agent-hook"

// watch is one event in one work tree.
type watch struct {
	moment harness.Moment
	// id is the session's, with the harness.
	id  string
	now time.Time
	// seen are the roots of work trees that were looked at.
	seen map[string]bool

	top   string
	notes *agentnotes.Notes
	// begun is the root if a session begins and there is a workspace.
	begun string
	// look is what there is, and base the commit of the branch from which on commits are judged; empty for none.
	look agentnotes.Look
	base string
}

func (w *watch) judge(ctx context.Context, s *session) (*finding.Report, error) {
	place := s.repo.Where()
	if w.top = place.Top; w.top == "" || w.seen[w.top] {
		return run.Nothing(s.opts), nil
	}
	var err error
	if w.notes, err = agentnotes.Read(agentnotes.In(place.GitDir)); err != nil {
		return nil, err
	}
	if err := w.stand(ctx, s); err != nil {
		return nil, err
	}
	if w.moment == harness.Tool {
		if same, err := w.untouched(place.GitDir); err != nil || same {
			return run.Nothing(s.opts), err
		}
	}
	if err := w.begin(ctx, s); err != nil {
		return nil, err
	}
	if w.moment == harness.Start {
		files, err := s.repo.List(ctx, history.Index, history.Workspaces())
		if len(files) > 0 {
			w.begun = w.top
		}
		return run.Nothing(s.opts), errors.Join(err, w.notes.Save())
	}
	report, err := w.judgeAll(ctx, s)
	if err != nil || report.Verdict == finding.Error {
		return report, err
	}
	return report, w.notes.Save()
}

// stand finds out where the work tree stands.
func (w *watch) stand(ctx context.Context, s *session) error {
	head, err := s.repo.Head(ctx)
	if err != nil {
		return err
	}
	if w.look.Parents, err = s.parentsOf(ctx, head, nil); err != nil {
		return err
	}
	w.look.Branch, err = s.repo.CurrentBranch(ctx)
	return err
}

// head is HEAD's commit; empty if it has none.
func (w *watch) head() string {
	if len(w.look.Parents) == 0 {
		return ""
	}
	return w.look.Parents[0]
}

// untouched reports whether all is as it was when last nothing was found. Whoever gives a file its old time back is found at the end of
// the turn.
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
func (w *watch) begin(ctx context.Context, s *session) error {
	_, known := w.notes.Sessions[w.id]
	if !known {
		w.notes.Meet(w.id, w.now)
	}
	if w.notes.Begun() && (known || w.moment != harness.Start) {
		return nil
	}
	tips, err := s.repo.Branches(ctx)
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
func (w *watch) judgeAll(ctx context.Context, s *session) (*finding.Report, error) {
	if err := w.trust(ctx, s); err != nil {
		return nil, err
	}
	files, err := s.repo.List(ctx, history.Index, history.Judged(s.opts.Policy))
	if err != nil {
		return nil, err
	}
	paths := []string{policy.File}
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	if w.look.Files, err = w.stats(s.repo.Where().GitDir, paths); err != nil {
		return nil, err
	}
	report, err := w.judgeFiles(ctx, s)
	if err != nil {
		return nil, err
	}
	last := w.notes.Look
	moved := w.moment == harness.Stop || last == nil || len(last.Parents) == 0 || last.Parents[0] != w.head()
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
	if clean && moved && w.look.Branch != "" {
		w.notes.Branches[w.look.Branch] = w.head()
	}
	if clean && w.moment == harness.Stop {
		w.notes.Meet(w.id, w.now)
	}
}

// trust takes the policy from before what was committed; if that is invalid, from HEAD, which may have corrected it.
func (w *watch) trust(ctx context.Context, s *session) error {
	if noted := w.notes.Branches[w.look.Branch]; noted != "" {
		_, here, err := s.repo.Peel(ctx, noted)
		if err != nil {
			return err
		}
		if here {
			w.base = noted
		}
	}
	from := cmp.Or(w.base, w.head())
	err := s.trust(ctx, from, history.Short(from))
	var wrong *policy.InvalidError
	if errors.As(err, &wrong) && from != w.head() {
		err = s.trust(ctx, w.head(), "HEAD")
	}
	return err
}

// judgeFiles judges the work tree.
func (w *watch) judgeFiles(ctx context.Context, s *session) (*finding.Report, error) {
	config, err := readConfig(filepath.Join(w.top, policy.File))
	if err != nil {
		return nil, err
	}
	if config != nil && !bytes.Equal(config, s.trusted) {
		if _, err := policy.Parse(policy.File, config, rules.Known()); err != nil {
			return nil, invalid(err)
		}
	}
	files, err := s.withFiles()
	if err != nil {
		return nil, err
	}
	if s.opts.Reverting, err = s.reverting(); err != nil {
		return nil, err
	}
	left, base, err := w.left(ctx, s)
	if err != nil {
		return nil, err
	}
	return gate.WorkTree(ctx, files, w.look.Parents, left, base, s.opts), nil
}

// left is where the branch was, if it has been moved to a commit that does not go on from there, and that is the user's own: what a pull
// brought is the others'. base is the last commit before those that are there instead.
func (w *watch) left(ctx context.Context, s *session) (left, base string, err error) {
	if w.base == "" || w.head() == "" || w.base == w.head() {
		return "", "", nil
	}
	if goesOn, err := s.repo.IsAncestor(ctx, w.base, w.head()); err != nil || goesOn {
		return "", "", err
	}
	remote, err := s.repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return "", "", err
	}
	own, err := s.repo.Commits(ctx, []string{w.head()}, remote)
	if err != nil || len(own) == 0 {
		return "", "", err
	}
	if own, err = s.repo.Commits(ctx, []string{w.head()}, append(remote, w.base)); err != nil {
		return "", "", err
	}
	above := map[string][]string{}
	for _, c := range own {
		above[c.ID] = c.Parents
	}
	base = w.head()
	for parents, instead := above[base]; instead; parents, instead = above[base] {
		base = ""
		if len(parents) > 0 {
			base = parents[0]
		}
	}
	return w.base, base, nil
}

// judgeCommits judges the commits that nothing noted and no remote-tracking branch reaches.
func (w *watch) judgeCommits(ctx context.Context, s *session) (*finding.Report, error) {
	known, err := s.repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	tips, err := s.repo.Branches(ctx)
	if err != nil {
		return nil, err
	}
	there := slices.Collect(maps.Values(tips))
	for _, noted := range w.notes.Branches {
		here := slices.Contains(there, noted)
		if !here && noted != "" {
			if _, here, err = s.repo.Peel(ctx, noted); err != nil {
				return nil, err
			}
		}
		if here {
			known = append(known, noted)
		}
	}
	if slices.Contains(known, w.head()) {
		return run.Nothing(s.opts), nil
	}
	slices.Sort(known)
	s.allStand(history.Own)
	s.opts.Branch = shortRef(w.look.Branch)
	return gate.Made(ctx, s.repo, w.base, w.head(), slices.Compact(known), s.opts), nil
}
