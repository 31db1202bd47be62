// Package commits judges what commits did to workspaces. A rule reads what it needs through [Work].
package commits

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/owner"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Work is what one commit, or the index, changed in one workspace. Only what differs from every parent counts: a merge is not blamed for what it
// has from a parent.
type Work struct {
	rule.Place
	Run *run.Run
	Dir string
	// NewEntries are the entries of the log that no parent has. Under append_only.scope: published, the parents of the index are published commits, so
	// that entries of unpublished commits count as new.
	NewEntries []ledger.Entry
	// changes holds what the commit changed, by edge.
	changes [][]history.Change
	// files are the workspace's files in the commit; nil until they are listed.
	files []history.File
}

// Judge judges what a commit changed in the workspaces in dirs. added holds the new entries by the path of the log.
func Judge(ctx context.Context, r *run.Run, n history.Commit, changes [][]history.Change, dirs []string, added map[string][]ledger.Entry) error {
	if len(dirs) == 0 || n.ID == history.Index && r.Options.Replay {
		return nil
	}
	if n.ID == history.Index && len(r.Options.Heads) > 0 {
		more, err := r.Source.Changes(ctx, history.EdgesOf(history.Index, r.Options.Heads))
		if err != nil {
			return err
		}
		n.Parents = slices.Concat(n.Parents, r.Options.Heads)
		changes = slices.Concat(changes, more)
	}
	for _, dir := range dirs {
		if past, err := r.IsAcceptedPast(ctx, n.ID, small.Progress.Path(dir)); err != nil {
			return err
		} else if past {
			continue
		}
		w := &Work{Place: rule.Place{Commit: n.ID}, Run: r, Dir: dir, NewEntries: added[small.Progress.Path(dir)], changes: changes}
		if len(n.Parents) > 0 {
			w.Parent = n.Parents[0]
		}
		if err := r.Collector.Judge(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// Situation says who already has the commit. The fix depends on that.
func (w *Work) Situation() remedy.Situation { return w.Run.Situation(w.Commit) }

// Differs reports whether the file at a path differs from the file of every parent.
func (w *Work) Differs(path string) bool {
	return !slices.ContainsFunc(w.changes, func(edge []history.Change) bool {
		_, changed := history.ChangeAt(edge, path)
		return !changed
	})
}

// fileAt returns the file at a path in the commit; the zero File if there is none.
func (w *Work) fileAt(ctx context.Context, path string) (history.File, error) {
	for _, edge := range w.changes {
		if c, changed := history.ChangeAt(edge, path); changed {
			return c.New, nil
		}
	}
	if w.files == nil {
		var err error
		if w.files, err = w.Run.Source.History.List(ctx, w.Commit, history.Workspaces(w.Dir)); err != nil {
			return history.File{}, err
		}
	}
	for _, f := range w.files {
		if f.Path == path {
			return f, nil
		}
	}
	return history.File{}, nil
}

// Documents reads the file at a path in each parent and in the commit. A document is nil if the file is absent or is no document.
func (w *Work) Documents(ctx context.Context, path string) (before []*small.Value, now *small.Value, err error) {
	file, err := w.fileAt(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if now, err = w.Run.Source.Document(ctx, file); err != nil {
		return nil, nil, err
	}
	for _, edge := range w.changes {
		old := now
		if c, changed := history.ChangeAt(edge, path); changed {
			if old, err = w.Run.Source.Document(ctx, c.Old); err != nil {
				return nil, nil, err
			}
		}
		before = append(before, old)
	}
	return before, now, nil
}

// Log reads the workspace's log in the commit; nil if it is absent or cannot be read.
func (w *Work) Log(ctx context.Context) (*ledger.Ledger, error) {
	file, err := w.fileAt(ctx, small.Progress.Path(w.Dir))
	if err != nil {
		return nil, err
	}
	log, err := w.Run.Source.ProgressReader.Read(ctx, file, nil)
	if err != nil || !log.Readable() {
		return nil, err
	}
	return log.Log.Ledger, nil
}

// Owner says who made the commit or the staged change.
func (w *Work) Owner(ctx context.Context) (owner.Owner, error) { return w.owner(ctx, true) }

// Agent returns the owner if an agent with a known id made the commit or the staged change; else the zero Owner. It does not look up the author of
// a staged change, which would take a git process.
func (w *Work) Agent(ctx context.Context) (owner.Owner, error) {
	by, err := w.owner(ctx, false)
	if by.Agent == "" {
		return owner.Owner{}, err
	}
	return by, err
}

func (w *Work) owner(ctx context.Context, withAuthor bool) (owner.Owner, error) {
	opts := &w.Run.Options
	signs := owner.Signs{Branch: opts.Branch}
	if w.Commit == history.Index {
		signs.Variable, signs.Prepared = opts.Agent, opts.Message
		withAuthor = withAuthor && strings.TrimSpace(opts.Agent) == ""
	}
	if w.Commit != history.Index || withAuthor {
		s, err := w.Run.Source.Signature(ctx, w.Commit)
		if err != nil {
			return owner.Owner{}, err
		}
		signs.Author, signs.Email, signs.Message = s.Name, s.Email, s.Message
	}
	return owner.Of(signs, opts.Policy), nil
}

// EntryFinding makes a finding about a new entry, without message and fix.
func (w *Work) EntryFinding(e ledger.Entry) finding.Finding {
	return finding.Finding{Path: small.Progress.Path(w.Dir), Line: e.Pos.Line, Column: e.Pos.Column, Entry: finding.RefOf(e), EditTo: e.Digest.String()}
}

// keepsReplayID reports whether the handoff has the same replay id in a parent, in the commit and in the tip. The tip counts because a later
// commit that is judged with this one may write a new handoff.
func (w *Work) keepsReplayID(ctx context.Context) (bool, error) {
	before, handoff, err := w.Documents(ctx, small.Handoff.Path(w.Dir))
	now := replayIDIn(handoff)
	if err != nil || now == "" {
		return false, err
	}
	same := slices.ContainsFunc(before, func(old *small.Value) bool { return strings.EqualFold(replayIDIn(old), now) })
	if !same || w.Run.Scope.Tip.ID == w.Commit {
		return same, nil
	}
	tip, _, err := w.Run.Source.Side(ctx, w.Run.Scope.Tip.ID, w.Dir, nil)
	if err != nil {
		return false, err
	}
	last, _ := tip.HandoffRun()
	return strings.EqualFold(last, now), nil
}

func replayIDIn(handoff *small.Value) string {
	id, _ := handoff.Get("replayId").Get("value").Str()
	return id
}

// logSays asks the log something about the run that the handoff names. It returns false if there is no log, or if the handoff names no run.
func (w *Work) logSays(ctx context.Context, something func(log *ledger.Ledger, run string) bool) (bool, error) {
	log, err := w.Log(ctx)
	if err != nil || log == nil {
		return false, err
	}
	_, handoff, err := w.Documents(ctx, small.Handoff.Path(w.Dir))
	id := replayIDIn(handoff)
	return err == nil && id != "" && something(log, id), err
}
