package gate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// judgement gathers one report.
type judgement struct {
	opts    Options
	history History
	ledgers *ledgers
	// switches reads records of jobs as ledgers.
	switches *ledgers
	report   Report
	listing  listing
	// reported are the edits that findings speak of.
	reported reportedEdits
	equals   map[string]equivalence
	ancestry *ancestry
	// touched are the workspace directories that changed in what is examined.
	touched map[string]bool
	// changedWorkflows are the workflow files and records that changed in what is
	// examined.
	changedWorkflows map[string]bool
	// tip is the revision in the end of what is judged.
	tip string
	// walked is true once every commit between two tips has been judged.
	walked bool
	// predicts is true where a merge that is not made yet is judged.
	predicts bool
	// tookAnother is true once a merge of unrelated histories has another log at a
	// log's path: of one edge that is no loss, between two tips it can be.
	tookAnother bool
	// whole is true where a whole history is judged.
	whole bool
	// baselines are those in force, once they are known; mismatched are those that
	// are not.
	baselines      []*baseline
	baselinesKnown bool
	mismatched     []*policy.Baseline
	// policyChange is the change of the configuration in what is judged.
	policyChange Change
	// unions are files that git would merge by joining lines.
	unions []union
	// onlyWarns makes warnings of all that is found.
	onlyWarns bool
	// earlier counts the findings, where the same is judged again; else nil.
	earlier *earlierFindings
	// used are the waivers that excused something, by their index.
	used map[int]bool
	// atTips are workspaces in the end of what is judged, by directory.
	atTips map[string]*Workspace
	// signatures holds the one that was read last.
	signatures map[string]Signature
	// lanes is what is known of the lane of each change that is judged, and lane
	// is the one of them with the most rigour; nil where nobody claims one.
	lanes []*laneState
	lane  *laneState
}

func newJudgement(h History, opts Options) *judgement {
	opts = opts.withDefaults()
	j := &judgement{
		opts: opts, history: h, reported: reportedEdits{},
		equals: map[string]equivalence{}, ancestry: newAncestry(), touched: map[string]bool{}, changedWorkflows: map[string]bool{},
		used: map[int]bool{}, atTips: map[string]*Workspace{},
	}
	j.listing.find = opts.Find
	j.ledgers, j.switches = newLedgers(h, opts.limits()), newLedgers(h, opts.limits())
	j.switches.switches = true
	if h != nil {
		h.Watch(opts.Policy.Workflows.Watched())
	}
	j.report = Report{
		Mode: opts.Mode, Strict: opts.strict(), Observe: opts.Policy.Mode == policy.Observe,
		Examined: Examined{Policy: opts.Policy.Source},
	}
	return j
}

// trust names the commit that baselines are held to, unless the caller did.
func (j *judgement) trust(commit string) {
	if j.opts.Trusted == "" {
		j.opts.Trusted = commit
	}
}

// finish turns what was gathered, or the error that stopped it, into the
// report.
func (j *judgement) finish(err error) *Report {
	r := &j.report
	r.Findings, r.Waived = sortFindings(r.Findings), sortFindings(r.Waived)
	err = cmp.Or(err, j.listing.err)
	switch {
	case err != nil:
		r.Verdict, r.Failure = Error, asFailure(err)
	case r.Count().Errors > 0, j.opts.FailOnWarning && r.Count().Warnings > 0:
		r.Verdict = Fail
	default:
		r.Verdict = Pass
	}
	return r
}

func asFailure(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Message: err.Error(), Err: err}
}

// FailureReport is the report of a judgement that could not begin.
func FailureReport(opts Options, err error) *Report {
	return newJudgement(nil, opts).finish(err)
}

// equal returns what waivers say about one log, whatever its path is and was.
func (j *judgement) equal(paths ...string) equivalence {
	key := strings.Join(paths, "\x00")
	eq, known := j.equals[key]
	if !known {
		eq = equivalenceFor(j.opts.Policy, j.opts.Now, paths...)
		j.equals[key] = eq
	}
	return eq
}

// add takes findings into the report: severities as the policy has them,
// waived ones apart, and edits that were reported before left out.
func (j *judgement) add(findings []Finding) {
	for _, f := range findings {
		in := j.rigourOf(f.Commit)
		if !f.fixedLevel {
			switch j.level(f.Rule, in) {
			case policy.Off:
				continue
			case policy.Error:
				f.Severity = SeverityError
			case policy.Warning:
				f.Severity = SeverityWarning
			}
		}
		if in != nil && in.rigour.WarningsAreErrors {
			if f.Rule == ruleConfigChanged.ID && f.Severity == SeverityWarning {
				f.Fix = "send the edit of " + policy.File + " as a change by itself, in a lane with less rigour than " + string(in.claim.Lane)
			}
			f.Severity = SeverityError
		}
		if f.Rule == ruleReconciledInsertion.ID && f.Severity == SeverityError {
			forbidInsertion(&f, in)
		}
		if j.onlyWarns {
			f.Severity = SeverityWarning
		}
		if j.known(f) {
			continue
		}
		if w := j.waiver(f); w != nil {
			j.remember(f, severityWaived)
			f.Reason = w.Reason
			j.listing.add(&j.report, f, severityWaived)
			continue
		}
		j.remember(f, f.Severity)
		if j.earlier.has(&f) {
			continue
		}
		j.listing.add(&j.report, f, f.Severity)
	}
}

// asWarnings judges on, and makes warnings of what is found, whatever level the
// policy gives to the rules.
func (j *judgement) asWarnings(judge func() error) error {
	before := j.onlyWarns
	j.onlyWarns = true
	err := judge()
	j.onlyWarns = before
	return err
}

// known reports whether all of a finding's edits were reported before, at
// least as severely: a merge brings an edit along, and it is told once, at the
// earliest commit. What was waived is not known where the same two versions are
// the trace of something else that no waiver names, such as another order.
func (j *judgement) known(f Finding) bool {
	for _, key := range f.edits {
		before, seen := j.reported.of(key)
		if !seen || before == SeverityWarning && f.Severity == SeverityError || before == severityWaived && j.waiver(f) == nil {
			return false
		}
	}
	return len(f.edits) > 0
}

func (j *judgement) remember(f Finding, s Severity) {
	for _, key := range f.edits {
		j.reported.note(key, s)
	}
}

// severityWaived is remembered of an edit that a waiver excuses. No finding has
// it.
const severityWaived Severity = "waived"

func digestText(d *small.Digest) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// judges reports whether a path belongs to a workspace that is to be judged.
func (j *judgement) judges(path string) bool {
	dir, ok := small.WorkspaceOf(path)
	return ok && j.opts.Policy.Judges(dir)
}

// isLedger reports whether a path is a progress file.
func isLedger(path string) bool {
	_, name, ok := small.SplitPath(path)
	return ok && name == small.Progress.FileName()
}

// snapshot judges the workspaces of one revision: all of them, or only those
// in dirs. The ledgers found are noted in the report.
func (j *judgement) snapshot(ctx context.Context, tree Tree, revision string, dirs []string) error {
	if dirs != nil && len(dirs) == 0 {
		return nil
	}
	files, err := tree.Files(ctx, revision, dirs...)
	if err != nil {
		return err
	}
	return j.snapshotOf(ctx, tree, revision, files)
}

// snapshotOf judges the workspaces of one revision whose files are listed.
func (j *judgement) snapshotOf(ctx context.Context, tree Tree, revision string, files []File) error {
	found, byDir := groupByWorkspace(files)
	found = slices.DeleteFunc(found, func(dir string) bool { return !j.opts.Policy.Judges(dir) })
	if err := j.noteUnions(ctx, tree, revision, found); err != nil {
		return err
	}
	for _, dir := range found {
		if err := j.workspace(ctx, tree, revision, dir, byDir[dir]); err != nil {
			return err
		}
	}
	return nil
}

func (j *judgement) workspace(ctx context.Context, tree Tree, revision, dir string, files []File) error {
	w, err := j.readWorkspace(ctx, tree, dir, files)
	if err != nil {
		return err
	}
	j.noteWorkspace(w, revision)
	j.judgeSnapshot(w, revision)
	return nil
}

// readWorkspace reads a workspace, and what of its log a baseline accepts.
func (j *judgement) readWorkspace(ctx context.Context, tree Tree, dir string, files []File) (*Workspace, error) {
	w, err := readWorkspace(ctx, tree, dir, files, j.opts, j.ledgers)
	if err != nil {
		return nil, err
	}
	if art := w.artifacts[small.Progress]; art != nil && art.log != nil {
		w.baseline, err = j.acceptedOf(ctx, art.path, art.log.Ledger)
	}
	return w, err
}

// noteWorkspace notes a workspace and its ledger for the report. Only the tip's
// is noted in full: with each commit's snapshot judged there would be many.
func (j *judgement) noteWorkspace(w *Workspace, revision string) {
	j.report.Examined.Workspaces++
	art := w.artifacts[small.Progress]
	if art == nil || art.log == nil {
		return
	}
	state := LedgerState{Path: art.path, Entries: art.log.Len(), Head: art.log.Head()}
	if j.history == nil || revision == j.tip {
		state.Log = logEntries(art.log.Ledger)
	}
	j.report.Ledgers = append(j.report.Ledgers, state)
}

// sideName names a parent of a merge for people.
func sideName(index int, id string) string {
	if index == 0 {
		return "our side (" + short(id) + ")"
	}
	return "the merged side (" + short(id) + ")"
}
