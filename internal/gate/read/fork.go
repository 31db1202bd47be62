package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Fork is one workspace on two branches and at their merge bases: the head is to be merged into the target.
type Fork struct {
	rule.Place
	Dir string
	// Bases are the best common ancestors. After criss-cross merges there are several, and only what differs from
	// each was changed on a side.
	Bases        []*Workspace
	Target, Head *Workspace
	// TargetOnly and HeadOnly are the entries that one side recorded since, and that the other lacks.
	TargetOnly, HeadOnly []ledger.Entry
	// Duplicates are pairs of these, the target's first, that differ only in their timestamps.
	Duplicates           []ledger.Duplicate
	TargetName, HeadName string
	// Predicts is true if the two are about to be merged.
	Predicts bool
}

// BothChanged reports whether both sides changed a text, and differently. of reads it from a workspace; ok is
// false if there is none.
func (v *Fork) BothChanged(of func(*Workspace) (string, bool)) bool {
	target, okTarget := of(v.Target)
	head, okHead := of(v.Head)
	if !okTarget || !okHead || target == head {
		return false
	}
	return !slices.ContainsFunc(v.Bases, func(w *Workspace) bool {
		base, _ := of(w)
		return base == target || base == head
	})
}

// CanonicalOf reads an artifact in canonical form.
func CanonicalOf(a small.Artifact) func(*Workspace) (string, bool) {
	return func(w *Workspace) (string, bool) {
		doc := w.Doc(a)
		if doc == nil {
			return "", false
		}
		return doc.Canonical(), true
	}
}

// Follows reports whether the side with ledger c holds all that the side with ledger p recorded since the fork,
// and p recorded something.
func (v *Fork) Follows(p, c *ledger.Ledger, equal ledger.Equivalence) bool {
	if !ledger.Relate(p, c, equal).Allowed() {
		return false
	}
	return !slices.ContainsFunc(v.Bases, func(w *Workspace) bool { return len(ledger.Since(p.Entries, w.Ledger())) == 0 })
}

// ForkOf reads a workspace on both branches and at their merge bases. It returns nil if one side already holds the
// other's work: in that case one writer followed the other, whatever the graph looks like.
func (src *Source) ForkOf(ctx context.Context, dir, target, head string, bases []string) (*Fork, error) {
	v := &Fork{Dir: dir}
	var log *LedgerFile
	var err error
	if v.Target, log, err = src.Side(ctx, target, dir, nil); err != nil {
		return nil, err
	}
	if v.Head, _, err = src.Side(ctx, head, dir, log); err != nil {
		return nil, err
	}
	for _, base := range bases {
		w, _, err := src.Side(ctx, base, dir, log)
		if err != nil {
			return nil, err
		}
		v.Bases = append(v.Bases, w)
	}
	equal := src.Waived(small.Progress.Path(dir))
	t, h := v.Target.Ledger(), v.Head.Ledger()
	v.TargetOnly, v.HeadOnly = ledger.Only(t, h, equal), ledger.Only(h, t, equal)
	for _, w := range v.Bases {
		v.TargetOnly, v.HeadOnly = ledger.Since(v.TargetOnly, w.Ledger()), ledger.Since(v.HeadOnly, w.Ledger())
	}
	if v.Follows(t, h, equal) || v.Follows(h, t, equal) {
		return nil, nil
	}
	records := func(w *Workspace) ledger.RecordsFunc {
		art := w.Artifacts[small.Progress]
		return func() ([]*small.Value, error) {
			return src.Ledgers.Records(ctx, history.File{Path: art.Path, Mode: history.ModePlain, Object: art.Object})()
		}
	}
	v.Duplicates, err = ledger.Duplicates(v.TargetOnly, v.HeadOnly, records(v.Target), records(v.Head))
	return v, err
}

// side is a workspace with only the entries of its log.
type side struct {
	workspace *Workspace
	log       *LedgerFile
}

// Side reads a workspace as of a commit, once. Only the entries of its log are read; the log is also the second result, nil if there is
// none. near is a log that it probably begins with; it may be nil.
func (src *Source) Side(ctx context.Context, revision, dir string, near *LedgerFile) (*Workspace, *LedgerFile, error) {
	key := [2]string{revision, dir}
	if known, ok := src.sides[key]; ok {
		return known.workspace, known.log, nil
	}
	files, err := src.Tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return nil, nil, err
	}
	path := small.Progress.Path(dir)
	var s side
	if s.workspace, err = src.ReadWorkspace(ctx, dir, slices.DeleteFunc(slices.Clone(files), func(f history.File) bool { return f.Path == path })); err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(files, func(f history.File) bool { return f.Path == path }); i >= 0 {
		if s.log, err = src.Ledgers.Read(ctx, files[i], near); err != nil {
			return nil, nil, err
		}
		s.workspace.Artifacts[small.Progress] = &Artifact{Path: path, Object: files[i].Object, Log: s.log.Log, Problems: s.log.Problems}
	}
	src.sides[key] = s
	return s.workspace, s.log, nil
}
