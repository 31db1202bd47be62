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
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/restore"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// PreCommit compares the index, which git is about to commit, with HEAD and, if the commit concludes a merge, with the other sides of the merge. It
// judges the differences. The policy is that of [session.Session.TrustHead].
func PreCommit(ctx context.Context, req session.Request) *finding.Report {
	return runCommitHook(ctx, req.WithEnvironmentLane(), preCommit, nil)
}

// PreMergeCommit judges the index as PreCommit does, before git commits a merge without conflicts. MERGE_HEAD does not exist yet: git names the other
// sides of the merge in variables called GITHEAD_<object id> (builtin/merge.c sets them for the strategies; githooks(5) does not mention them).
func PreMergeCommit(ctx context.Context, req session.Request) *finding.Report {
	return runCommitHook(ctx, req.WithEnvironmentLane(), "pre-merge-commit", workgit.GitHeads(req.Environ))
}

// PrepareCommitMsg judges the index as PreCommit does, unless another hook has just judged and passed it. git also runs prepare-commit-msg where it
// skips pre-commit: for --no-verify, a cherry-pick, a revert and a step of a rebase.
func PrepareCommitMsg(ctx context.Context, req session.Request) *finding.Report {
	return runCommitHook(ctx, req.WithEnvironmentLane(), prepareCommitMsg, nil)
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

// runCommitHook judges the index for a hook; mode is the hook's name. merged lists the other sides of the merge that the commit concludes; if it is
// empty, they are those in MERGE_HEAD. If merged is empty and HEAD's configuration is valid, the report also names entries that
// `small-hook guard` or append noted in the work tree and that are missing now.
func runCommitHook(ctx context.Context, req session.Request, mode string, merged []string) *finding.Report {
	mayReplay := mode == prepareCommitMsg || mode == preApplyPatch // git also runs these hooks when it copies an existing commit
	return req.Judge(ctx, mode, func(s *session.Session) (*finding.Report, error) {
		shim, err := readIndexForShim(req, mode) // so that the prepare-commit-msg shim can skip the program if all passes
		if err != nil {
			return nil, err
		}
		head, parents, trustErr := s.TrustHead(ctx, merged)
		if mayReplay { // the rules about the author, the lane and the files beside a log have judged the original commit
			if s.Opts.Replay, err = state.Replays(s.Repo.Where().GitDir); err != nil {
				return nil, err
			}
		}
		report, err := judgeIfTouched(ctx, s, head, parents, trustErr)
		if err != nil || trustErr != nil || len(merged) > 0 { // during a merge, git runs prepare-commit-msg next, and that looks for lost entries
			return report, err
		}
		lost, err := restore.Losses(ctx, s.Repo, parents, restore.Workspace{Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: s.Opts.Now})
		if err != nil {
			return nil, err
		}
		reports := []*finding.Report{report}
		for _, l := range lost {
			if l.Discarded && !l.Staged && mode == prepareCommitMsg {
				continue // pre-commit gives this warning; if it is skipped, nobody does
			}
			reports = append(reports, gate.Lost(ctx, s.Repo, l.Log, l.Noted, l.Index, l.Gone, logs.Loss{Discarded: l.Discarded, Staged: l.Staged}, s.Opts))
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
			return run.EmptyReport(s.Opts), nil // a copied commit passes without warnings: most of them were given for the original
		case report.Verdict == finding.Fail && mayReplay:
			return report, addContinueCommands(ctx, s, parents, report)
		}
		return report, shim.save(s.Repo.Where().GitDir, report)
	})
}

// addContinueCommands changes the report of a rejected commit that is part of an unfinished operation: each fix that restores a log or renames a file
// then also names the commands that continue the operation. There is one exception: a fix that renames a file in a rebase becomes one that gives up the
// rebase. If git copies a commit, a note says how to continue. For a merge and for a first commit, the report stays as it is.
func addContinueCommands(ctx context.Context, s *session.Session, parents []string, report *finding.Report) error {
	unfinished, err := state.Read(s.Repo.Where().GitDir)
	if err != nil || len(parents) != 1 {
		return err
	}
	changes, err := s.Repo.Diff(ctx, history.EdgesOf(history.Index, parents), history.Filter{All: true})
	if err != nil {
		return err
	}
	// A file without a finding stays staged when the findings are mended: then there is something to commit.
	staysStaged := slices.ContainsFunc(changes[0], func(c history.Change) bool {
		return !slices.ContainsFunc(report.Findings, func(f finding.Finding) bool { return f.Path == c.Path })
	})
	commands, err := unfinished.NextCommands(s.Repo.Where().GitDir, staysStaged)
	if err != nil || len(commands) == 0 {
		return err
	}
	next := wording.Commands(commands...)
	for i := range report.Findings {
		f := &report.Findings[i]
		fix, advice, commitsAgain := strings.Cut(f.Fix, remedy.CommitAgain)
		restores := strings.HasPrefix(f.Fix, "`small-hook restore")
		if command, rest, advised := strings.Cut(f.Fix, "`; "); restores && !commitsAgain && advised {
			fix, advice = command+"`", "; "+rest
		}
		switch {
		case commitsAgain && !restores && unfinished.Command == state.Rebase: // the new name would not last: the rebase repeats this step, with the old name
			f.Fix = wording.Commands(state.UndoCommand(state.Rebase)) + "; give the file another name in the commit that adds it, and rebase again, or merge instead"
		case commitsAgain, restores && strings.HasSuffix(fix, "`"):
			f.Fix = fix + ", " + next + advice
		case restores: // the fix ends in words
			f.Fix += "; then " + next
		}
	}
	if s.Opts.Replay {
		note := "once all is mended and staged, type `small-hook restore`, which says how to go on"
		if unfinished.Command == state.Rebase {
			note += " and removes the rejected step from the rebase; otherwise the rebase stops there again"
		}
		report.Examined.Notes = append(report.Examined.Notes, note)
	}
	return nil
}

// judgeIfTouched judges the index if the commit changes a file that the policy judges, or if the caller or the configuration gives the commit a lane.
// trustErr says why HEAD's configuration is invalid or could not be read; nil if it is valid.
func judgeIfTouched(ctx context.Context, s *session.Session, head string, parents []string, trustErr error) (*finding.Report, error) {
	var invalid *policy.InvalidError
	if trustErr != nil && !errors.As(trustErr, &invalid) {
		return nil, trustErr
	}
	// An invalid configuration does not say which files are logs. So any changed file counts, and only an empty commit without a caller's claim
	// of a lane passes.
	files, noLane := history.Filter{All: true}, s.Req.Lane == ""
	if trustErr == nil {
		files, noLane = history.Judged(s.Opts.Policy), !hasLane(s)
	}
	compared := history.Compared{Edges: history.EdgesOf(history.Index, parents)}
	var err error
	compared.Changes, err = s.Repo.Diff(ctx, compared.Edges, files)
	touched := slices.ContainsFunc(compared.Changes, func(c []history.Change) bool { return len(c) > 0 })
	switch {
	case err != nil:
		return nil, err
	case !touched && noLane: // most commits end here
		return run.EmptyReport(s.Opts), nil
	case trustErr != nil && s.Req.Config != "":
		return nil, trustErr
	case trustErr != nil:
		fix, err := fixForInvalidConfig(ctx, s, len(parents) > 1)
		if err != nil {
			return nil, err
		}
		return nil, &failure.Error{Message: failure.Of(trustErr).Message, Remedy: fix + "; " + policy.EveryKey, Err: trustErr}
	}
	s.Opts.Compared = compared
	return judgeIndex(ctx, s, head, parents)
}

// fixForInvalidConfig returns the fix for an invalid configuration in HEAD: how to commit a correct one. In an unfinished merge or cherry-pick, git
// refuses to commit one file alone; in a rebase or revert, that would end the step. There, the change itself may bring a correct configuration.
func fixForInvalidConfig(ctx context.Context, s *session.Session, isMerge bool) (string, error) {
	unfinished, err := state.Read(s.Repo.Where().GitDir)
	if err != nil {
		return "", err
	}
	if !isMerge && (unfinished.Command == "" || unfinished.Command == state.Apply) {
		return "correct " + policy.File + " and commit it alone, unjudged, since hooks take it from HEAD: " +
			wording.Commands("git add -- :/"+policy.File, `git commit --no-verify -m "Correct the configuration" -- :/`+policy.File), nil
	}
	commands := []string{"git commit --no-verify --no-edit", "small-hook audit"}
	if unfinished.Command == state.Rebase {
		commands = slices.Insert(commands, 1, unfinished.Finish)
	}
	commit := wording.Commands(commands...)
	brought, err := s.BringsConfiguration(ctx, history.Index)
	if err != nil || brought {
		return "this change brings a valid one; commit it unjudged, then audit it: " + commit, err
	}
	return "correct " + policy.File + " in this change, commit it unjudged, then audit it: " + wording.Commands("git add -- :/"+policy.File) + ", " + commit, nil
}

// judgeIndex compares the index with the parents of the next commit, and judges the differences. HEAD is the first parent, if HEAD has a
// commit.
func judgeIndex(ctx context.Context, s *session.Session, head string, parents []string) (*finding.Report, error) {
	near, compareWith, err := prepareIndexOptions(ctx, s, head, parents)
	if err != nil {
		return nil, err
	}
	key, err := computePassKey(ctx, s, compareWith, near.list)
	if err != nil {
		return nil, err
	}
	if s.Opts.Mode == prepareCommitMsg {
		if passed, err := key.wasSaved(); passed || err != nil {
			return run.EmptyReport(s.Opts), err
		}
	}
	report := gate.Pending(ctx, s.Repo, compareWith, s.Opts, near.list...)
	if err := near.saveDifferences(); err != nil {
		return nil, &failure.Error{Message: "cannot save the comparison with the logs of other branches: " + err.Error(), Remedy: "make the git directory writable", Err: err}
	}
	passesAsAmend := false
	if report.Verdict == finding.Fail && len(compareWith) == 1 && len(s.Opts.Heads) == 0 {
		amended, err := judgeAsAmend(ctx, s, head)
		if err != nil {
			return nil, err
		}
		if amended != nil {
			report, passesAsAmend = amended, true
		} else if err := cmp.Or(takeFixesFromHistory(ctx, s, head, report), noteScope(ctx, s, head, report)); err != nil {
			return nil, err
		}
	}
	report, err = s.CheckProposed(ctx, history.Index, report, parents...)
	if err == nil && report.Verdict == finding.Pass && !passesAsAmend && s.Opts.Mode != prepareCommitMsg {
		err = key.save()
	}
	return report, err
}

// prepareIndexOptions sets the session's options Heads, Branch, Message and BranchClaim for the judgement of the index. near are the branches on which
// others are at work. compareWith are the commits with which the index is compared: parents, or, with `scope: published`, parents with the newest
// published commits in place of HEAD.
func prepareIndexOptions(ctx context.Context, s *session.Session, head string, parents []string) (near neighbours, compareWith []string, err error) {
	// In prepare-commit-msg, the index is not compared with neighbours if git copies a commit or makes a merge: the copied or merged commits may be
	// a neighbour's.
	if head != "" && (s.Opts.Mode == preCommit || s.Opts.Mode == prepareCommitMsg && !s.Opts.Replay && len(workgit.GitHeads(s.Req.Environ)) == 0) {
		if near, err = listNeighbours(ctx, s); err != nil {
			return near, nil, err
		}
	}
	if head != "" && s.Opts.Policy.Scope == policy.Published {
		published, err := newestPublished(ctx, s, head)
		if err != nil {
			return near, nil, err
		}
		// Entries that only unpublished commits have may be edited, so the logs are compared with published commits. The next commit still has HEAD as
		// its parent.
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

// judgeAsAmend judges the index as a commit that replaces HEAD, because git does not tell a hook whether a commit amends HEAD. It returns nil if HEAD is
// published, if HEAD has no error, or if the index does not pass as HEAD's replacement. If the commit turns out not to amend HEAD, pre-push rejects HEAD.
func judgeAsAmend(ctx context.Context, s *session.Session, head string) (*finding.Report, error) {
	unpublished, err := githistory.Unpublished(ctx, s.Repo, head)
	at := slices.IndexFunc(unpublished, func(c history.Commit) bool { return c.ID == head })
	if err != nil || at < 0 {
		return nil, err
	}
	opts, parents := s.Opts, unpublished[at].Parents
	opts.Trusted = "" // the parents' logs decide which baselines are active
	if branches := opts.Branches; branches != nil {
		opts.Branches = func(ctx context.Context) (history.Branches, error) { // a branch whose tip is HEAD counts as if it stood at HEAD's parent
			b, err := branches(ctx)
			for _, tip := range []*history.Tip{&b.Target, &b.Default} {
				if tip.ID == head && len(parents) > 0 {
					tip.ID = parents[0]
				}
			}
			return b, err
		}
	}
	report := gate.Pending(ctx, s.Repo, parents, opts)
	if report.Verdict != finding.Pass || gate.NewCommits(ctx, s.Repo, "", head, parents, opts).Verdict != finding.Fail {
		return nil, nil
	}
	return report, nil
}

// takeFixesFromHistory looks for lint errors in workspaces' progress logs. If HEAD has the same error, takeFixesFromHistory replaces the error's fix:
// the commit that brought the error has to be corrected, not the index.
func takeFixesFromHistory(ctx context.Context, s *session.Session, head string, report *finding.Report) error {
	tips, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return err
	}
	s.SetStandings(ctx, head)
	opts := s.Opts
	opts.Trusted = ""
	// Search the unpublished commits first, because they are few, and only then the whole history.
	fixes, excluded := map[string]string{}, [][]string{tips, nil}
	for i := range report.Findings {
		f := &report.Findings[i]
		isSame := func(g finding.Finding) bool { return g.Fingerprint() == f.Fingerprint() }
		dir, artifact, _ := small.SplitPath(f.Path)
		if artifact != small.Progress.FileName() || f.Stage != finding.StageLint || f.Severity != finding.SeverityError ||
			!slices.ContainsFunc(gate.Check(ctx, s.Repo, head, dir, opts).Findings, isSame) {
			continue
		}
		for ; fixes[f.Fingerprint()] == "" && len(excluded) > 0; excluded = excluded[1:] {
			for _, g := range gate.NewCommits(ctx, s.Repo, "", head, excluded[0], opts).Findings {
				fixes[g.Fingerprint()] = g.Fix
			}
		}
		f.Fix = cmp.Or(fixes[f.Fingerprint()], f.Fix)
	}
	return nil
}

// preparedMessage reads the message that git has prepared for an agent's commit: in a squash, a merge, a cherry-pick or a revert. It returns "" for a
// person's commit.
func preparedMessage(s *session.Session) (string, error) {
	if s.Req.Agent() == "" {
		return "", nil
	}
	return state.Message(s.Repo.Where().GitDir)
}

// newestPublished lists the newest published commits of head's history: on each path from head back through its ancestors, the first commit that a
// remote-tracking branch has. If head is published, the list holds only head.
func newestPublished(ctx context.Context, s *session.Session, head string) ([]string, error) {
	commits, err := githistory.Unpublished(ctx, s.Repo, head)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return []string{head}, nil
	}
	seen := map[string]bool{}
	for _, c := range commits {
		seen[c.ID] = true
	}
	var published []string
	for _, c := range history.InOrder(commits) {
		for _, p := range c.Parents {
			if !seen[p] {
				seen[p] = true
				published = append(published, p)
			}
		}
	}
	return published, nil
}
