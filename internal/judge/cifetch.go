package judge

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/ci"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// first takes the first point that the clone has. A missing one is fetched, if possible, before the next is tried.
func (j *job) first(ctx context.Context, s *session.Session, points []ci.Point) (id, words string, err error) {
	var first error
	for _, p := range points {
		if !j.usable(p) {
			continue
		}
		id, err := s.Repo.Resolve(ctx, p.Revision)
		lacking := errors.Is(err, history.ErrLacking)
		if lacking || p.Stale {
			if err := j.fetch(ctx, p.Fetch...); err != nil {
				return "", "", err
			}
		}
		switch {
		case err == nil:
			j.noteStale(p)
			return id, p.Words, s.CheckUnambiguous(ctx, p.Revision, id)
		case !lacking:
			return "", "", err
		case first == nil:
			first = unavailable(p, err)
		}
	}
	if slices.ContainsFunc(points, func(p ci.Point) bool { return p.Branch }) && j.fork != "" {
		return "", "", j.forkRemoteError(first)
	}
	if first == nil {
		first = &failure.Error{Message: "there is nothing to compare with", Remedy: "say what to compare: `small-action --base origin/main --head HEAD`, or the inputs base and head"}
	}
	return "", "", first
}

// noteStale notes that a branch could not be fetched again.
func (j *job) noteStale(p ci.Point) {
	note := p.Words + " could not be fetched again and is taken as it was fetched last"
	if p.Stale && j.asked[p.Fetch[0]] != nil && !slices.Contains(j.notes, note) {
		j.notes = append(j.notes, note)
	}
}

// unavailable is the failure for a point that is not in the clone and could not be fetched.
func unavailable(p ci.Point, err error) error {
	f := *failure.Of(err)
	f.Message, f.Err = p.Words+": "+f.Message, err
	if len(p.Fetch) > 0 {
		f.Remedy = "see whether the remote still has it: `git ls-remote origin`; or say what to compare with the inputs base and head (--base and --head)"
	}
	return &f
}

// withGit and withCredentials are the remedies if a tip that is on no branch any more cannot be fetched.
const (
	withGit         = "run this where git is installed, as it is in the image: fetch-depth: 0 does not bring the tip, since no branch has it any more"
	withCredentials = "let the step ask the server: in a GitHub action, give the job the permission contents: read, and leave the input token as it is by default; elsewhere keep the credentials of the checkout"
)

// withoutGit reports whether something could not be fetched because there is no git.
func (j *job) withoutGit() bool {
	for _, err := range j.asked {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
			return true
		}
	}
	return false
}

// missingHead is the failure for a head that is not here. In a workflow of the target, no checkout depth fetches the head of a fork.
func (j *job) missingHead(err error) error {
	if !j.plan.Guarded || !errors.Is(err, history.ErrLacking) {
		return err
	}
	for _, p := range j.plan.Head {
		for _, spec := range p.Fetch {
			if strings.HasPrefix(spec, "refs/") {
				f := *failure.Of(err)
				f.Remedy, j.keepRemedy = "in a step before this one: `git fetch --no-tags origin "+wording.ShellWord(spec)+"`", true
				return &f
			}
		}
	}
	return err
}

// Token is a credential that a job may show to its event's server, to fetch what a checkout without credentials cannot.
type Token struct{ Server, Value string }

// errReopen is not a failure: git was asked to fetch something, and the repository must be reopened to see whether anything arrived.
var errReopen = errors.New("the repository has to be opened again")

// fetch asks the installed git, even if go-git judges, for the first of some ids or refspecs that was not asked for yet: with the checkout's
// settings, and if that fails with the token. The error is errReopen, or nil if nothing is left to ask for. Fetch errors are kept for explain.
func (j *job) fetch(ctx context.Context, specs ...string) error {
	i := slices.IndexFunc(specs, func(spec string) bool { _, asked := j.asked[spec]; return !asked })
	if i < 0 {
		return nil
	}
	spec := specs[i]
	err := j.fetchAs(ctx, spec, j.req.Environ)
	if err != nil && !errors.Is(err, githistory.ErrGone) && j.token.Server != "" && j.token.Value != "" {
		err = j.fetchAs(ctx, spec, githistory.WithToken(j.req.Environ, j.token.Server, j.token.Value))
	}
	j.asked[spec] = err
	switch {
	case err != nil:
	case j.shallow:
		j.fetched = append(j.fetched, "git fetch --unshallow origin "+spec)
	default:
		j.fetched = append(j.fetched, "git fetch origin "+spec)
	}
	return errReopen
}

func (j *job) fetchAs(ctx context.Context, spec string, environ []string) (err error) {
	repo, err := githistory.Open(ctx, j.req.Dir, githistory.Options{Environ: environ})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	return repo.Fetch(ctx, origin, spec, j.plan.Guarded)
}
