package entrypoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/wording"
)

// CI judges what a plan asks for. What the clone lacks is fetched if that is possible; a point of the plan that is unavailable gives way
// to the next one, and without a next one nothing can be judged. The facts are what was compared and by whose policy.
func CI(ctx context.Context, req session.Request, plan ci.Plan, token Token) (*finding.Report, []Fact) {
	req.Labels = plan.Labels
	req = req.WithLane()
	if plan.Guarded {
		req.Environ = githistory.Guarded(req.Environ)
	}
	job := &job{req: req, plan: plan, token: token, asked: map[string]error{}}
	var report *finding.Report
	for again := true; again; {
		report = req.Judge(ctx, string(plan.Kind), func(s *session.Session) (*finding.Report, error) {
			// The other reader may run this again.
			job.facts, job.notes, job.wants, job.shallow = nil, nil, "", s.Repo.Where().Shallow
			return job.judge(ctx, s)
		})
		again = report.Failure != nil && ctx.Err() == nil && job.fetchMissing(ctx, report.Failure)
	}
	report.Examined.Repository = cmp.Or(plan.Name, report.Examined.Repository)
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
	// wants is what the last attempt needs to have fetched; empty for nothing.
	wants string
	// asked is what git was asked to fetch, and its error; fetched is what to type for what came.
	asked   map[string]error
	fetched []string
	// shallow says that the clone hides history, as of the last attempt.
	shallow bool
	facts   []Fact
	notes   []string
	// keepRemedy says that the remedy of the failure helps in a shallow clone too.
	keepRemedy bool
	// remote says that there is an origin; fork is its repository if its branches are not those that count, and own that its address says
	// that they are.
	remote, own bool
	fork        string
	// made is what the system made of the head that is no merge of it.
	made []ci.Point
	// head is the commit to judge, once it is known.
	head string
}

// judge does what the plan says with what is in the clone. If it fails, wants may say what to fetch.
func (j *job) judge(ctx context.Context, s *session.Session) (*finding.Report, error) {
	if j.plan.Kind == ci.Nothing {
		return run.Nothing(s.Opts), nil
	}
	if err := j.inspectOrigin(ctx, s); err != nil {
		return nil, err
	}
	head, words, err := j.find(ctx, s, j.plan.Head)
	if err != nil {
		return j.withoutCommit(ctx, s, j.missingHead(err))
	}
	j.head = head
	j.fact("head", "%s (%s)", head, words)
	switch j.plan.Kind {
	case ci.Change:
		return j.change(ctx, s, head)
	case ci.Push:
		return j.push(ctx, s, head)
	}
	return j.history(ctx, s, head)
}

// withoutCommit accepts a pushed tag that leads to no commit; there is nothing to judge.
func (j *job) withoutCommit(ctx context.Context, s *session.Session, err error) (*finding.Report, error) {
	if j.plan.Kind != ci.Push || !strings.HasPrefix(j.plan.Ref, "refs/tags/") || len(j.plan.Head) == 0 {
		return nil, err
	}
	id := j.plan.Head[0].Revision
	if commit, here, peelErr := s.Repo.Peel(ctx, id); peelErr != nil || !here || commit != "" {
		return nil, err
	}
	j.fact("nothing to judge", "%s names no commit", j.plan.Ref)
	return run.Nothing(s.Opts), nil
}

// change judges a pull request, a merge request, a merge group, or what the caller names.
func (j *job) change(ctx context.Context, s *session.Session, head string) (*finding.Report, error) {
	base, merge, words, err := j.mergeOf(ctx, s, head)
	if err != nil {
		return nil, err
	}
	if base == "" {
		if base, words, err = j.find(ctx, s, j.plan.Base); err != nil {
			return nil, err
		}
		if base, words, err = j.resolveBase(ctx, s, base, words, head); err != nil {
			return nil, err
		}
		if merge, err = j.madeAfter(ctx, s, base); err != nil {
			return nil, err
		}
	}
	s.Opts.Branch = j.plan.Source
	s.AllStand(ctx, history.Published)
	j.fact("base", "%s (%s)", base, words)
	reported := []string{base}
	for _, p := range j.plan.Base {
		if len(p.Fetch) > 0 && p.Fetch[0] == p.Revision && !slices.Contains(reported, p.Revision) {
			reported = append(reported, p.Revision)
			j.fact("passed over", "%s (%s)", p.Revision, p.Words)
		}
	}
	if err := s.Trust(ctx, base, words); err != nil {
		return nil, err
	}
	if err := j.checkConfigExists(ctx, s, head); err != nil {
		return nil, err
	}
	if merge == "" {
		return s.CheckAdded(ctx, head, j.orFiles(ctx, s, words, gate.Range(ctx, s.Repo, base, head, s.Opts)))
	}
	j.fact("merge result", "%s", merge)
	r, err := s.CheckAdded(ctx, head, j.orFiles(ctx, s, words, gate.RangeInto(ctx, s.Repo, base, head, merge, s.Opts)))
	if err != nil {
		return nil, err
	}
	return s.CheckAdded(ctx, merge, r)
}

// orFiles completes a report without any commit, since the target already has the head: then the head's files are judged. target names
// who has it.
func (j *job) orFiles(ctx context.Context, s *session.Session, target string, r *finding.Report) *finding.Report {
	if r.Failure != nil || r.Examined.Commits > 0 {
		return r
	}
	files := gate.CheckAll(ctx, s.Repo, j.head, "", s.Opts)
	if files.Failure != nil && errors.Is(files.Failure, gate.ErrNothing) {
		return r
	}
	j.fact("no commit is new", "%s already has %s; its files are judged", target, j.head)
	j.notes = append(j.notes, fmt.Sprintf("no commit is new: %s already has %s; its files are judged", target, j.head))
	all := finding.Combine([]*finding.Report{r, files})
	all.NoWorkspace, all.Examined.Base, all.Examined.Head = false, r.Examined.Base, r.Examined.Head
	return all
}

// mayDeepen reports whether a shallow clone's hidden history was not asked for yet.
func (j *job) mayDeepen(s *session.Session, spec string) bool {
	_, asked := j.asked[spec]
	return s.Repo.Where().Shallow && !asked
}

func (j *job) push(ctx context.Context, s *session.Session, head string) (*finding.Report, error) {
	branch, err := j.defaultBranch(ctx, s)
	if err != nil {
		return nil, err
	}
	if j.plan.NoBefore && branch.ID != "" {
		has, err := s.Repo.IsAncestor(ctx, head, branch.ID)
		if err != nil {
			return nil, err
		}
		if has {
			// It can be the default branch itself, since which nothing is new.
			j.fact("base", "none: %s has it, and its whole history is judged", branch.Ref)
			return j.audit(ctx, s, head, branch.ID, branch.Ref)
		}
	}
	onDefault := j.plan.OnDefault || branch.ID == ""
	update := history.Update{Ref: j.plan.Ref, New: head, Name: branchName(j.plan.Ref, origin), PolicyFromOldTip: onDefault}
	s.Opts.Branch = branchName(j.plan.Ref, origin)
	s.AllStand(ctx, history.Published)
	if onDefault {
		s.AllStand(ctx, history.Landed)
	}
	if update.Old, err = j.before(ctx, s, onDefault); err != nil {
		return nil, err
	}
	has := "the tip before the push"
	if !onDefault {
		// What an earlier push brought is judged again until the default branch has it.
		update.Known, update.RejudgeOld, has = []string{branch.ID}, true, branch.Ref
	}
	switch {
	case onDefault:
	case update.Old != "":
		j.fact("new since", "%s (%s)", branch.ID, branch.Ref)
	case len(j.plan.Base) > 0:
		j.fact("base", "%s (%s; the tip before the push is not here)", branch.ID, branch.Ref)
	case j.plan.NoBefore:
		j.fact("base", "%s (%s)", branch.ID, branch.Ref)
	default:
		j.fact("base", "%s (%s; the ref is new)", branch.ID, branch.Ref)
	}
	if !onDefault && j.plan.Compare {
		update.Target = history.Tip{ID: branch.ID, Name: history.ShortRef(branch.Ref)}
		j.fact("compared with", "%s (%s), as a warning", branch.ID, branch.Ref)
	}
	if update.Old == "" && onDefault {
		j.fact("base", "none: the ref is new, and its whole history is judged")
	}
	if err := trustForRef(ctx, s, update, branch); err != nil {
		return nil, err
	}
	if err := j.checkConfigExists(ctx, s, head); err != nil {
		return nil, err
	}
	return j.update(ctx, s, update, has)
}

// update judges the move of a ref, and of the default branch also what was there before. has names what has the head if nothing is new.
func (j *job) update(ctx context.Context, s *session.Session, u history.Update, has string) (*finding.Report, error) {
	past, err := j.past(ctx, s, u)
	if err != nil {
		return nil, err
	}
	report := j.orFiles(ctx, s, has, gate.Push(ctx, s.Repo, u, s.Opts))
	if past != nil {
		report = finding.Combine([]*finding.Report{report, past})
		report.Examined.Base, report.Examined.Head = u.Old, u.New
	}
	return s.CheckAdded(ctx, u.New, report)
}

// past judges again what the default branch had before a push and still has: the run that should have judged it may have been cancelled,
// superseded or skipped. It is nil if there was nothing before, and for other branches, which are judged whole anyway.
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
		j.notes = append(j.notes, fmt.Sprintf("this push adds the baseline of %s, %s: it accepts what earlier commits did to that log", b.Path, wording.Count(b.Entries, "entry")))
	}
	opts.Reported = finding.ReportedEdits{}
	s.Opts.Reported = opts.Reported
	report := gate.Lasting(ctx, s.Repo, shared, opts)
	j.fact("judged again", "%s from before the push, for entries that were changed or lost", wording.Count(report.Examined.Commits, "commit"))
	report.Examined.Commits = 0 // of the push
	return report, nil
}

// before is the ref's tip before the push; empty for a new ref. A tip that the server says it does not have is passed over with a note
// if the default branch bounds what is new. On the default branch itself nothing does.
func (j *job) before(ctx context.Context, s *session.Session, onDefault bool) (string, error) {
	if len(j.plan.Base) == 0 {
		return "", nil
	}
	old, words, err := j.find(ctx, s, j.plan.Base)
	switch {
	case err == nil:
		j.fact("base", "%s (%s)", old, words)
		return old, nil
	case j.wants != "", !errors.Is(err, githistory.ErrLacking), s.Repo.Where().Shallow:
		return "", err
	case j.withoutGit():
		return "", &failure.Error{Message: failure.Of(err).Message, Remedy: withGit, Err: err}
	case !errors.Is(j.asked[j.plan.Base[0].Revision], githistory.ErrGone):
		return "", &failure.Error{Message: failure.Of(err).Message, Remedy: withCredentials, Err: err}
	case onDefault:
		return "", err
	}
	j.notes = append(j.notes, fmt.Sprintf("the tip before the push, %s, is gone: what came since the default branch is judged, "+
		"but not whether the push drops entries that only that tip had", j.plan.Base[0].Revision))
	return "", nil
}

// defaultBranch looks the default branch up. It is the zero Branch if it is what is judged, and in a clone without a remote that has
// none.
func (j *job) defaultBranch(ctx context.Context, s *session.Session) (githistory.Branch, error) {
	if j.plan.OnDefault {
		return githistory.Branch{}, nil
	}
	if len(j.plan.Default) > 0 {
		id, _, err := j.find(ctx, s, j.plan.Default)
		if err != nil {
			return githistory.Branch{}, err
		}
		return githistory.Branch{Ref: j.plan.Default[0].Revision, ID: id}, nil
	}
	if j.fork != "" {
		return githistory.Branch{}, j.forkRemoteError(nil)
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, origin)
	if j.remote && strings.HasPrefix(branch.Ref, "refs/heads/") {
		branch = githistory.Branch{} // somebody's own, of that name
	}
	if err == nil && !j.plan.NoBefore && j.plan.Ref != "" && branchName(branch.Ref, origin) == branchName(j.plan.Ref, origin) {
		return githistory.Branch{}, nil
	}
	if err == nil && branch.ID == "" && j.remote && j.plan.Kind != ci.Change {
		return branch, &failure.Error{
			Message: "the default branch is unknown: the event does not name it, and this clone has neither refs/remotes/origin/HEAD nor a branch of a usual name",
			Remedy:  `git fetch origin "+refs/heads/*:refs/remotes/origin/*" && git remote set-head origin --auto`,
		}
	}
	return branch, err
}

func (j *job) history(ctx context.Context, s *session.Session, head string) (*finding.Report, error) {
	branch, err := j.defaultBranch(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case branch.ID == "": // it is what is judged, or there is none
		return j.audit(ctx, s, head, head, j.plan.Head[0].Words)
	}
	return j.audit(ctx, s, head, branch.ID, branch.Ref)
}

func (j *job) audit(ctx context.Context, s *session.Session, head, trusted, label string) (*finding.Report, error) {
	if err := s.Trust(ctx, trusted, label); err != nil {
		return nil, err
	}
	if err := j.checkConfigExists(ctx, s, head); err != nil {
		return nil, err
	}
	s.AllStand(ctx, history.Landed)
	return gate.Audit(ctx, s.Repo, head, s.Opts), nil
}

// checkConfigExists demands that the configuration which the caller names is in the trusted tree or, being new, in the change: a misspelt
// name would mean the built-in defaults.
func (j *job) checkConfigExists(ctx context.Context, s *session.Session, head string) error {
	path := s.Req.TrustedConfig
	if path == "" || s.Req.Config != "" || s.Trusted != nil {
		return nil
	}
	_, found, err := githistory.ReadFile(ctx, s.Repo, head, path, policy.MaxSize)
	if err != nil {
		return err
	}
	if found {
		j.notes = append(j.notes, fmt.Sprintf("the configuration %s is new in this change and counts once the trusted tree has it", path))
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("there is no %s, neither in the trusted tree nor in the change", wording.Printable(path)),
		Remedy:  "name a file of the repository with the input config, or leave it out",
	}
}
