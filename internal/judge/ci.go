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

// CI judges what a plan asks for. First it finds the points of the plan: it fetches what the clone lacks, if possible; an unavailable point
// is replaced by the next, and without a next one nothing can be judged. Then it judges everything once. The facts say what was compared
// and under whose policy.
func CI(ctx context.Context, req session.Request, plan ci.Plan, token Token) (*finding.Report, []Fact) {
	req.Labels, req.Name = plan.Labels, plan.Name
	req = req.WithLane()
	if plan.Guarded {
		req.Environ = githistory.Guarded(req.Environ)
	}
	job := &job{req: req, plan: plan, token: token, asked: map[string]error{}}
	found, unavailable := job.prepare(ctx)
	facts, notes := job.facts, job.notes
	report := req.Judge(ctx, string(plan.Kind), func(s *session.Session) (*finding.Report, error) {
		job.facts, job.notes = slices.Clone(facts), slices.Clone(notes) // Judge may call this again, for the floor or with another reader
		if unavailable != nil {
			return nil, unavailable
		}
		return job.judge(ctx, s, found)
	})
	report.Examined.Branch = cmp.Or(report.Examined.Branch, branchName(plan.Ref, origin))
	report.Examined.CommitLink = plan.CommitLink
	report.Examined.Source = plan.System.Name + ", " + plan.Event
	report.Examined.Notes = append(report.Examined.Notes, slices.Concat(plan.Notes, job.notes, job.ignoredLanes(report))...)
	if report.Failure != nil {
		report.Failure = job.explain(report.Failure)
	}
	return report, job.account(report)
}

// job is one run of CI.
type job struct {
	req   session.Request
	plan  ci.Plan
	token Token
	// asked has what git was asked to fetch, with the error; fetched has, for each fetch that succeeded, the command that a person could type.
	asked   map[string]error
	fetched []string
	// shallow says that the clone hides history, as of the last fetch.
	shallow bool
	facts   []Fact
	notes   []string
	// keepRemedy says that the remedy of the failure helps in a shallow clone too.
	keepRemedy bool
	// remote is true if there is an origin. fork is origin's repository, if that is not the target's; own is true if origin's address says that
	// it is. Neither is set if the address does not tell.
	remote, own bool
	fork        string
	// made has the commits that the system made for the head and that are no merge of it.
	made []ci.Point
	// head is the commit to judge, once it is known.
	head string
}

// judge judges what was found.
func (j *job) judge(ctx context.Context, s *session.Session, t ciTarget) (*finding.Report, error) {
	switch t.kind {
	case ci.Change:
		return j.change(ctx, s, t)
	case ci.Push:
		return j.push(ctx, s, t)
	case ci.History:
		return j.audit(ctx, s, t)
	}
	return run.EmptyReport(s.Opts), nil
}

// change judges a pull request, a merge request, a merge group, or a change that the caller names.
func (j *job) change(ctx context.Context, s *session.Session, t ciTarget) (*finding.Report, error) {
	s.Opts.Branch = j.plan.Source
	s.StandAllAs(ctx, history.Published)
	s.SetBranches(history.Tip{ID: t.base}, history.Tip{}) // nothing of a change has landed, whatever branches the clone has
	if err := j.trust(ctx, s, t.base, t.words); err != nil {
		return nil, err
	}
	if t.merge == "" {
		return s.CheckProposed(ctx, j.head, j.judgeFilesIfNothingNew(ctx, s, t.words, gate.Range(ctx, s.Repo, t.base, j.head, s.Opts)))
	}
	report, err := s.CheckProposed(ctx, j.head, j.judgeFilesIfNothingNew(ctx, s, t.words, gate.RangeInto(ctx, s.Repo, t.base, j.head, t.merge, s.Opts)))
	if err != nil {
		return nil, err
	}
	return s.CheckProposed(ctx, t.merge, report)
}

// judgeFilesIfNothingNew judges the head's files if the report has no commits because the target already has the head. target says in words who has it.
func (j *job) judgeFilesIfNothingNew(ctx context.Context, s *session.Session, target string, r *finding.Report) *finding.Report {
	if r.Failure != nil || r.Examined.Commits > 0 {
		return r
	}
	files := gate.CheckAll(ctx, s.Repo, j.head, "", s.Opts)
	if files.Failure != nil && errors.Is(files.Failure, gate.ErrNothing) {
		return r
	}
	why := fmt.Sprintf("%s already has %s, so the files of that commit are judged", target, j.head)
	j.fact("no commit is new", "%s", why)
	j.note("no commit is new: %s", why)
	all := finding.Combine([]*finding.Report{r, files})
	all.NoWorkspace, all.Examined.Base, all.Examined.Head = false, r.Examined.Base, r.Examined.Head
	return all
}

// push judges the move of a ref, and for the default branch also its commits from before the push.
func (j *job) push(ctx context.Context, s *session.Session, t ciTarget) (*finding.Report, error) {
	u := t.update
	s.Opts.Branch = branchName(j.plan.Ref, origin)
	if u.PolicyFromOldTip {
		s.StandAllAs(ctx, history.Landed)
		s.SetBranches(history.Tip{ID: u.Old}, history.Tip{ID: u.New})
	} else {
		s.StandAllAs(ctx, history.Published)
		s.SetBranches(u.Target, u.Target)
	}
	if err := trustForRef(ctx, s, u, t.branch); err != nil {
		return nil, err
	}
	if err := j.checkConfigExists(ctx, s); err != nil {
		return nil, err
	}
	past, err := j.past(ctx, s, u)
	if err != nil {
		return nil, err
	}
	report := j.judgeFilesIfNothingNew(ctx, s, t.words, gate.Push(ctx, s.Repo, u, s.Opts))
	if past != nil {
		report = finding.Combine([]*finding.Report{report, past})
		report.Examined.Base, report.Examined.Head = u.Old, u.New
	}
	return s.CheckProposed(ctx, u.New, report)
}

// past judges again the commits that the default branch had before a push and still has: the run that should have judged them may have been
// cancelled, superseded or skipped. It is nil if there were none, and for other branches, which are judged whole anyway.
func (j *job) past(ctx context.Context, s *session.Session, u history.Update) (*finding.Report, error) {
	if !u.PolicyFromOldTip || u.Old == "" {
		return nil, nil
	}
	shared, err := s.Repo.MergeBases(ctx, u.Old, u.New)
	if err != nil || len(shared) == 0 {
		return nil, err
	}
	opts, added, err := s.Lasting(ctx, u.New)
	if err != nil {
		return nil, err
	}
	for _, b := range added {
		j.note("this push adds the baseline of %s, %s: it accepts what earlier commits did to that log", b.Path, wording.Count(b.Entries, "entry"))
	}
	// Both judgements share one record of reported edits, so that neither reports an edit twice.
	opts.Reported = finding.ReportedEdits{}
	s.Opts.Reported = opts.Reported
	report := gate.Lasting(ctx, s.Repo, shared, opts)
	j.fact("judged again", "%s from before the push, for entries that were changed or lost", wording.Count(report.Examined.Commits, "commit"))
	report.Examined.Commits = 0 // the report counts the push's commits
	return report, nil
}

// audit judges the whole history of the head.
func (j *job) audit(ctx context.Context, s *session.Session, t ciTarget) (*finding.Report, error) {
	if err := j.trust(ctx, s, t.base, t.words); err != nil {
		return nil, err
	}
	s.StandAllAs(ctx, history.Landed)
	s.SetBranches(history.Tip{}, history.Tip{ID: t.base})
	return gate.Audit(ctx, s.Repo, j.head, s.Opts), nil
}

// trust takes the policy from a commit, called name in messages.
func (j *job) trust(ctx context.Context, s *session.Session, commit, name string) error {
	if err := s.Trust(ctx, commit, name); err != nil {
		return err
	}
	return j.checkConfigExists(ctx, s)
}

// checkConfigExists demands that the configuration named by the caller is in the trusted tree or, if new, in the change: a misspelt name
// would mean the built-in defaults.
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
		j.note("the configuration %s is new in this change and counts once the trusted side has it", path)
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("there is no %s, neither on the trusted side nor in the change", wording.Printable(path)),
		Remedy:  "name a file of the repository with the input config, or leave it out",
	}
}
