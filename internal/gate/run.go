package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// run is one judgement: what it is asked, what it reads from, the part of a
// repository that it looks at now, and what it has found.
type run struct {
	opts  Options
	src   *source
	scope *scope
	out   *collector
}

// pass makes subjects of a part of a repository and has them judged. A judgement is a
// list of passes.
type pass func(*run, context.Context) error

// scope is what passes look at, and what the earlier ones of them have learned. Who
// looks at another tip takes another scope.
type scope struct {
	// base and tip are compared: what is there and what is to come.
	base, tip Tip
	// dir is a directory whose workspace is checked; recursive are all below it.
	dir       string
	recursive bool
	// parents are those of the index.
	parents []string
	// update is a ref that a push moves.
	update Update
	// neighbours may be at work on the same logs.
	neighbours []Neighbour
	// whole is true where a whole history is judged, predicts where a merge that is
	// not made yet is.
	whole, predicts bool

	// commits are those to be judged.
	commits []Commit
	// walked is true once every commit between base and tip has been judged.
	walked bool
	// tookAnother is true once a merge of unrelated histories has another log at a
	// log's path: of one edge that is no loss, between two tips it can be.
	tookAnother bool
	// workspaces are the directories that changed in what was looked at, workflows the
	// workflow files and records.
	workspaces, workflows map[string]bool
	// policyChange is the change of the configuration.
	policyChange Change
	// unions are files that git would merge by joining lines.
	unions []union
	// lanes are what is known of the lane of each change.
	lanes []*LaneChange
}

func newRun(h History, opts Options, s scope) *run {
	opts = opts.withDefaults()
	if h != nil {
		h.Watch(opts.Policy.Workflows.Watched())
	}
	return over(h, h, opts, s)
}

// newCheck is a run over a tree without a history.
func newCheck(tree Tree, opts Options, s scope) *run {
	return over(tree, nil, opts.withDefaults(), s)
}

func over(tree Tree, h History, opts Options, s scope) *run {
	s.workspaces, s.workflows = map[string]bool{}, map[string]bool{}
	r := &run{opts: opts, src: newSource(tree, h, opts.basis()), scope: &s, out: newCollector(opts)}
	if h != nil && r.opts.Trusted == "" {
		r.src.trusted = s.trusted()
	}
	return r
}

// trusted is the commit whose logs say which baselines are in force, where the caller
// does not name one: what is compared with, or, of a whole history, its head.
func (s *scope) trusted() string {
	switch {
	case s.whole:
		return s.tip.ID
	case len(s.parents) > 0:
		return s.parents[0]
	case s.base.ID != "":
		return s.base.ID
	}
	return s.update.Target.ID
}

// do runs passes one after the other, up to the first that fails, and makes the
// report.
func (r *run) do(ctx context.Context, passes ...pass) *Report {
	return r.out.finish(r.all(ctx, passes...), r.opts.FailOnWarning)
}

func (r *run) all(ctx context.Context, passes ...pass) error {
	for _, p := range passes {
		if err := p(r, ctx); err != nil {
			return err
		}
	}
	return nil
}

// examined is the part of the report that says what was looked at.
func (r *run) examined() *Examined { return &r.out.report.Examined }

// FailureReport is the report of a judgement that could not begin.
func FailureReport(opts Options, err error) *Report {
	return newCollector(opts.withDefaults()).finish(err, false)
}

// Nothing is the report of a change that touches nothing of interest.
func Nothing(opts Options) *Report { return FailureReport(opts, nil) }

func asFailure(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Message: err.Error(), Err: err}
}

func digestText(d *small.Digest) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// judgeTouched judges, at the tip, the workspaces that changed.
func judgeTouched(r *run, ctx context.Context) error {
	return r.snapshots(ctx, r.scope.tip.ID, sortedKeys(r.scope.workspaces))
}

// judgeEvery judges, at the tip, all workspaces.
func judgeEvery(r *run, ctx context.Context) error { return r.snapshots(ctx, r.scope.tip.ID, nil) }

// snapshots judges the workspaces of one revision: all of them, or only those
// in dirs.
func (r *run) snapshots(ctx context.Context, revision string, dirs []string) error {
	if dirs != nil && len(dirs) == 0 {
		return nil
	}
	files, err := r.src.tree.Files(ctx, revision, dirs...)
	if err != nil {
		return err
	}
	return r.snapshotsOf(ctx, revision, files)
}

// snapshotsOf judges the workspaces of one revision whose files are listed. The
// ledgers found are noted in the report.
func (r *run) snapshotsOf(ctx context.Context, revision string, files []File) error {
	found, byDir := groupByWorkspace(files)
	found = slices.DeleteFunc(found, func(dir string) bool { return !r.src.policy.Judges(dir) })
	if err := r.noteUnions(ctx, revision, found); err != nil {
		return err
	}
	for _, dir := range found {
		w, err := r.src.readWorkspace(ctx, dir, byDir[dir])
		if err != nil {
			return err
		}
		r.judgeWorkspace(w, revision)
	}
	return nil
}

// judgeWorkspace judges a workspace, and notes it and its ledger for the report. Only
// the tip's ledger is noted in full: with each commit's snapshot judged there would be
// many.
func (r *run) judgeWorkspace(w *Workspace, revision string) {
	r.examined().Workspaces++
	if art := w.artifacts[small.Progress]; art != nil && art.log != nil {
		state := LedgerState{Path: art.path, Entries: art.log.Len(), Head: art.log.Head()}
		if r.src.history == nil || revision == r.scope.tip.ID {
			state.Log = logEntries(art.log.Ledger)
		}
		r.out.report.Ledgers = append(r.out.report.Ledgers, state)
	}
	snapshot := *w
	snapshot.Place = Place{Commit: revision}
	r.out.judge(&snapshot)
}
