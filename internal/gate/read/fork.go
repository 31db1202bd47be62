package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Fork is one workspace on two branches and at their merge bases. The head is the branch to be merged into the target.
type Fork struct {
	rule.Place
	Dir string
	// Bases is the workspace at each merge base. After criss-cross merges there are several; a side then changed only what
	// differs from every one of them.
	Bases        []*Workspace
	Target, Head *Workspace
	// TargetOnly and HeadOnly are the entries that one side recorded after the merge bases and the other side lacks.
	TargetOnly, HeadOnly []ledger.Entry
	// Duplicates pairs an entry of TargetOnly with one of HeadOnly that differs only in its timestamp.
	Duplicates           []ledger.Duplicate
	TargetName, HeadName string
}

// BothChanged reports whether the two sides changed a text in different ways. read returns the text of a workspace, and false if it has none.
func (v *Fork) BothChanged(read func(*Workspace) (string, bool)) bool {
	target, okTarget := read(v.Target)
	head, okHead := read(v.Head)
	if !okTarget || !okHead || target == head {
		return false
	}
	return !slices.ContainsFunc(v.Bases, func(w *Workspace) bool {
		base, _ := read(w)
		return base == target || base == head
	})
}

// CanonicalOf returns a function for BothChanged that gives an artifact in canonical form.
func CanonicalOf(a small.Artifact) func(*Workspace) (string, bool) {
	return func(w *Workspace) (string, bool) {
		doc := w.Doc(a)
		if doc == nil {
			return "", false
		}
		return doc.Canonical(), true
	}
}

// IsContinued reports whether the log of one side continues the other side's: by is a later version of log, and log has entries from after the fork.
func (v *Fork) IsContinued(log, by *ledger.Ledger, equal ledger.Equivalence) bool {
	if !ledger.Relate(log, by, equal).Allowed() {
		return false
	}
	return !slices.ContainsFunc(v.Bases, func(w *Workspace) bool { return len(ledger.NotIn(log.Entries, w.Ledger())) == 0 })
}

// ForkOf reads a workspace on both branches and at their merge bases. It returns nil if the log of one side already continues the other
// side's: nothing has diverged then, even if the commits have.
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
	equal := src.EquivalenceByWaivers(small.Progress.Path(dir))
	t, h := v.Target.Ledger(), v.Head.Ledger()
	v.TargetOnly, v.HeadOnly = ledger.Only(t, h, equal), ledger.Only(h, t, equal)
	for _, w := range v.Bases {
		v.TargetOnly, v.HeadOnly = ledger.NotIn(v.TargetOnly, w.Ledger()), ledger.NotIn(v.HeadOnly, w.Ledger())
	}
	if v.IsContinued(t, h, equal) || v.IsContinued(h, t, equal) {
		return nil, nil
	}
	records := func(w *Workspace) ledger.RecordsFunc {
		art := w.Artifacts[small.Progress]
		return func() ([]*small.Value, error) {
			return src.ProgressReader.Records(ctx, history.File{Path: art.Path, Mode: history.ModePlain, Object: art.Object})()
		}
	}
	v.Duplicates, err = ledger.Duplicates(v.TargetOnly, v.HeadOnly, records(v.Target), records(v.Head))
	return v, err
}

type side struct {
	workspace *Workspace
	log       *LedgerFile
}

// Side reads a workspace in a revision, and remembers it. It reads the entries of the workspace's log, but makes no document of the log. The second
// result is the log, nil if there is none. near is a version with which the log probably begins; it may be nil.
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
		if s.log, err = src.ProgressReader.Read(ctx, files[i], near); err != nil {
			return nil, nil, err
		}
		s.workspace.Artifacts[small.Progress] = &Artifact{Path: path, Object: files[i].Object, Log: s.log.Log, Problems: s.log.Problems}
	}
	src.sides[key] = s
	return s.workspace, s.log, nil
}
