package judge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/restore"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// PreCommit judges the index that git is committing from against HEAD, and against every other side of a merge that is being concluded. The
// policy is HEAD's.
func PreCommit(ctx context.Context, req session.Request) *finding.Report {
	return runCommitHook(ctx, req.WithLane(), preCommit, nil)
}

// PreMergeCommit judges the index against HEAD and the other sides of the merge that git is about to commit. There is no MERGE_HEAD
// yet: git names the other sides in variables called GITHEAD_<object id> (builtin/merge.c sets them for the strategies; githooks(5)
// does not mention them).
func PreMergeCommit(ctx context.Context, req session.Request) *finding.Report {
	return runCommitHook(ctx, req.WithLane(), "pre-merge-commit", workgit.GitHeads(req.Environ))
}

// PrepareCommitMsg judges the index as PreCommit does: git runs this hook also where it skips pre-commit, for --no-verify, a pick, a revert
// and a step of a rebase. An index that has just passed is not judged again.
func PrepareCommitMsg(ctx context.Context, req session.Request) *finding.Report {
	return runCommitHook(ctx, req.WithLane(), prepareCommitMsg, nil)
}

// PreApplyPatch judges the index as PreCommit does, after git am or git rebase --apply has applied a patch to it.
func PreApplyPatch(ctx context.Context, req session.Request) *finding.Report {
	return runCommitHook(ctx, req, preApplyPatch, nil)
}

const (
	preCommit        = "pre-commit"
	prepareCommitMsg = "prepare-commit-msg"
	preApplyPatch    = "pre-applypatch"
)

// runCommitHook judges the index and, unless a merge is about to be committed, adds what a guarded writer's log in the work tree has lost. merged are the other sides of the merge that it concludes, by default those in
// MERGE_HEAD.
func runCommitHook(ctx context.Context, req session.Request, mode string, merged []string) *finding.Report {
	mayRemake := mode == prepareCommitMsg || mode == preApplyPatch // git runs these also for commits that it remakes
	return req.Judge(ctx, mode, func(s *session.Session) (*finding.Report, error) {
		before, err := shimNoteFor(req, mode)
		if err != nil {
			return nil, err
		}
		head, parents, trustErr := s.TrustHead(ctx, merged)
		if mayRemake { // rules about the author, the lane and the files beside it have judged the original commit
			if s.Opts.Replay, err = state.Replays(s.Repo.Where().GitDir); err != nil {
				return nil, err
			}
		}
		report, err := judgeUnlessUntouched(ctx, s, head, parents, trustErr)
		if err != nil || trustErr != nil || len(merged) > 0 { // after a merge prepare-commit-msg looks for losses
			return report, err
		}
		lost, err := restore.Losses(ctx, s.Repo, parents, restore.Workspace{Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: s.Opts.Now})
		if err != nil {
			return nil, err
		}
		reports := []*finding.Report{report}
		for _, l := range lost {
			if l.Discarded && !l.Sealed && mode == prepareCommitMsg {
				continue // a warning, which pre-commit gives
			}
			reports = append(reports, gate.Lost(ctx, s.Repo, l.Log, l.Noted, l.Index, l.Gone, logs.Loss{Discarded: l.Discarded, Sealed: l.Sealed}, s.Opts))
		}
		report = finding.Combine(reports)
		if s.Opts.Mode == preCommit {
			if report.Hidden, err = s.HiddenLogs(ctx); err != nil {
				return nil, err
			}
			for _, h := range report.Hidden {
				report.Examined.Notes = append(report.Examined.Notes, h.Note())
			}
		}
		switch {
		case s.Opts.Replay && report.Verdict == finding.Pass:
			return run.EmptyReport(s.Opts), nil // its warnings were given when the original was committed
		case report.Verdict == finding.Fail && mayRemake:
			return report, addContinueCommands(ctx, s, parents, report)
		}
		return report, before.save(s.Repo.Where().GitDir, report)
	})
}

// addContinueCommands adds to the fixes the commands that continue what git has under way.
func addContinueCommands(ctx context.Context, s *session.Session, parents []string, report *finding.Report) error {
	u, err := state.UnderWay(s.Repo.Where().GitDir)
	if err != nil || len(parents) != 1 {
		return err
	}
	changes, err := s.Repo.Diff(ctx, history.EdgesOf(history.Index, parents), history.Filter{All: true})
	if err != nil {
		return err
	}
	more := slices.ContainsFunc(changes[0], func(c history.Change) bool {
		return !slices.ContainsFunc(report.Findings, func(f finding.Finding) bool { return f.Path == c.Path })
	})
	after, err := u.After(s.Repo.Where().GitDir, more)
	if err != nil || len(after) == 0 {
		return err
	}
	const restorePrefix = "`small-hook restore"
	for i := range report.Findings {
		f := &report.Findings[i]
		if typed, words, _ := strings.Cut(f.Fix, "`; "); strings.HasPrefix(typed, restorePrefix) {
			f.Fix = strings.TrimSuffix(typed, "`") + "`, " + wording.Commands(after...)
			if words != "" {
				f.Fix += "; " + words
			}
		}
	}
	if s.Opts.Replay {
		note := "once all is mended and staged, `small-hook restore` says how to go on"
		if u.Command == state.Rebase {
			note += "; the rebase stops at this step again until you type that"
		}
		report.Examined.Notes = append(report.Examined.Notes, note)
	}
	return nil
}

// judgeUnlessUntouched judges the index if the commit changes a file that a rule reads. trustErr is what is wrong with HEAD's configuration, or
// why it could not be read; nil if nothing.
func judgeUnlessUntouched(ctx context.Context, s *session.Session, head string, parents []string, trustErr error) (*finding.Report, error) {
	var invalid *policy.InvalidError
	if trustErr != nil && !errors.As(trustErr, &invalid) {
		return nil, trustErr
	}
	// An invalid configuration does not tell which files are logs. So every changed file counts as touched, and only an empty commit that claims
	// no lane passes.
	files, noLane := history.Filter{All: true}, s.Req.Lane == ""
	if trustErr == nil {
		files, noLane = history.Judged(s.Opts.Policy), !laneGiven(s)
	}
	asked := history.Compared{Edges: history.EdgesOf(history.Index, parents)}
	var err error
	asked.Changes, err = s.Repo.Diff(ctx, asked.Edges, files)
	touched := slices.ContainsFunc(asked.Changes, func(c []history.Change) bool { return len(c) > 0 }) // most commits touch nothing
	switch {
	case err != nil:
		return nil, err
	case !touched && noLane:
		return run.EmptyReport(s.Opts), nil
	case trustErr != nil:
		fix, err := commitUnjudged(ctx, s, len(parents) > 1)
		if err != nil {
			return nil, err
		}
		return nil, &failure.Error{Message: failure.Of(trustErr).Message, Remedy: fix + "; " + policy.EveryKey, Err: trustErr}
	}
	s.Opts.Compared = asked
	return judgeIndex(ctx, s, head, parents)
}

// commitUnjudged says how to commit a configuration in place of HEAD's, which is invalid. A merge may bring a valid one, and cannot be
// committed without the rest.
func commitUnjudged(ctx context.Context, s *session.Session, merge bool) (string, error) {
	if !merge {
		return "correct " + policy.File + " and commit it alone, unjudged, since hooks take it from HEAD: " +
			wording.Commands("git add -- :/"+policy.File, `git commit --no-verify -m "Correct the configuration" -- :/`+policy.File), nil
	}
	commit := wording.Commands("git commit --no-verify --no-edit", "small-hook audit")
	brought, err := s.BringsConfiguration(ctx, history.Index)
	if err != nil || brought {
		return "this merge brings a valid one; commit it unjudged, then audit it: " + commit, err
	}
	return "correct " + policy.File + " in this merge, commit it unjudged, then audit it: " + wording.Commands("git add -- :/"+policy.File) + ", " + commit, nil
}

// judgeIndex judges the index against its parents, HEAD first if there is one.
func judgeIndex(ctx context.Context, s *session.Session, head string, parents []string) (*finding.Report, error) {
	committed := parents
	near, parents, err := prepareIndexOptions(ctx, s, head, parents)
	if err != nil {
		return nil, err
	}
	p, err := passKeyFor(ctx, s, parents, near.list)
	if err != nil {
		return nil, err
	}
	if s.Opts.Mode == prepareCommitMsg {
		if known, err := p.wasSaved(); known || err != nil {
			return run.EmptyReport(s.Opts), err
		}
	}
	report := gate.Pending(ctx, s.Repo, parents, s.Opts, near.list...)
	if err := near.remember(); err != nil {
		return nil, &failure.Error{Message: "cannot remember what other work trees have: " + err.Error(), Remedy: "make the git directory writable", Err: err}
	}
	mends := false
	if report.Verdict == finding.Fail && len(parents) == 1 && len(s.Opts.Heads) == 0 {
		mended, err := judgeAsAmend(ctx, s, head)
		if err != nil {
			return nil, err
		}
		if mended != nil {
			report, mends = mended, true
		} else if err := takeFixesFromHistory(ctx, s, head, report); err != nil {
			return nil, err
		}
	}
	report, err = s.CheckProposed(ctx, history.Index, report, committed...)
	if err == nil && report.Verdict == finding.Pass && !mends && s.Opts.Mode != prepareCommitMsg {
		err = p.save()
	}
	return report, err
}

// prepareIndexOptions sets what the judgement of the index depends on: Heads, Branch, Message and BranchClaim of the session's options. It
// returns the branches on which others are at work, and the parents with which the index is compared.
func prepareIndexOptions(ctx context.Context, s *session.Session, head string, parents []string) (near neighbours, _ []string, err error) {
	// While git remakes a commit, or merges by itself, the branches of others are not looked at: it takes commits from one, or joins one.
	if head != "" && (s.Opts.Mode == preCommit || s.Opts.Mode == prepareCommitMsg && !s.Opts.Replay && len(workgit.GitHeads(s.Req.Environ)) == 0) {
		if near, err = neighboursOf(ctx, s); err != nil {
			return near, nil, err
		}
	}
	if head != "" && s.Opts.Policy.Scope == policy.Published {
		published, err := newestPublished(ctx, s, head)
		if err != nil {
			return near, nil, err
		}
		// Unpublished entries may be edited; the commit that added them was judged.
		s.Opts.Heads = []string{head}
		parents = append(published, parents[1:]...)
	}
	branch, err := s.Repo.CurrentBranch(ctx)
	if err != nil {
		return near, nil, err
	}
	s.Opts.Branch = history.ShortRef(branch)
	if s.Opts.Message, err = preparedMessage(s); err != nil {
		return near, nil, err
	}
	return near, parents, setBranchClaim(ctx, s, head)
}

// judgeAsAmend judges the index as a commit in place of HEAD: git does not tell a hook that a commit amends. If HEAD is published, or has no
// error, or the index does not pass in its place, the report is nil. If the commit does not amend after all, a push still rejects HEAD.
func judgeAsAmend(ctx context.Context, s *session.Session, head string) (*finding.Report, error) {
	tips, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	own, err := s.Repo.Commits(ctx, []string{head}, tips)
	at := slices.IndexFunc(own, func(c history.Commit) bool { return c.ID == head })
	if err != nil || at < 0 {
		return nil, err
	}
	opts, parents := s.Opts, own[at].Parents
	opts.Trusted = ""
	mended := gate.Pending(ctx, s.Repo, parents, opts)
	if mended.Verdict != finding.Pass || gate.NewCommits(ctx, s.Repo, "", head, parents, opts).Verdict != finding.Fail {
		return nil, nil
	}
	return mended, nil
}

// takeFixesFromHistory changes the fixes of errors that a log already has in HEAD: they must be mended in the commit that made them, not in the
// index.
func takeFixesFromHistory(ctx context.Context, s *session.Session, head string, report *finding.Report) error {
	tips, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return err
	}
	s.SetStandings(ctx, head)
	opts := s.Opts
	opts.Trusted = ""
	// Look first among the commits that nobody else has, which are few, and only then in the whole history.
	fixes, bounds := map[string]string{}, [][]string{tips, nil}
	for i := range report.Findings {
		f := &report.Findings[i]
		same := func(g finding.Finding) bool { return g.Fingerprint() == f.Fingerprint() }
		dir, artifact, _ := small.SplitPath(f.Path)
		if artifact != small.Progress.FileName() || f.Stage != finding.StageLint || f.Severity != finding.SeverityError ||
			!slices.ContainsFunc(gate.Check(ctx, s.Repo, head, dir, opts).Findings, same) {
			continue
		}
		for ; fixes[f.Fingerprint()] == "" && len(bounds) > 0; bounds = bounds[1:] {
			for _, g := range gate.NewCommits(ctx, s.Repo, "", head, bounds[0], opts).Findings {
				fixes[g.Fingerprint()] = g.Fix
			}
		}
		f.Fix = cmp.Or(fixes[f.Fingerprint()], f.Fix)
	}
	return nil
}

// preparedMessage is the message that git has prepared for an agent's next commit when it squashes, applies or merges; empty if there is
// none.
func preparedMessage(s *session.Session) (string, error) {
	if s.Req.Agent() == "" {
		return "", nil
	}
	return state.Message(s.Repo.Where().GitDir)
}

// newestPublished lists the newest commits on each path back from head that a remote-tracking branch has; head itself if it is published.
// Later commits may still be amended.
func newestPublished(ctx context.Context, s *session.Session, head string) ([]string, error) {
	tips, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	commits, err := s.Repo.Commits(ctx, []string{head}, tips)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return []string{head}, nil
	}
	listed := map[string]bool{}
	for _, c := range commits {
		listed[c.ID] = true
	}
	var last []string
	for _, c := range history.InOrder(commits) {
		for _, p := range c.Parents {
			if !listed[p] {
				listed[p] = true
				last = append(last, p)
			}
		}
	}
	return last, nil
}
