package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// CI judges the commits that a plan names. First it finds these commits in the clone, and fetches those that the clone lacks. If it cannot find a
// commit that it needs, the report is a failure. It can do without the CI system's merge (findMerge), and in some cases without the tip before a push
// (findTipBeforePush). The facts say what was compared, and by which policy.
func CI(ctx context.Context, req session.Request, plan ci.Plan, token Token) (*finding.Report, []Fact) {
	req.Labels, req.RepositoryName = plan.Labels, plan.Name
	req = req.WithEnvironmentLane()
	if plan.Guarded {
		req.Environ = githistory.Guarded(req.Environ)
	}
	j := &job{req: req, plan: plan, token: token, fetchErrors: map[string]error{}}
	found, findErr := j.findCommits(ctx)
	facts, notes := j.facts, j.notes
	report := req.Judge(ctx, string(plan.Kind), func(s *session.Session) (*finding.Report, error) {
		j.facts, j.notes = slices.Clone(facts), slices.Clone(notes) // Judge may call this function again, for the floor or with another reader
		if findErr != nil {
			return nil, findErr
		}
		return j.judgeFound(ctx, s, found)
	})
	report.Examined.Branch = cmp.Or(report.Examined.Branch, branchName(plan.Ref, origin))
	report.Examined.CommitLink = plan.CommitLink
	report.Examined.Source = plan.System.Name + ", " + plan.Event
	report.Examined.Notes = append(report.Examined.Notes, slices.Concat(plan.Notes, j.notes, j.ignoredLaneNotes(report))...)
	if report.Failure != nil {
		report.Failure = j.explainFailure(report.Failure)
	}
	return report, j.completeFacts(report)
}

// job is one run of CI.
type job struct {
	req   session.Request
	plan  ci.Plan
	token Token
	// fetchErrors holds the result of each fetch, by id or refspec; nil for success. fetchCommands are the commands that a person could type for
	// the fetches that succeeded.
	fetchErrors   map[string]error
	fetchCommands []string
	// shallow is true if the clone was shallow when findCommits last opened it.
	shallow bool
	facts   []Fact
	notes   []string
	// keepRemedy is true if the failure's remedy also helps in a shallow clone: explainFailure then does not replace it.
	keepRemedy bool
	// hasOrigin is true if the clone has a remote called origin. originIsTarget is true if origin is the target's repository; foreignOrigin is the
	// name of origin's repository if that is another one. Neither is set if origin's address does not show which repository it is.
	hasOrigin, originIsTarget bool
	foreignOrigin             string
	// nonMerges are the commits that the CI system made for this run and that are not merges of the head.
	nonMerges []ci.Point
	// head is the id of the commit to judge; empty until findInClone has found the commit.
	head string
}

// judgeFound judges what findCommits has found.
func (j *job) judgeFound(ctx context.Context, s *session.Session, found foundPlan) (*finding.Report, error) {
	switch found.kind {
	case ci.Change:
		return j.judgeChange(ctx, s, found)
	case ci.Push:
		return j.judgePush(ctx, s, found)
	case ci.History:
		return j.judgeHistory(ctx, s, found)
	}
	return run.EmptyReport(s.Opts), nil
}

// judgeChange judges a pull request, a merge request, a merge group, or a change that the caller names.
func (j *job) judgeChange(ctx context.Context, s *session.Session, found foundPlan) (*finding.Report, error) {
	s.Opts.Branch = j.plan.Source
	s.SetStandingOfAll(ctx, history.Published)
	s.SetBranches(history.Tip{ID: found.base}, history.Tip{}) // whatever branches the clone has, no commit of the change has landed
	if err := j.trustCommit(ctx, s, found.base, found.baseLabel); err != nil {
		return nil, err
	}
	report, err := s.CheckProposed(ctx, j.head, j.judgeFilesIfNothingNew(ctx, s, found.baseLabel, gate.RangeInto(ctx, s.Repo, found.base, j.head, found.merge, s.Opts)))
	if err != nil || found.merge == "" {
		return report, err
	}
	return s.CheckProposed(ctx, found.merge, report)
}

// judgeFilesIfNothingNew adds a judgement of the head's files to a report without commits: then the target already has the head. targetLabel names the
// target for people.
func (j *job) judgeFilesIfNothingNew(ctx context.Context, s *session.Session, targetLabel string, r *finding.Report) *finding.Report {
	if r.Failure != nil || r.Examined.Commits > 0 {
		return r
	}
	files := gate.CheckAll(ctx, s.Repo, j.head, "", s.Opts)
	if files.Failure != nil && errors.Is(files.Failure, gate.ErrNothing) {
		return r
	}
	reason := fmt.Sprintf("%s already has %s, so the files of that commit are judged", targetLabel, j.head)
	j.fact("no commit is new", "%s", reason)
	j.note("no commit is new: %s", reason)
	all := finding.Combine([]*finding.Report{r, files})
	all.NoWorkspace, all.Examined.Base, all.Examined.Head = false, r.Examined.Base, r.Examined.Head
	return all
}

// judgePush judges the move of a ref. If the ref is the default branch, or if there is no default branch, it also judges the ref's commits from before the
// push.
func (j *job) judgePush(ctx context.Context, s *session.Session, found foundPlan) (*finding.Report, error) {
	u := found.update
	s.Opts.Branch = branchName(j.plan.Ref, origin)
	if u.PolicyFromOldTip {
		s.SetStandingOfAll(ctx, history.Landed)
		s.SetBranches(history.Tip{ID: u.Old}, history.Tip{ID: u.New})
	} else {
		s.SetStandingOfAll(ctx, history.Published)
		s.SetBranches(u.Target, u.Target)
	}
	if err := trustForRef(ctx, s, u, found.defaultBranch); err != nil {
		return nil, err
	}
	if err := j.checkConfigExists(ctx, s); err != nil {
		return nil, err
	}
	old, err := j.rejudgeOldCommits(ctx, s, u)
	if err != nil {
		return nil, err
	}
	report := j.judgeFilesIfNothingNew(ctx, s, found.baseLabel, gate.Push(ctx, s.Repo, u, s.Opts))
	if old != nil {
		report = finding.Combine([]*finding.Report{report, old})
		report.Examined.Base, report.Examined.Head = u.Old, u.New
	}
	return s.CheckProposed(ctx, u.New, report)
}

// rejudgeOldCommits judges again the commits that the pushed ref had before the push and still has, if the ref is the default branch or if there is no
// default branch: the run that should have judged these commits may have been cancelled, superseded or skipped. It returns nil if there are no such
// commits, and for other refs, for which all commits that the default branch lacks are judged anyway.
func (j *job) rejudgeOldCommits(ctx context.Context, s *session.Session, u history.Update) (*finding.Report, error) {
	if !u.PolicyFromOldTip || u.Old == "" {
		return nil, nil
	}
	shared, err := s.Repo.MergeBases(ctx, u.Old, u.New)
	if err != nil || len(shared) == 0 {
		return nil, err
	}
	opts, added, err := s.OptionsForOldCommits(ctx, u.New)
	if err != nil {
		return nil, err
	}
	for _, b := range added {
		j.note("this push adds a baseline for the first %s of %s: it accepts what earlier commits did to that log", wording.Count(b.Entries, "entry"), b.Path)
	}
	// Both judgements share the record of reported edits, so that no edit is reported twice.
	opts.Reported = finding.ReportedEdits{}
	s.Opts.Reported = opts.Reported
	report := gate.LastingErrors(ctx, s.Repo, shared, opts)
	j.fact("judged again", "%s from before the push, only to look for entries that were changed or lost", wording.Count(report.Examined.Commits, "commit"))
	report.Examined.Commits = 0 // the combined report counts only the push's commits
	return report, nil
}

// judgeHistory judges all commits of the head's history.
func (j *job) judgeHistory(ctx context.Context, s *session.Session, found foundPlan) (*finding.Report, error) {
	if err := j.trustCommit(ctx, s, found.base, found.baseLabel); err != nil {
		return nil, err
	}
	s.SetStandingOfAll(ctx, history.Landed)
	s.SetBranches(history.Tip{}, history.Tip{ID: found.base})
	return gate.Audit(ctx, s.Repo, j.head, s.Opts), nil
}

// trustCommit takes the policy from a commit. label names the commit in messages.
func (j *job) trustCommit(ctx context.Context, s *session.Session, commit, label string) error {
	if err := s.Trust(ctx, commit, label); err != nil {
		return err
	}
	return j.checkConfigExists(ctx, s)
}

// checkConfigExists fails if the caller names a configuration file that neither the trusted commit nor the head has: without this check, CI would judge by
// the built-in policy if the name is misspelt.
func (j *job) checkConfigExists(ctx context.Context, s *session.Session) error {
	path := s.Req.TrustedConfig
	if path == "" || s.Req.Config != "" || s.TrustedText != nil {
		return nil
	}
	_, found, err := githistory.ReadFile(ctx, s.Repo, j.head, path, policy.MaxSize)
	if err != nil {
		return err
	}
	if found {
		j.note("the configuration %s is new in the commit that is judged, and counts once the trusted side has it", path)
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("there is no %s, neither on the trusted side nor in the commit that is judged", wording.Printable(path)),
		Remedy:  "set the input config to a file that the repository has, or leave it out",
	}
}
